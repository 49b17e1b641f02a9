"""Which option is right: what an answer's value means, proved over the whole file or declared, never guessed.

Knows answers and option lists. Knows no column and no file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Literal

from vqaudit.errors import DatasetError
from vqaudit.items.cells import says_nan, shorten, text_of
from vqaudit.items.options import OptionList

__all__ = ["Answer", "AnswerKind", "answer_index", "prove_kind"]

AnswerKind = Literal["letter", "index0", "index1", "text", "label"]
"""`letter`: A is the first option; `index0`, `index1`: a number, the first option being 0 or 1; `text`: the right
option's text; `label`: a name from the row's own list of labels."""

_LETTER = re.compile(r"[(（\[]?\s*([A-Za-z])\s*[)）\]]?\s*[.:．：、]?")
_WHOLE = re.compile(r"([+-]?\d{1,9})(?:\.0+)?")
_COUNTS_FROM = "cannot tell whether answers count from 0 or from 1; say answers='index0' or 'index1'"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The answer cell of one row beside the row's options."""

    value: Any
    options: OptionList


def answer_index(answer: Answer, kind: AnswerKind) -> int:
    """Returns the index of the right option, from 0.

    Raises:
        DatasetError: No answer, several, or one that is not among the options.

    Example:
        >>> options = OptionList(texts=("c", "D", "b", "a"), raw=("c", "D", "b", "a"))
        >>> answer_index(Answer(value="D", options=options), "letter")
        3
        >>> answer_index(Answer(value="D", options=options), "text")
        1
    """
    text = _plain(answer)
    if text is None:
        raise DatasetError("the answer is missing (a test split?); an audit needs the right answers")
    if kind == "letter":
        return _by_letter(text, answer.options)
    if kind == "text":
        return _by_text(text, answer.options)
    if kind == "label":
        return _by_label(text, answer.options)
    return _by_number(text, answer.options, first=0 if kind == "index0" else 1)


def prove_kind(answers: Sequence[Answer]) -> AnswerKind:
    """Returns the only meaning that the answers of a whole file can have.

    Rows without an answer, and rows whose answer is no letter, number, label or option text, prove nothing. Of the
    others, the first of these that holds:

    * Rows have labels of their own, other than A, B, ..., and the answers are among them: `label`.
    * Every answer is a letter: `letter`, also where options are letters themselves; `text` where some letter is
      out of range and every answer is an option's text.
    * Every answer is a whole number, and not always an option's text: `index0` where a 0 occurs, `index1` where the
      number of options occurs.
    * Every answer is a whole number and an option's text: whichever meaning alone fits every row.
    * Every answer is an option's text: `text`.

    Raises:
        DatasetError: More than one meaning is possible, or the answers are of several kinds.

    Example:
        >>> options = OptionList(texts=("a cat", "a dog"), raw=("a cat", "a dog"))
        >>> prove_kind([Answer(value=n, options=options) for n in (1, 0, 1)])
        'index0'
    """
    proving = [answer for answer in answers if _forms(answer)]
    shared = set.intersection(*map(_forms, proving)) if proving else {"text"}
    if "label" in shared and not all(answer.options.natural_labels for answer in proving):
        return "label"
    if _labels_decide(proving):
        return "label"
    if "letter" in shared:
        texts_only = "text" in shared and not _fits(proving, "letter") and _fits(proving, "text")
        return "text" if texts_only else "letter"
    if "number" in shared:
        return _number_or_text(proving) if "text" in shared else _counting(proving)
    if "text" in shared:
        return "text"
    raise DatasetError(_several_kinds(proving))


def _forms(answer: Answer) -> set[str]:
    """Returns what the answer could be by its looks; nothing where it is missing or looks like none of them."""
    try:
        text = _plain(answer)
    except DatasetError:
        return set()
    if text is None:
        return set()
    tests = {
        "label": text in (answer.options.labels or ()),
        "letter": _LETTER.fullmatch(text) is not None,
        "number": _WHOLE.fullmatch(text) is not None,
        "text": text in answer.options.texts or text in answer.options.raw,
    }
    return {form for form, holds in tests.items() if holds}


def _labels_decide(answers: Sequence[Answer]) -> bool:
    """Returns whether the file gives labels to its rows, so that an answer that is none of them is a mistake."""
    given = [answer for answer in answers if answer.options.labels and answer.options.raw == answer.options.texts]
    named = [answer for answer in given if not answer.options.natural_labels and "label" in _forms(answer)]
    if named and len(given) < len(answers):
        raise DatasetError(
            f"only some rows have labels of their own ({shorten(list(named[0].options.labels or ()))}), so what an "
            "answer means cannot be told for all; say answers='letter', 'index0', ..."
        )
    return bool(named)


def _fits(answers: Sequence[Answer], kind: AnswerKind) -> bool:
    try:
        return all(answer_index(answer, kind) >= 0 for answer in answers)
    except DatasetError:
        return False


def _counting(answers: Sequence[Answer]) -> AnswerKind:
    numbers = [(_number(str(_plain(answer))), len(answer.options.texts)) for answer in answers]
    has_zero = any(number == 0 for number, _ in numbers)
    has_last = any(number == count for number, count in numbers)
    if has_zero == has_last:
        raise DatasetError(f"{_COUNTS_FROM}{' (both 0 and the number of options occur)' if has_zero else ''}")
    return "index0" if has_zero else "index1"


def _number_or_text(answers: Sequence[Answer]) -> AnswerKind:
    kinds: tuple[AnswerKind, ...] = ("index0", "index1", "text")
    fitting: list[AnswerKind] = [kind for kind in kinds if _fits(answers, kind)]
    if len(fitting) == 1:
        return fitting[0]
    raise DatasetError(
        "cannot tell whether answers are the options' texts or count from 0 or from 1, since the options are "
        "numbers too; say answers='text', 'index0' or 'index1'"
    )


def _several_kinds(answers: Sequence[Answer]) -> str:
    first = {form: shorten(answer.value) for answer in reversed(answers) for form in sorted(_forms(answer))}
    seen = ", ".join(f"{form} {value}" for form, value in sorted(first.items()))
    return f"the answers are of several kinds ({seen}); say which is meant with answers='letter', 'index0', ..."


def _plain(answer: Answer) -> str | None:
    """Returns the answer as text; a list with one answer is that answer."""
    value = answer.value
    while isinstance(value, (list, tuple)):
        if len(value) > 1:
            raise DatasetError(f"{len(value)} right answers {shorten(value)}; one is needed")
        value = value[0] if value else None
    text = text_of(value)
    return None if says_nan(text) and text not in answer.options.texts else text


def _number(text: str) -> int | None:
    match = _WHOLE.fullmatch(text)
    return None if match is None else int(match[1])


def _by_letter(text: str, options: OptionList) -> int:
    match = _LETTER.fullmatch(text)
    if match is None:
        raise DatasetError(f"answer {shorten(text)} is not a letter")
    index = ascii_uppercase.index(match[1].upper())
    if index >= len(options.texts):
        last = ascii_uppercase[min(len(options.texts), len(ascii_uppercase)) - 1]
        raise DatasetError(f"answer {text!r} is not among A to {last}")
    return index


def _by_number(text: str, options: OptionList, *, first: int) -> int:
    number = _number(text)
    if number is None:
        raise DatasetError(f"answer {shorten(text)} is not a whole number")
    if not 0 <= number - first < len(options.texts):
        raise DatasetError(f"answer {number} is not among {first} to {first + len(options.texts) - 1}")
    return number - first


def _by_label(text: str, options: OptionList) -> int:
    labels = options.labels or ()
    if labels.count(text) != 1:
        raise DatasetError(f"answer {shorten(text)} is not one of the row's labels {shorten(list(labels))}")
    return labels.index(text)


def _by_text(text: str, options: OptionList) -> int:
    places = [place for place, both in enumerate(zip(options.texts, options.raw, strict=True)) if text in both]
    if not places:
        raise DatasetError(f"answer {shorten(text)} is the text of none of the options {shorten(list(options.texts))}")
    if len(places) > 1:
        raise DatasetError(
            f"answer {shorten(text)} is the text of {len(places)} options; which is right cannot be told"
        )
    return places[0]
