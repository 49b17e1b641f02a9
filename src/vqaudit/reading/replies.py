"""Reads which option a reply stands for. Never guesses: what cannot be read has no option.

Knows the reply, the shown IDs and the options at the places of their IDs, all plain strings. Knows neither the
question nor the right answer. The rules stand in the order in which they are asked; the first that speaks decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from vqaudit.reading.context import PROSE_LIMIT, Reply, after_label_word, windowed
from vqaudit.reading.cues import peel
from vqaudit.reading.labels import Label, Labels
from vqaudit.reading.lines import label_lines, listed_in
from vqaudit.reading.normalise import plain, split_thoughts
from vqaudit.reading.objects import answer_values, find_object, only_value
from vqaudit.reading.phrases import corrects_itself, is_failure, refuses
from vqaudit.reading.reading import Reading
from vqaudit.reading.sentences import affirmed, questions_removed
from vqaudit.reading.statements import conclusions, corrected, judged_right, may_go_on, statements
from vqaudit.reading.tails import Options, chosen, several
from vqaudit.reading.texts import OptionTexts

__all__ = ["READER_VERSION", "read_exact", "read_reply"]

READER_VERSION = "2"
"""Stored with every reading; goes up whenever a rule changes what a reply is read as."""

_CUT = frozenset({"length", "max_tokens", "max_length", "max_output_tokens", "model_length"})
_WITHHELD = frozenset({"content_filter", "safety", "refusal", "prohibited_content"})
_SHORT = 600
"""Beyond this length an option that is named without a conclusion may be one of several under discussion."""
_NEW_TURN = re.compile(
    r"^\s*(?:question|q|human|user|instruction|context|image|example|### ?\w+)\s*\d*\s*[:.]",
    re.IGNORECASE | re.MULTILINE,
)
_COPULA_LAST = re.compile(r"\s?(?:です|でした|である|だ|입니다|이다|예요|이에요|号|號|番|번)[\s.!]*$")
_OWN_CLAUSE = re.compile(r"\s*(?:$|[.,;:!\n]|-\s)")
_LABEL_NOUN = re.compile(
    r"(?:options?|choice|letter|answer|label|选项|選項|опци\w+|вариант\w*)\s*[\"'(\[]?$", re.IGNORECASE
)
_SUBJECT = re.compile(r"\s+(?:is|shows|because|since)\b")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def read_reply(
    reply: str | None,
    *,
    option_ids: Sequence[str],
    options: Sequence[str],
    finish_reason: str | None = None,
    reasoning: str | None = None,
) -> Reading:
    """Reads a free reply for one answer.

    Args:
        reply: What the model wrote; None where it wrote nothing.
        option_ids: The shown IDs, of any kind, by position.
        options: The option texts at the positions of their IDs.
        finish_reason: Why the engine stopped (`stop`, `length`, ...), where it said so.
        reasoning: The thinking, where the engine hands it over apart from the reply; it is never read for an answer.

    Raises:
        ValueError: IDs that repeat or are blank, or options that are not as many as the IDs.

    Example:
        >>> shown = {"option_ids": ["A", "B", "C"], "options": ["a red car", "a blue van", "a bus"]}
        >>> read_reply("It is large, so the answer is **C**.", **shown).option_id
        'C'
        >>> read_reply("A blue van.", **shown).option_id
        'B'
        >>> read_reply("A or B", **shown).outcome
        'ambiguous'
    """
    choice = Options(Labels.of(option_ids), OptionTexts.of(option_ids, options))
    reason = (finish_reason or "").lower()
    if reason == "error":
        return Reading(outcome="failed", reason="the engine stopped with an error")
    answer, unfinished = split_thoughts(reply or "")
    text = "" if unfinished else plain(windowed(answer))
    if not text:
        return _nothing_written(reason, unfinished=unfinished, reasoning=reasoning)
    return _decide(Reply(raw=answer.strip(), text=text, options=choice, cut=reason in _CUT), _RULES)


def read_exact(reply: str | None, *, option_ids: Sequence[str], finish_reason: str | None = None) -> Reading:
    r"""Reads paper 1's exact event: outer white space stripped, nothing else, then the reply equals an ID or not.

    Args:
        reply: What the model wrote.
        option_ids: The shown IDs.
        finish_reason: Only `error` matters: a reply that the budget cut is what the event scores.

    Example:
        >>> read_exact(" B\n", option_ids=["A", "B"]).option_id
        'B'
        >>> read_exact("B.", option_ids=["A", "B"]).outcome
        'unreadable'
    """
    if (finish_reason or "").lower() == "error":
        return Reading(outcome="failed", reason="the engine stopped with an error")
    text = (reply or "").strip()
    if not text:
        return Reading(outcome="empty", reason="nothing written")
    return chosen(text, "exact") if text in option_ids else Reading(outcome="unreadable", reason="out of scheme")


def _nothing_written(reason: str, *, unfinished: bool, reasoning: str | None) -> Reading:
    if unfinished:
        return Reading(outcome="truncated", reason="thinking never ended")
    if reason in _CUT:
        return Reading(outcome="truncated", reason="cut while thinking" if reasoning else "cut before any word")
    if reason in _WITHHELD:
        return Reading(outcome="refused", reason=f"withheld: {reason}")
    return Reading(outcome="empty", reason="nothing written")


def _decide(reply: Reply, rules: Sequence[Callable[[Reply], Reading | None]]) -> Reading:
    for rule in rules:
        if reading := rule(reply):
            return reading
    return Reading(outcome="unreadable", reason="no rule reads it")


def _whole_reply(reply: Reply) -> Reading | None:
    """`B`, `(b).`, `Option B`, or the text of one option."""
    text = _COPULA_LAST.sub("", reply.text)
    for start in dict.fromkeys((0, after_label_word(text), peel(text))):
        reading = reply.options.read_whole(text[start:])
        if reading is None:
            continue
        if start and may_go_on(reply, reading):
            return Reading(outcome="truncated", reason=f"cut behind {reading.option_id}")
        return replace(reading, reason=f"whole reply: {reading.reason}") if reading.option_id else reading
    return None


def _request_failure(reply: Reply) -> Reading | None:
    """What an engine, a proxy or a network wrote in the place of a model."""
    if not is_failure(reply.raw):
        return None
    return Reading(outcome="failed", reason=f"request failed: {' '.join(reply.raw[:200].split())[:60]}")


def _answer_field(reply: Reply) -> Reading | None:
    """An object with an answer field; no other string of it is read. What stands after the object may overrule it."""
    found = find_object(reply.raw)
    if found is None:
        return None
    values = answer_values(found.fields)
    outside = reply.part(reply.raw[: found.start] + "\n" + reply.raw[found.end :])
    if not values:
        return _decide(outside, _RULES_WITHOUT_OBJECTS) if outside.text else _no_field()
    later = _stated(reply.part(reply.raw[found.end :]))
    if later and later.option_id:
        return later
    readings = [_field_value(reply, value) for value in values]
    ids = list(dict.fromkeys(reading.option_id for reading in readings if reading.option_id))
    if len(ids) > 1:
        return several(ids)
    return chosen(ids[0], "answer field") if ids else readings[0]


def _only_labels(reply: Reply) -> Reading | None:
    """`A, C and D`: IDs and nothing else."""
    return reply.options.only_labels(reply.text)


def _before_new_turn(reply: Reply) -> Reading | None:
    """An answer, then a next question that the model made up."""
    turn = _NEW_TURN.search(reply.text, 1)
    if turn is None or turn.start() > 400 or not (head := reply.text[: turn.start()].strip()):
        return None
    reading = _decide(replace(reply, text=head, raw=head, cut=False), (_whole_reply, _stated, _label_line))
    return reading if reading.option_id else None


def _stated(reply: Reply) -> Reading | None:
    """The last explicit answer: `Answer: B`, `the answer is B`, a box. Several on one line are none."""
    firm = [statement for statement in statements(reply) if statement.firm]
    if not firm:
        return None
    last = firm[-1]
    for other in firm[:-1]:
        ids = [other.reading.option_id, last.reading.option_id]
        between = reply.text[other.told : last.start]
        same_place = "\n" not in between and len(between) < 200 and not corrects_itself(between)
        if same_place and None not in ids and ids[0] != ids[1]:
            return several([option_id for option_id in ids if option_id])
    if taken_back := corrected(reply, last.reading, last.told):
        return taken_back
    if not reply.text[last.end :].strip() and may_go_on(reply, last.reading):
        return Reading(outcome="truncated", reason=f"cut behind {last.reading.option_id}")
    return (
        replace(last.reading, reason=f"explicit answer: {last.reading.reason}")
        if last.reading.option_id
        else last.reading
    )


def _label_line(reply: Reply) -> Reading | None:
    """A first or last line that is an ID, alone or with its text: `B. a blue van`. A list of all options is none."""
    found = label_lines(reply)
    line, _, rest = reply.text.partition("\n")
    if not found:
        return None if rest.strip() else reply.options.not_shown(line)
    if len({reading.option_id for reading in found}) > 1:
        return several([reading.option_id for reading in found if reading.option_id])
    taken_back = None if reply.cut or not found[0].option_id else corrected(reply, found[0], len(line) if rest else 1)
    return taken_back or found[0]


def _cut_short(reply: Reply) -> Reading | None:
    """Stopped by the engine before an explicit answer: letters in unfinished prose are no answer."""
    return Reading(outcome="truncated", reason="cut before an explicit answer") if reply.cut else None


def _concluded(reply: Reply) -> Reading | None:
    """Prose that closes in on one: `which leaves D`, `it must be D`, `D is correct`."""
    found = sorted(conclusions(reply))
    ids = list(dict.fromkeys(option_id for _, option_id in found))
    if not ids:
        return None
    if len(ids) == 1:
        return chosen(ids[0], "conclusion")
    (start, _), (end, last) = found[-2], found[-1]
    return chosen(last, "conclusion, corrected") if corrects_itself(reply.text[start:end]) else several(ids)


def _refusal(reply: Reply) -> Reading | None:
    """Declined, unless what it says is itself one of the options."""
    ends = reply.text if len(reply.text) <= 600 else reply.text[:250] + "\n" + reply.text[-250:]
    if not refuses(ends):
        return None
    named = {
        option_id
        for sentence in re.split(r"(?<=[.!?])\s|\n", ends)
        if refuses(sentence)
        for mention in reply.texts.mentions(sentence)
        for option_id in mention.ids
        if refuses(reply.texts.own(option_id))
    }
    return chosen(named.pop(), "option text") if len(named) == 1 else Reading(outcome="refused", reason="declined")


def _hinted(reply: Reply) -> Reading | None:
    """Hedged answers, where they are all that there is and all say the same."""
    readings = [statement.reading for statement in statements(reply) if not statement.firm]
    called = [label.option_id for label in judged_right(reply, hedged=True)]
    ids = [*called, *(reading.option_id for reading in readings if reading.option_id)]
    if not ids:
        return readings[-1] if readings else None
    end = reply.text[-PROSE_LIMIT:]
    labels = [label.option_id for label in reply.options.affirmed_labels(end)]
    texts = [option_id for mention in reply.options.affirmed_texts(end) for option_id in mention.ids]
    named = dict.fromkeys([*ids, *labels, *texts])
    return several(list(named)) if len(named) > 1 else chosen(ids[0], "hedged answer")


def _named_in_passing(reply: Reply) -> Reading | None:
    """The only option that a short reply names, by text or by an unmistakable ID."""
    if len(reply.text) > _SHORT:
        return None
    text = questions_removed(reply.text)
    labels = [label.option_id for label in _unmistakable_labels(reply, text)]
    mentions = [option_id for mention in reply.options.affirmed_texts(text) for option_id in mention.ids]
    ids = list(dict.fromkeys([*_opening_text(reply), *mentions, *labels]))
    if len(ids) > 1:
        return several(ids)
    if ids and not labels and reply.texts.is_number(ids[0]) and len(set(_FIGURE.findall(text))) > 1:
        return Reading(outcome="ambiguous", reason="several numbers")
    return chosen(ids[0], "named in the text") if ids else None


def _why_not(reply: Reply) -> Reading | None:
    """Says what stood in the way."""
    listed = {option_id: None for line in reply.text.split("\n") for option_id in listed_in(reply, line)}
    if len(listed) < 2 and len(reply.text) <= PROSE_LIMIT:
        listed = dict.fromkeys(label.option_id for label in reply.options.affirmed_labels(reply.text))
    if len(listed) > 1:
        return several(list(listed))
    return reply.options.not_shown(reply.text[after_label_word(reply.text) :])


_RULES_WITHOUT_OBJECTS: tuple[Callable[[Reply], Reading | None], ...] = (
    _only_labels,
    _before_new_turn,
    _stated,
    _label_line,
    _cut_short,
    _concluded,
    _refusal,
    _hinted,
    _named_in_passing,
    _why_not,
)
_RULES = (_whole_reply, _request_failure, _answer_field, *_RULES_WITHOUT_OBJECTS)
_FIELD_RULES = (_whole_reply, _only_labels, _stated, _label_line, _refusal, _named_in_passing, _why_not)


def _field_value(reply: Reply, value: object) -> Reading:
    """Reads the value of an answer field."""
    value = only_value(value)
    if isinstance(value, list):
        return Reading(outcome="ambiguous", reason="several answers in the answer field")
    text = plain(windowed(str(value))) if isinstance(value, str | int | float) else ""
    if not text:
        return Reading(outcome="unreadable", reason="an empty answer field")
    return _decide(replace(reply, text=text, raw=text, cut=False), _FIELD_RULES)


def _no_field() -> Reading:
    return Reading(outcome="unreadable", reason="an object without an answer field")


def _opening_text(reply: Reply) -> tuple[str, ...]:
    """Gives the option whose text opens the reply as a clause of its own, as in `No, there is none`."""
    mention = reply.texts.at_start(reply.text)
    return mention.ids if mention and _OWN_CLAUSE.match(reply.text, mention.end) else ()


def _unmistakable_labels(reply: Reply, text: str) -> list[Label]:
    """Finds IDs in prose that can be nothing else: in brackets, behind the word `option`, or the only one, in front."""
    tokens = list(reply.labels.tokens(text))
    bracketed = not reply.labels.numeric and len(text) <= _SHORT // 2
    sure = [
        index
        for index, label in enumerate(tokens)
        if (bracketed and label.enclosed) or _LABEL_NOUN.search(text[max(0, label.start - 16) : label.start])
    ]
    if len(tokens) == 1 and tokens[0].start == 0 and _SUBJECT.match(text, tokens[0].end):
        sure = [0]
    return [tokens[index] for index in affirmed(text, [(label.start, label.end) for label in tokens], sure)]
