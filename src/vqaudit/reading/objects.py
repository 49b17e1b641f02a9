"""Finds the JSON objects in a reply. Text is decoded, never evaluated.

Knows JSON and the names that an answer field may bear. Reads no answer.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from vqaudit.reading.context import WINDOW

__all__ = ["FoundObject", "answer_values", "find_object", "only_value"]

_ANSWER_FIELDS = (
    "final_answer",
    "answer",
    "answers",
    "correct_answer",
    "selected_answer",
    "answer_choice",
    "choice",
    "selected_choice",
    "final_choice",
    "option",
    "selected_option",
    "correct_option",
    "answer_id",
    "option_id",
    "answer_letter",
    "letter",
    "prediction",
    "selected",
    "selection",
    "response",
    "result",
    "final",
)
_INNER_FIELDS = ("id", "label", "letter", "answer", "option", "choice", "text", "value")
_MOST = 8
"""Objects that are tried, the last of a reply."""


class FoundObject(NamedTuple):
    """An object and the place where it stands."""

    fields: dict[str, object]
    """Names lower-cased, blanks and dashes as `_`."""
    start: int
    end: int


def find_object(raw: str) -> FoundObject | None:
    """Finds the last JSON object of a reply.

    Example:
        >>> found = find_object('Here: {"Final Answer": "B"}')
        >>> found.fields, found.start
        ({'final_answer': 'B'}, 6)
    """
    decoder = json.JSONDecoder(object_pairs_hook=_no_repeats)
    offset = max(0, len(raw) - WINDOW)
    result: FoundObject | None = None
    inner = [offset + found.start() for found in re.finditer(r"\{\s*\"", raw[offset:])][-_MOST:]
    for place in [0, *inner] if raw.startswith("{") else inner:
        if result and place < result.end:
            continue
        try:
            fields, length = decoder.raw_decode(raw[place:])
        except (ValueError, RecursionError):
            continue
        result = FoundObject({_name(key): value for key, value in fields.items()}, place, place + length)
    return result


def answer_values(fields: dict[str, object]) -> list[object]:
    """Gives the values of the fields that announce an answer."""
    return [fields[name] for name in _ANSWER_FIELDS if name in fields]


def only_value(value: object) -> object:
    """Unwraps a list of one, and an option given as an object.

    Example:
        >>> only_value([{"id": "B", "text": "a blue van"}])
        'B'
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        names = [name for name in _INNER_FIELDS if name in value]
        return value[names[0]] if names else None
    return value


def _name(key: str) -> str:
    return re.sub(r"[\s-]+", "_", key.strip().lower())


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Keeps every value of a key that is given twice."""
    fields: dict[str, object] = {}
    for key, value in pairs:
        fields[key] = [fields[key], value] if key in fields and fields[key] != value else value
    return fields
