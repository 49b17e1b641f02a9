"""Recognises the option texts in a text, whole: `4` is not in `14`, `nan` is not in `banana`.

Knows option texts. Where one text holds another, the longest that stands at a place is the one that is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vqaudit.reading.labels import WORD_CHARACTERS
from vqaudit.reading.normalise import fold, plain

__all__ = ["Mention", "OptionTexts"]

_ARTICLE = re.compile(r"(?:an?|the)\s+(?=\S)", re.IGNORECASE)
_LEAD = re.compile(r"(?:[\s\"'(\[{:\x02]|-(?=\s))*")
_DIGIT_LETTER = re.compile(r"(?<=\d) ?(?=[a-zµ°%])|(?<=[a-z]) ?(?=\d)")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,:/]\d+)*")
_BEFORE_WORD = re.compile(rf"[{WORD_CHARACTERS}][-']?$")
_BEFORE_NUMBER = re.compile(r"[\d.][.,:/^]$|[-$€£^.]$")
_AFTER_WORD = re.compile(rf"[-']?[{WORD_CHARACTERS}]")
_AFTER_NUMBER = re.compile(r"[.,:/]\d|\s?[%°^]|\s?[x×*/]\s?\d")
_PER = re.compile(r"/[a-z]")  # 5 m is not in 5 m/s
_FUNCTION_WORDS = frozenset(
    {"yes", "no", "none", "not", "all", "both", "either", "neither", "other", "others", "one", "maybe"}
    | {"it", "its", "this", "that", "these", "those", "here", "there", "is", "are", "was"}
    | {"option", "options", "answer"}
)
_PREDICATES = frozenset({"true", "false", "wrong", "correct", "incorrect", "same", "different", "unknown"})
_SIDES = frozenset({"left", "right"})
_BEFORE_SIDE = re.compile(
    r"\b(?:the|to|on|at|its|their|his|her|turn\w*|fac\w*|point\w*|go\w*|mov\w*|look\w*|far|upper|lower|top|bottom) $"
)
_AFTER_SIDE = re.compile(r" (?:answer|option|choice|one|solution|label|letter)\b")
_CLAUSE_END = re.compile(r"\s*(?:$|[.,;:!)\]\"'])")


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where option texts are named."""

    start: int
    end: int
    ids: tuple[str, ...]
    """More than one only where several options bear the same text."""


@dataclass(frozen=True, slots=True)
class OptionTexts:
    """The option texts of one trial, ready to be found."""

    _ids: tuple[str, ...]
    _plain: tuple[str, ...]
    _by_fold: dict[str, tuple[int, ...]]
    _by_core: dict[str, tuple[int, ...]]
    _spellings: dict[str, str]
    """Lower-cased core in every spacing it may have -> its folded core."""

    @classmethod
    def of(cls, option_ids: Sequence[str], options: Sequence[str]) -> OptionTexts:
        """Gives the texts that stand behind the IDs.

        Raises:
            ValueError: The IDs and the options differ in number.

        Example:
            >>> texts = OptionTexts.of(["A", "B"], ["red", "dark red"])
            >>> [mention.ids for mention in texts.mentions("A dark red car, not a redder one")]
            [('B',)]
        """
        return _prepare(tuple(option_ids), tuple(options))

    def whole(self, text: str) -> tuple[str, ...]:
        """Gives the IDs of the options whose text this is."""
        key = fold(text)
        return self._resolve(self._by_fold.get(key) or self._by_core.get(fold(_core(text)), ()), text)

    def own(self, option_id: str) -> str:
        """Gives the plain text behind an ID."""
        return self._plain[self._ids.index(option_id)]

    def at_start(self, text: str) -> Mention | None:
        """Gives the longest option text that a text begins with, an article aside."""
        lead = _LEAD.match(text)
        start = lead.end() if lead else 0
        article = _ARTICLE.match(text, start)
        searched = _searchable(text)
        for place in (start, article.end()) if article else (start,):
            ends = [
                (place + len(spelling), core)
                for spelling, core in self._spellings.items()
                if searched.startswith(spelling, place) and _stands_alone(searched, place, place + len(spelling))
            ]
            if ends:
                return self._mention(text, place, *max(ends))
        return None

    def mentions(self, text: str) -> list[Mention]:
        """Finds every option text that is named in a text; a text inside a longer one is not named."""
        found: list[Mention] = []
        for start, negative_end, core in sorted(self._occurrences(_searchable(text))):
            if not found or -negative_end > found[-1].end:
                found.append(self._mention(text, start, -negative_end, core))
        return found

    def names(self, text: str, mention: Mention) -> bool:
        """True where prose names an option and does not merely use its words: `No`, `both`, `the right answer`."""
        searched = _searchable(text)
        word = fold(searched[mention.start : mention.end])
        if word in _SIDES:
            before = _BEFORE_SIDE.search(searched[max(0, mention.start - 20) : mention.start])
            return before is not None and _AFTER_SIDE.match(searched, mention.end) is None
        if word in _PREDICATES:
            return _CLAUSE_END.match(searched, mention.end) is not None
        letter = len(word) <= 1 and not word.isdecimal()
        return word not in _FUNCTION_WORDS and not letter and any(map(str.isalnum, word))

    def is_number(self, option_id: str) -> bool:
        """True for a text that is nothing but a number."""
        return _NUMBER.fullmatch(fold(self.own(option_id))) is not None

    def _occurrences(self, searched: str) -> Iterator[tuple[int, int, str]]:
        for spelling, core in self._spellings.items():
            start = searched.find(spelling)
            while start >= 0:
                if _stands_alone(searched, start, start + len(spelling)):
                    yield start, -(start + len(spelling)), core
                start = searched.find(spelling, start + 1)

    def _mention(self, text: str, start: int, end: int, core: str) -> Mention:
        return Mention(start, end, self._resolve(self._by_core[core], text[start:end]))

    def _resolve(self, places: tuple[int, ...], text: str) -> tuple[str, ...]:
        """Among options that differ in case or quotes alone (BB, Bb), the one written is meant."""
        if len(places) > 1:
            core = _core(text)
            same = tuple(place for place in places if _core(self._plain[place]) == core)
            places = same if len(same) == 1 else places
        return tuple(self._ids[place] for place in places)


def _core(text: str) -> str:
    """Gives a text without its leading article and closing dot."""
    text = text.strip()
    article = _ARTICLE.match(text)
    return (text[article.end() :] if article else text).rstrip(".,;: ")


def _searchable(text: str) -> str:
    """Lower-cases a text and makes line breaks blanks, every character at its place."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(character.lower()[:1] for character in text)
    return lower.replace("\n", " ")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """True where no letter, digit, decimal point or unit makes what was found a part of something else."""
    first, last, before = text[start], text[end - 1], text[max(0, start - 2) : start]
    if first.isalnum() and _BEFORE_WORD.search(before):
        return False
    if first.isdecimal() and _BEFORE_NUMBER.search(before):
        return False
    if last.isalnum() and _AFTER_WORD.match(text, end):
        return False
    if first.isdecimal() and _PER.match(text, end):
        return False
    return not (last.isdecimal() and _AFTER_NUMBER.match(text, end))


@lru_cache(maxsize=512)
def _prepare(option_ids: tuple[str, ...], options: tuple[str, ...]) -> OptionTexts:
    if len(option_ids) != len(options):
        raise ValueError(f"{len(option_ids)} option IDs for {len(options)} options")
    texts = tuple(plain(option) for option in options)
    by_fold: dict[str, tuple[int, ...]] = {}
    by_core: dict[str, tuple[int, ...]] = {}
    spellings: dict[str, str] = {}
    for place, text in enumerate(texts):
        core = _core(text)
        for table, key in ((by_fold, fold(text)), (by_core, fold(core))):
            if key:
                table[key] = (*table.get(key, ()), place)
        if fold(core):
            spellings |= dict.fromkeys(_spacings(core), fold(core))
    return OptionTexts(option_ids, texts, by_fold, by_core, spellings)


def _spacings(core: str) -> set[str]:
    """Gives the spacings in which a text may be written: `10 MPa`, `10MPa`."""
    lower = _searchable(" ".join(core.split()))
    return {lower, _DIGIT_LETTER.sub("", lower), _DIGIT_LETTER.sub(" ", lower)}
