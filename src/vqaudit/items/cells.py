"""One cell of a table: whether it is empty, and what its value says as text, as a list, as an item ID.

Knows values as JSON, CSV and Parquet give them. Knows no column, no option and no answer.
"""

from __future__ import annotations

import ast
import io
import json
import math
import re
import tokenize
from collections.abc import Sequence
from typing import Any

from vqaudit.errors import DatasetError

__all__ = [
    "describe",
    "is_empty",
    "item_id",
    "looks_like_list",
    "parse_list",
    "says_nan",
    "shorten",
    "text_of",
]

_WHOLE_NUMBER = re.compile(r"[+-]?\d+\.0+")
_OPENING = {"[": "]", "(": ")", "{": "}"}


def is_empty(value: Any) -> bool:
    """Returns whether a cell holds nothing: null, a float NaN, or blank text. The word `nan` is a text.

    Example:
        >>> [is_empty(value) for value in (None, float("nan"), " ", "nan", "None", 0)]
        [True, True, True, False, False, False]
    """
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return isinstance(value, str) and not value.strip()


def says_nan(value: Any) -> bool:
    """Returns whether a cell holds the word `nan`, which is how some tables spell an empty cell."""
    return isinstance(value, str) and value.strip().lower() == "nan"


def text_of(value: Any) -> str | None:
    r"""Returns what a cell says, without outer white space and with `\n` line breaks; None where it is empty.

    Raises:
        DatasetError: The cell holds no text or number, such as a list or bytes.

    Example:
        >>> text_of(" a\r\nb "), text_of(3), text_of(True), text_of("")
        ('a\nb', '3', 'true', None)
    """
    if is_empty(value):
        return None
    if isinstance(value, str):
        return value.replace("\r\n", "\n").strip()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict, set, bytes, bytearray)):
        raise DatasetError(f"a text or a number is needed, not {type(value).__name__} {shorten(value)}")
    return str(value)


def item_id(value: Any) -> str | None:
    """Returns an item's ID as text, so that `8`, `8.0`, `"8"` and `"8.0"` are one; None for an empty cell.

    Raises:
        DatasetError: The cell holds no text or number.

    Example:
        >>> {item_id(value) for value in (8, 8.0, "8", "8.0", " 8 ")}
        {'8'}
    """
    text = text_of(value)
    if text is not None and _WHOLE_NUMBER.fullmatch(text):
        return text.split(".", maxsplit=1)[0]
    return text


def looks_like_list(text: str) -> bool:
    """Returns whether a text begins and ends as a JSON or Python list, tuple or dictionary does."""
    stripped = text.strip()
    return len(stripped) >= 2 and _OPENING.get(stripped[0]) == stripped[-1]


def parse_list(text: str) -> Any:
    r"""Reads the text of a JSON or Python list, tuple or dictionary, without evaluating anything.

    Raises:
        DatasetError: It is neither; or two texts stand side by side without a comma, which Python would glue.

    Example:
        >>> parse_list('["a", null]'), parse_list("['It\\'s grey', 'x, y']")
        (['a', None], ["It's grey", 'x, y'])
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise DatasetError(f"neither a JSON list nor the text of a Python list: {shorten(text)}") from None
    if not isinstance(value, (list, tuple, dict)):
        raise DatasetError(f"a list is needed, not {type(value).__name__} {shorten(text)}")
    if _has_glued_texts(text.strip()):
        raise DatasetError(f"a comma is missing between two texts of the list {shorten(text)}")
    return value


def _has_glued_texts(source: str) -> bool:
    previous = None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT):
            continue
        if token.type == previous == tokenize.STRING:
            return True
        previous = token.type
    return False


def shorten(value: Any, limit: int = 60) -> str:
    """Returns a value for an error message: its `repr`, cut in the middle of long ones."""
    try:
        text = repr(value)
    except RecursionError:
        text = f"<{type(value).__name__}, nested too deeply to be shown>"
    return text if len(text) <= limit else f"{text[: limit - 4]}...{text[-1]}"


def describe(names: Sequence[str]) -> str:
    """Returns names for an error message, quoted, with `and` before the last.

    Example:
        >>> describe(["A", "B", "C"])
        "'A', 'B' and 'C'"
    """
    quoted = [repr(name) for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
