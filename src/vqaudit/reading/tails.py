"""Reads what stands after a cue: an ID, an option text, several of them, or nothing.

Knows the labels and texts of one trial. Knows no other part of the reply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vqaudit.reading.cues import peel
from vqaudit.reading.labels import WORD_CHARACTERS, Label, Labels
from vqaudit.reading.phrases import names_none, refuses
from vqaudit.reading.reading import Reading
from vqaudit.reading.sentences import affirmed, denied_after, denies_one, first_sentence
from vqaudit.reading.texts import Mention, OptionTexts

__all__ = ["Options", "chosen", "several"]

_DELIMITED = re.compile(r"\s*(?:$|[.,;:!)\]\"'\n|\x03]|-(?=\s|$)|\()")
_EAST_ASIAN = re.compile(r"[\u3000-\u9FFF\uAC00-\uD7AF]")
_ASKED = re.compile(r"\s?(?:\?|吗|嗎|(?:です)?か|인가|일까)")
_AFTER_NUMBER = re.compile(r"[でだは입이인號号番번因是项項选選]")
_CONNECTIVE = re.compile(
    r"\s+(?:because|since|as|for|which|that|due|based|given|where|while|and|but|so|with|from|according|if|when|"
    r"although|though|by|instead|rather|over|not|representing|showing|indicating|meaning|only|again|here|it|there|"
    r"weil|da|denn|porque|ya|parce|car|perché|pois|потому|так)(?![A-Za-z])"
)
_PREDICATE = re.compile(r"\s+(?:is|was|has|shows|fits|matches)\b")
_NEW_SENTENCE = re.compile(
    r"\s+(?:The|This|It|Its|Because|Since|As|Based|Explanation|Reason(?:ing)?|There|These|In|From|We)\b"
)
_CAPITAL = re.compile(r"\s+[A-Z]")
_JOINED = re.compile(
    r"[\s\"')\]]*(?:[,;/&+、]|(?<=\s)(?:and|or|und|oder|y|o|et|ou|e|и|или)(?=\s)|[及和或与與とや]|와|과|또는)"
    r"\s*(?:(?:and|or|also|und|y|et)\s+)?(?:(?:options?|choices?|maybe|perhaps|possibly)\s+)?",
    re.IGNORECASE,
)
_DELIMITER = re.compile(r"^[\s\"')\]\x03]*(?:[.,;:|)\]]+|-+(?=\s))?\s*")
_CLAUSE_END = re.compile(r"\s*(?:$|[.,;:!)\]\"'\n\x03])")
_NEGATED_TAIL = re.compile(r"\s*(?:not|neither|nor|none|no)\b|\s*(?:不是|非)", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"[\s\"'*]*[$\[<({]*\s*(?:(?:the |your |correct |option |answer )*"
    r"(?:letter|option id|label|choice|answer|number|x{2,}|\.\.\.|_+))"
    r"\s*[\])>}$]+|[\s\"']*\$(?:letter|number|answer)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"(?:[\s,;/&.()\[\]\"'|+-]|\b(?:and|or|both|either|options?|choices?|also)\b)*", re.IGNORECASE)
_LABEL_LIKE = re.compile(
    r"[\s\"'(\[<$]*([A-Za-z]|\d{1,2}|[IVXivx]{1,6})(?:[\s\"')\]>$.,:;!]*$|[\"')\]]*[.):](?=\s)|\)(?=\S))"
)
_LIST_LEAD = re.compile(r"\s*(?:both|either|between|one of|any of|among)\s+", re.IGNORECASE)


def chosen(option_id: str, reason: str) -> Reading:
    """Gives the reading of one option."""
    return Reading(outcome="chosen", option_id=option_id, reason=reason)


def several(ids: tuple[str, ...] | list[str]) -> Reading:
    """Gives the reading of a reply that names more than one option."""
    return Reading(outcome="ambiguous", reason=f"several answers: {', '.join(dict.fromkeys(ids))}")


def _named(ids: tuple[str, ...] | list[str], reason: str) -> Reading | None:
    distinct = list(dict.fromkeys(ids))
    if not distinct:
        return None
    return chosen(distinct[0], reason) if len(distinct) == 1 else several(distinct)


@dataclass(frozen=True, slots=True)
class Options:
    """The labels and texts of one trial, and how a piece of text is read against them."""

    labels: Labels
    texts: OptionTexts

    def read_piece(self, piece: str, *, formatted: bool) -> tuple[Reading | None, bool]:
        """Reads what stands after a cue.

        Args:
            piece: The words after the cue.
            formatted: A marked answer: a label needs less around it to be one than in a sentence.

        Returns:
            The reading, None where the words say nothing; and whether it is plain enough to stand against others.
        """
        if not piece.strip() or _PLACEHOLDER.match(piece):
            return None, False
        body = piece[peel(piece) :] or piece
        for text in (piece, body):
            if reading := self.read_whole(text):
                return reading, True
        if _NEGATED_TAIL.match(piece):
            return self._denying(first_sentence(piece)), True
        if (
            reading := self.only_labels(body)
            or self._listed_after(body)
            or self.label_first(body, formatted=formatted)
            or self._text_first(body)
        ):
            return reading, True
        if reading := self._undecided(body):
            return reading, True
        return self._inside(first_sentence(body)), False

    def read_whole(self, text: str) -> Reading | None:
        """Reads a text that is nothing but an ID, an option text, or an ID with its own text."""
        if option_id := self.labels.whole(text):
            return chosen(option_id, "label")
        if reading := _named(self.texts.whole(text), "option text"):
            return reading
        label = self.labels.head(text)
        if (
            label
            and (label.closed or _DELIMITED.match(text, label.end))
            and self.is_own(label, self.rests(text, label)[0])
        ):
            return chosen(label.option_id, "label and text")
        return None

    def rests(self, text: str, label: Label) -> tuple[str, str]:
        """Gives what stands after an ID: behind the delimiter, and behind an opening bracket or quote besides."""
        rest = _DELIMITER.sub("", text[label.end :], count=1)
        return rest, rest.lstrip("([\"' ")

    def is_own(self, label: Label, rest: str) -> bool:
        """True for the text that stands behind an ID, which may itself look like another ID."""
        return label.option_id in self.texts.whole(rest)

    def label_first(self, text: str, *, formatted: bool) -> Reading | None:
        """Reads a text that begins with an ID."""
        label = self.labels.head(text)
        if label is None:
            return None
        longer = self.texts.at_start(text)
        if longer and longer.start <= label.start and longer.end > label.end:
            return None
        if denied_after(text, label.end):
            return None
        others = self.joined(text, label)
        if others is None:
            return None
        if others:
            return several([label.option_id, *others])
        if not self.stands_alone(text, label, formatted=formatted):
            return None
        return self.contradiction(text, label) or chosen(label.option_id, "label")

    def stands_alone(self, text: str, label: Label, *, formatted: bool) -> bool:
        """True where what follows an ID shows that it is one, and no article, pronoun or quantity."""
        if label.closed or _DELIMITED.match(text, label.end):
            return True
        if _ASKED.match(text, label.end):
            return False
        if _EAST_ASIAN.match(text, label.end):
            return not self.labels.numeric or _AFTER_NUMBER.match(text, label.end) is not None
        own = self.texts.own(label.option_id)
        begins = self.texts.at_start(text[label.end :])
        if own and begins and label.option_id in begins.ids:
            return True
        if not label.exact:
            return False
        if _CONNECTIVE.match(text, label.end) or _NEW_SENTENCE.match(text, label.end):
            return True
        if not formatted:
            return False
        capital = not self.labels.is_word(label.option_id) and _CAPITAL.match(text, label.end)
        if capital and self.labels.head(text, label.end):
            return False
        return bool(capital or _PREDICATE.match(text, label.end))

    def joined(self, text: str, label: Label) -> list[str] | None:
        """Gives the IDs that stand in one list with the first (`A, C, and D`); None where all of them are denied."""
        found: list[Label] = []
        place = label.end
        while (joint := _JOINED.match(text, place)) and (other := self.labels.head(text, joint.end())):
            found.append(other)
            place = other.end
        if found and denied_after(text, place):
            if not denies_one(text, place):
                return None
            found.pop()
        elif found and self._may_be_a_word(found[-1]) and not self.stands_alone(text, found[-1], formatted=False):
            found.pop()
        return [other.option_id for other in found if other.option_id != label.option_id]

    def _may_be_a_word(self, label: Label) -> bool:
        return not label.exact or self.labels.numeric or self.labels.is_word(label.option_id)

    def only_labels(self, text: str) -> Reading | None:
        """Reads `A, C and D`: IDs and nothing else."""
        place, ids = 0, []
        for label in self.labels.tokens(text):
            if not _BETWEEN.fullmatch(text, place, label.start):
                return None
            ids.append(label.option_id)
            place = label.end
        return _named(ids, "label, repeated") if ids and _BETWEEN.fullmatch(text, place) else None

    def contradiction(self, text: str, label: Label) -> Reading | None:
        """Reads `B. red` where `red` stands behind another ID: neither is believed."""
        line = text.partition("\n")[0] if label.end <= text.find("\n") else text
        outer, inner = self.rests(line, label)
        if any(self.is_own(label, rest) or self.labels.whole(rest) == label.option_id for rest in (outer, inner)):
            return None
        mention = self.texts.at_start(outer) or self.texts.at_start(inner)
        rest = outer if self.texts.at_start(outer) else inner
        if mention and label.option_id in mention.ids:
            return None
        if mention and _CLAUSE_END.match(rest, mention.end):
            return self._clash(label.option_id, mention.ids[0])
        other = self.labels.head(outer) if outer[:1] in {"(", "["} else None
        if other and other.option_id != label.option_id and _CLAUSE_END.match(outer, other.end):
            return self._clash(label.option_id, other.option_id)
        return None

    def affirmed_texts(self, text: str) -> list[Mention]:
        """Finds the option texts that a text names and does not deny; words of every prose aside."""
        mentions = [mention for mention in self.texts.mentions(text) if self.texts.names(text, mention)]
        kept = affirmed(text, [(mention.start, mention.end) for mention in mentions])
        return [mentions[index] for index in kept]

    def affirmed_labels(self, text: str) -> list[Label]:
        """Finds the IDs that a text names and does not deny; articles, pronouns and quantities aside."""
        tokens = list(self.labels.tokens(text))
        sure = [self._unmistakable(text, label) for label in tokens]
        for place in range(len(tokens) - 1, 0, -1):
            if sure[place] and _JOINED.fullmatch(text, tokens[place - 1].end, tokens[place].start):
                sure[place - 1] = True
        asked = [place for place, is_sure in enumerate(sure) if is_sure]
        return [tokens[index] for index in affirmed(text, [(label.start, label.end) for label in tokens], asked)]

    def _unmistakable(self, text: str, label: Label) -> bool:
        if label.enclosed:
            return True
        return not self.labels.numeric and _CLAUSE_END.match(text, label.end) is not None

    def _listed_after(self, body: str) -> Reading | None:
        lead = _LIST_LEAD.match(body)
        label = self.labels.head(body, lead.end()) if lead else None
        if label is None:
            return None
        others = self.joined(body, label) or []
        return several([label.option_id, *others]) if others else None

    def _text_first(self, body: str) -> Reading | None:
        mention = self.texts.at_start(body)
        if mention is None or denied_after(body, mention.end):
            return None
        if not self.texts.names(body, mention) and not _CLAUSE_END.match(body, mention.end):
            return None
        sentence = first_sentence(body)
        named = [option_id for other in self.affirmed_texts(sentence) for option_id in other.ids]
        labelled = [label.option_id for label in self.affirmed_labels(sentence) if label.enclosed]
        return _named([*mention.ids, *named, *labelled], "option text")

    def _denying(self, sentence: str) -> Reading | None:
        """Reads `not A but B` and `neither A nor B`."""
        labels = [label.option_id for label in self.affirmed_labels(sentence)]
        texts = [option_id for mention in self.affirmed_texts(sentence) for option_id in mention.ids]
        return _named([*labels, *texts], "what is not denied") or self._undecided(sentence)

    def _undecided(self, body: str) -> Reading | None:
        sentence = first_sentence(body)
        if refuses(sentence):
            named = [i for mention in self.texts.mentions(sentence) for i in mention.ids if refuses(self.texts.own(i))]
            return _named(named, "option text") or Reading(outcome="refused", reason="the answer is declined")
        if names_none(sentence):
            return Reading(outcome="unreadable", reason="none of the options")
        return self.not_shown(body)

    def not_shown(self, text: str) -> Reading | None:
        """Reads what begins with a label of this kind that is not among the shown: `E`, `E. red`."""
        found = _LABEL_LIKE.match(text)
        if found is None or self.labels.head(text) or self.labels.numeric != found[1].isdecimal():
            return None
        return Reading(outcome="unreadable", reason=f"label not shown: {found[1]}")

    def _inside(self, sentence: str) -> Reading | None:
        """Reads an answer that stands further inside the words after a cue."""
        labels = [label.option_id for label in self.affirmed_labels(sentence)]
        texts = [option_id for mention in self.affirmed_texts(sentence) for option_id in mention.ids]
        rivals = [option_id for option_id in self._tokens_in(sentence) if labels]
        if reading := _named([*labels, *texts, *rivals], "named after the cue"):
            return reading
        if len(sentence.split()) > 6 or not re.search(rf"[{WORD_CHARACTERS}]", sentence):
            return None
        return Reading(outcome="unreadable", reason=f"names no option: {sentence.strip()[:40]!r}")

    def _tokens_in(self, text: str) -> list[str]:
        """Finds the IDs that a text names at all and does not deny; articles and quantities aside."""
        tokens = [
            label
            for label in self.labels.tokens(text)
            if label.enclosed or not (self.labels.numeric or self.labels.is_word(label.option_id))
        ]
        return [tokens[index].option_id for index in affirmed(text, [(t.start, t.end) for t in tokens])]

    @staticmethod
    def _clash(first: str, second: str) -> Reading:
        return Reading(outcome="ambiguous", reason=f"label {first} with the text of {second}")
