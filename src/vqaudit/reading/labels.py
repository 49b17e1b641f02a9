"""Recognises the shown IDs in a text, whole: `1` is not in `12`, `A` is not in `Answer`.

Knows the shown IDs as strings of any kind. Knows neither their options nor what a sentence means.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vqaudit.reading.normalise import CLOSE, OPEN, unify

__all__ = ["WORD_CHARACTERS", "Label", "Labels"]

WORD_CHARACTERS = r"A-Za-z0-9_\u00C0-\u024F\u0370-\u052F"
"""What an ID may not touch. Chinese, Japanese and Korean set no blanks, so their characters are not among them."""

_AFTER_LETTER = r"(?!'[A-Za-z])(?!-[A-Za-z0-9])(?!\.[A-Za-z]\.)(?!\s?[=+^²³°×#])"
_AFTER_NUMBER = r"(?![.,:/]\d)(?!\s?-\s?\d)(?!-[A-Za-z])(?!\s?[%°^=+×*/€£])"
_BEFORE_LETTER = r"(?<![A-Za-z0-9]-)(?<![A-Za-z]')(?<![=+])(?<![=+] )"
_BEFORE_NUMBER = r"(?<![.,:/$€£#^-])"
_ALSO_WORDS = frozenset("AEIOUYaeiouy")


@dataclass(frozen=True, slots=True)
class Label:
    """One occurrence of a shown ID."""

    option_id: str
    """As shown."""
    start: int
    end: int
    """Where its brackets and quotes end."""
    exact: bool
    """Written in the case in which it is shown."""
    enclosed: bool
    """Stands in brackets, quotes or a box."""
    closed: bool
    """A bracket or quote follows at once, as in `B)`."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The shown IDs of one trial, ready to be found."""

    ids: tuple[str, ...]
    numeric: bool
    """All IDs are numbers: a number in prose is then a quantity before it is an ID."""
    _shown: dict[str, str]
    _folded: dict[str, str]
    _whole: re.Pattern[str]
    _head: re.Pattern[str]
    _token: re.Pattern[str]

    @classmethod
    def of(cls, option_ids: Sequence[str]) -> Labels:
        """Gives the labels of an ID sequence, compiled once per sequence.

        Raises:
            ValueError: An ID is empty or stands there twice.
        """
        return _compile(tuple(option_ids))

    def shown(self, text: str) -> str | None:
        """Gives the shown ID that this bare text is, in its own case first."""
        return self._shown.get(text) or self._folded.get(text.lower())

    def whole(self, text: str) -> str | None:
        """Gives the ID that a text is, brackets, quotes, a closing dot and case aside.

        Example:
            >>> Labels.of(("A", "B")).whole(" (b). ")
            'B'
        """
        found = self._whole.fullmatch(text)
        return self.shown(found["id"]) if found else None

    def head(self, text: str, start: int = 0) -> Label | None:
        """Gives the ID that a text begins with."""
        found = self._head.match(text, start)
        return self._label(found) if found else None

    def tokens(self, text: str) -> Iterator[Label]:
        """Finds every whole ID written in its own case, articles and pronouns among them."""
        for found in self._token.finditer(text):
            if (label := self._label(found)) and label.exact:
                yield label

    def is_word(self, option_id: str) -> bool:
        """True for an ID that is a word of its own in prose: the article A, the pronoun I."""
        return option_id in _ALSO_WORDS

    def prefixes_another(self, option_id: str) -> bool:
        """True where a longer shown ID begins with this one (1 and 12, I and II)."""
        return any(other != option_id and other.startswith(option_id) for other in self.ids)

    def _label(self, found: re.Match[str]) -> Label | None:
        written = found["id"]
        option_id = self.shown(written)
        if option_id is None:
            return None
        lead, trail = found["lead"].strip(), found["trail"].strip()
        return Label(
            option_id=option_id,
            start=found.start("id"),
            end=found.end(),
            exact=written in self._shown,
            enclosed=bool(lead and trail),
            closed=bool(trail),
        )


@lru_cache(maxsize=512)
def _compile(option_ids: tuple[str, ...]) -> Labels:
    if len(set(option_ids)) != len(option_ids) or not all(option_id.strip() for option_id in option_ids):
        raise ValueError(f"option IDs must be distinct and not blank, got {option_ids!r}")
    keys = [unify(option_id).strip() for option_id in option_ids]
    keys = [key if count == 1 else raw for key, raw in zip(keys, option_ids, strict=True) if (count := keys.count(key))]
    lower = Counter(key.lower() for key in keys)
    shown = dict(zip(keys, option_ids, strict=True))
    numeric = bool(keys) and all(key.isdecimal() for key in keys)
    one_of = "|".join(_bounded(key, numeric) for key in sorted(keys, key=len, reverse=True)) or r"(?!)"
    # A number keeps its currency and comparison signs: "$2" and "<2" are no ID 2.
    opening, closing = (
        (rf"\"'(\[{{{OPEN}", rf"\"')\]}}{CLOSE}") if numeric else (rf"\"'(\[{{<${OPEN}", rf"\"')\]}}>${CLOSE}")
    )
    before = _BEFORE_NUMBER if numeric else _BEFORE_LETTER
    return Labels(
        ids=option_ids,
        numeric=numeric,
        _shown=shown,
        _folded={key.lower(): raw for key, raw in shown.items() if lower[key.lower()] == 1},
        _whole=re.compile(rf"[\s{opening}]*(?P<id>{one_of})[\s{closing}.,:;!-]*", re.IGNORECASE),
        _head=re.compile(rf"(?P<lead>[\s{opening}]*)(?P<id>{one_of})(?P<trail>[{closing}]*)", re.IGNORECASE),
        _token=re.compile(
            rf"{before}(?P<lead>[{opening}]?)(?<![{WORD_CHARACTERS}])(?P<id>{one_of})(?P<trail>[{closing}]?)",
            re.IGNORECASE,
        ),
    )


def _bounded(key: str, numeric: bool) -> str:
    after = _AFTER_NUMBER if numeric else _AFTER_LETTER
    return re.escape(key) + (rf"(?![{WORD_CHARACTERS}]){after}" if key[-1:].isalnum() else "")
