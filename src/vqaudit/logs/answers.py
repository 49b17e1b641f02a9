"""Cells of a log into options, right answers, readings and verdicts.

Knows how logs write them. Knows no harness. What a cell does not tell is None and is never guessed.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from vqaudit.logs.rows import LETTERS, NOTHING_READ
from vqaudit.numerals import whole_number

__all__ = [
    "column_options",
    "is_missing",
    "list_options",
    "reading_of",
    "right_position",
    "text_of",
    "unmatched",
    "verdict",
]

_BOUND = re.compile(r"[(\[]?\s*(?P<id>[A-Za-z]|\d{1,2})\s*(?:[)\].:]+\s*)?$|[(\[]?(?P<lead>[A-Z])[)\].:]+\s+\S")
_LABEL = re.compile(r"\s*[(（]\s*([A-Z])\s*[)）]\s*|\s*([A-Z])[.:)]\s+")
_TRUE = {"1", "1.0", "true", "yes", "c", "correct"}
_FALSE = {"0", "0.0", "false", "no", "i", "incorrect"}


def is_missing(cell: object) -> bool:
    """True for a cell that says nothing: null, NaN, or blank. The words `None`, `NA` and `nan` are texts.

    Example:
        >>> [is_missing(cell) for cell in (None, " ", float("nan"), "None", 0)]
        [True, True, True, False, False]
    """
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def text_of(cell: object) -> str | None:
    """Returns a cell as text; None where it says nothing, and whole numbers without `.0`."""
    if is_missing(cell):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False) if _nested(cell) else str(cell)


def _nested(cell: object) -> bool:
    return isinstance(cell, dict | list)


def list_options(cell: object) -> tuple[str, ...]:
    """Returns the options of a list, of the text of one, or of a mapping ID -> text; empty where there are none.

    Labels that all options carry (`(A) left`) are taken off.

    Example:
        >>> list_options("['left', 'right']"), list_options({"text": ["x", "y"], "label": ["A", "B"]})
        (('left', 'right'), ('x', 'y'))
    """
    if isinstance(cell, str):
        cell = _parsed(cell)
    if isinstance(cell, Mapping):
        inner = cell.get("text")
        cell = inner if isinstance(inner, list) else [cell[key] for key in sorted(cell, key=str)]
    if not isinstance(cell, list | tuple):
        return ()
    return _unlabelled([text_of(part) or "" for part in cell])


def _parsed(text: str) -> object:
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _unlabelled(texts: Sequence[str]) -> tuple[str, ...]:
    found = [_LABEL.match(text) for text in texts]
    if texts and all(m and (m[1] or m[2]) == LETTERS[i] for i, m in enumerate(found) if i < len(LETTERS)):
        return tuple(text[m.end() :].strip() for text, m in zip(texts, found, strict=True) if m)
    return tuple(texts)


def column_options(cells: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the options of columns `A`, `B`, ...: up to the first missing one; a trailing word `nan` is missing too.

    Example:
        >>> column_options({"A": "None", "B": "x", "C": "nan", "D": None})
        ('None', 'x')
    """
    texts = []
    for letter in LETTERS:
        if is_missing(cells.get(letter)):
            break
        texts.append(text_of(cells[letter]) or "")
    while len(texts) > 2 and texts[-1].strip() == "nan":
        texts.pop()
    return tuple(texts)


def right_position(
    target: object, *, options: Sequence[str], option_ids: Sequence[str], from_zero: bool = False
) -> int | None:
    """Returns the position of the right option; None where the log does not tell it.

    An ID goes before an option's text, since options can themselves be letters (AI2D).

    Args:
        target: An ID (`B`, `(B)`, `B. text`), the text of exactly one option, a list of one of these, or a number.
        options: By position.
        option_ids: By position.
        from_zero: Whether a number is a position; where False it is only looked for among IDs and texts.

    Example:
        >>> shown = {"options": ["c", "D", "b"], "option_ids": ["A", "B", "C"]}
        >>> right_position("B", **shown), right_position("D", **shown), right_position(2, from_zero=True, **shown)
        (1, 1, 2)
    """
    if isinstance(target, list | tuple):
        return (
            right_position(target[0], options=options, option_ids=option_ids, from_zero=from_zero)
            if len(target) == 1
            else None
        )
    text = text_of(target)
    if text is None or isinstance(target, bool):
        return None
    text = text.strip()
    if from_zero and (number := whole_number(text)) is not None:
        return number if number < len(options) else None
    ids = list(option_ids)
    if text in ids:
        return ids.index(text)
    same = [place for place, option in enumerate(options) if _folded(option) == _folded(text)]
    if len(same) == 1:
        return same[0]
    found = _BOUND.match(text)
    named = (found["id"] or found["lead"]) if found else None
    return ids.index(named) if named in ids else None


def unmatched(target: object, position: int | None) -> str | None:
    """Returns a right answer that is none of the options, as text; None where it is one, or is not told.

    Example:
        >>> unmatched("C", None), unmatched("C", 2), unmatched("", None)
        ('C', None, None)
    """
    return text_of(target) if position is None else None


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def reading_of(cell: object, option_ids: Sequence[str]) -> str:
    """Returns the ID that a log's scorer read; `NOTHING_READ` for anything that is no shown ID.

    Example:
        >>> reading_of("(b)", ["A", "B"]), reading_of("FAILED", ["A", "B"])
        ('B', '')
    """
    text = (text_of(cell) or "").strip().strip("()[].: ")
    for option_id in option_ids:
        if text in (option_id, option_id.swapcase()):
            return option_id
    return NOTHING_READ


def verdict(cell: object) -> bool | None:
    """Returns whether a log counts a sample as right; None for anything but a plain yes or no.

    Example:
        >>> [verdict(cell) for cell in (True, 1.0, "C", "I", 0.5, None)]
        [True, True, True, False, None, None]
    """
    text = str(cell).strip().lower()
    return True if text in _TRUE else False if text in _FALSE else None
