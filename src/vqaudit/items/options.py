"""Cells into the options of one question.

Knows lists, dictionaries and one column per option; which cells are missing; and labels such as `(A) ` that the
options themselves carry. Knows no answer: `OptionList.settle` is told where it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.items.cells import is_empty, looks_like_list, parse_list, says_nan, shorten, text_of

__all__ = ["OptionList", "read_labels", "read_options"]

_ROMANS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_LABEL = re.compile(
    r"""(?:
        [(（\[]\s*(?P<enclosed>[A-Za-z]|\d{1,2}|[IVXivx]{1,4})\s*[)）\]]      # (A) left   （A）left
      | (?P<bracket>[A-Za-z]|\d{1,2}|[IVXivx]{1,4})\s*[)）、]                 # A) left
      | (?P<dot>[A-Za-z]|\d{1,2}|[IVXivx]{1,4})[.:．：](?=\s)                 # A. left
      | (?P<tight>[A-Za-z])[.:．：](?=[^\s\d.:][^\s.:])                       # A.left, but not A.M. or 1:2
    )\s*(?P<rest>\S.*)""",
    re.VERBOSE | re.DOTALL,
)
_TEXT_KEYS = ("text", "texts", "option", "content")
_LABEL_KEYS = ("label", "labels", "key", "id")


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionList:
    """The options of one question as the file gives them."""

    texts: tuple[str, ...]
    """Without labels of their own."""
    raw: tuple[str, ...]
    """As the cells say, labels included."""
    labels: tuple[str, ...] | None = None
    """The row's own names for the options, where it has any."""
    trailing_nan: int = 0
    """How many of the last options are the word `nan` in a column of their own: missing, unless one is right."""

    @property
    def natural_labels(self) -> bool:
        """Whether the labels are A, B, ... in order, so that a letter means a position either way."""
        return self.labels is not None and "".join(self.labels).upper() == ascii_uppercase[: len(self.labels)]

    def settle(self, answer: int) -> OptionList:
        """Returns the options without trailing `nan` cells beyond the right option."""
        end = max(len(self.texts) - self.trailing_nan, answer + 1)
        labels = None if self.labels is None else self.labels[:end]
        return replace(self, texts=self.texts[:end], raw=self.raw[:end], labels=labels, trailing_nan=0)


def read_options(cells: Mapping[str, Any], columns: str | tuple[str, ...]) -> OptionList:
    """Reads the options of one row.

    Args:
        cells: The row.
        columns: A column with a list, a dictionary or the text of one; or one column per option.

    Raises:
        DatasetError: No options, a gap between them, or something that is no list.

    Example:
        >>> read_options({"options": "['(A) Left lane', '(B)Right lane']"}, "options").texts
        ('Left lane', 'Right lane')
        >>> read_options({"A": "Yes", "B": "None", "C": "", "D": None}, ("A", "B", "C", "D")).texts
        ('Yes', 'None')
    """
    if isinstance(columns, str):
        values, labels = _from_cell(cells.get(columns))
        texts, trailing = _without_gaps(values, missing=is_empty), 0
    else:
        values, labels = [cells.get(column) for column in columns], None
        texts, trailing = _from_columns(values, columns)
    raw = tuple(texts)
    if labels is not None:
        return OptionList(texts=raw, raw=raw, labels=tuple(labels[: len(raw)]))
    own = _own_labels(raw[: len(raw) - trailing])
    if own is None:
        return OptionList(texts=raw, raw=raw, trailing_nan=trailing)
    stripped = (*own[1], *raw[len(own[1]) :])
    return OptionList(texts=stripped, raw=raw, labels=None if trailing else own[0], trailing_nan=trailing)


def read_labels(value: Any) -> tuple[str, ...]:
    """Reads a row's own names for its options.

    Raises:
        DatasetError: The cell is no list of names.
    """
    values = parse_list(value) if isinstance(value, str) and looks_like_list(value) else value
    if not isinstance(values, (list, tuple)) or not values:
        raise DatasetError(f"the row's labels must be a list, not {shorten(value)}")
    return tuple(text_of(label) or "" for label in values)


def _from_cell(value: Any) -> tuple[list[Any], list[str] | None]:
    if isinstance(value, str) and looks_like_list(value):
        value = parse_list(value)
    if isinstance(value, dict):
        return _from_dictionary(value)
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(entry, dict) for entry in value):
            return _from_entries(value)
        return list(value), None
    if is_empty(value):
        raise DatasetError("there are no options (an open question?)")
    raise DatasetError(f"the options must be a list or the text of one, not {shorten(value)}")


def _from_dictionary(value: Mapping[str, Any]) -> tuple[list[Any], list[str] | None]:
    texts = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), (list, tuple))), None)
    if texts is not None:
        labels = next((value[key] for key in _LABEL_KEYS if isinstance(value.get(key), (list, tuple))), None)
        if labels is not None and len(labels) != len(texts):
            raise DatasetError(f"{len(texts)} options, but {len(labels)} labels")
        return list(texts), None if labels is None else [text_of(label) or "" for label in labels]
    # A dictionary from label to text; Arrow fills labels that other rows have with nulls.
    filled = {str(key): text for key, text in value.items() if not is_empty(text)}
    if list(filled) not in [[*alphabet[: len(filled)]] for alphabet in (ascii_uppercase, ascii_lowercase)]:
        raise DatasetError(f"options keyed by A, B, ... in order are needed, not {shorten(value)}")
    return list(filled.values()), list(filled)


def _from_entries(entries: Sequence[Mapping[str, Any]]) -> tuple[list[Any], list[str] | None]:
    text_key = next((key for key in _TEXT_KEYS if all(key in entry for entry in entries)), None)
    label_key = next((key for key in _LABEL_KEYS if all(key in entry for entry in entries)), None)
    if text_key is None:
        raise DatasetError(f"an option given as an object needs a field 'text': {shorten(entries[0])}")
    labels = None if label_key is None else [text_of(entry[label_key]) or "" for entry in entries]
    return [entry[text_key] for entry in entries], labels


def _without_gaps(
    values: Sequence[Any], *, missing: Callable[[Any], bool], columns: Sequence[str] | None = None
) -> list[str]:
    """Returns the texts up to the last that is not missing."""
    end = max((place for place, value in enumerate(values, start=1) if not missing(value)), default=0)
    if end == 0:
        raise DatasetError("there are no options (an open question?)")
    texts: list[str] = []
    for place, value in enumerate(values[:end]):
        text = text_of(value)
        if text is None:
            names = columns or [f"option {number}" for number in range(1, end + 1)]
            raise DatasetError(f"{names[place]} is empty, but {names[end - 1]} is not; an option in between is missing")
        texts.append(text)
    return texts


def _from_columns(values: Sequence[Any], columns: Sequence[str]) -> tuple[list[str], int]:
    """Returns the texts, and how many of the last are the word `nan`, which may mean a missing cell."""
    certain = _without_gaps(values, missing=lambda value: is_empty(value) or says_nan(value), columns=columns)
    nans = 0
    for value in values[len(certain) :]:
        if not says_nan(value):
            break
        nans += 1
    if any(not is_empty(value) for value in values[len(certain) + nans :]):
        nans = 0
    return [*certain, *(str(value).strip() for value in values[len(certain) : len(certain) + nans])], nans


def _own_labels(texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Returns labels and texts apart, where every option carries its own label and the labels follow one another."""
    matches = [_LABEL.fullmatch(text) for text in texts]
    if len(texts) < 2 or not all(matches):
        return None
    found = [match for match in matches if match is not None]
    labels = tuple(match["enclosed"] or match["bracket"] or match["dot"] or match["tight"] for match in found)
    if labels not in _sequences(len(labels)):
        return None
    return labels, tuple(match["rest"].strip() for match in found)


def _sequences(count: int) -> list[tuple[str, ...]]:
    romans = _ROMANS[:count]
    return [
        tuple(ascii_uppercase[:count]),
        tuple(ascii_lowercase[:count]),
        tuple(str(number) for number in range(1, count + 1)),
        tuple(str(number) for number in range(count)),
        romans,
        tuple(roman.lower() for roman in romans),
    ]
