"""Parts of files that strangers wrote: of the shape that is read, or empty, as if they were not there.

Knows Python's containers. What has another shape says nothing that a rule could judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["as_list", "as_mapping", "as_tokens"]


def as_mapping(value: object) -> Mapping[str, Any]:
    """Returns a mapping, or an empty one.

    Example:
        >>> as_mapping({"a": 1}), as_mapping(None)
        ({'a': 1}, {})
    """
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """Returns a list, a text as a list of one, or an empty list.

    Example:
        >>> as_list(["x"]), as_list("x"), as_list(3)
        (['x'], ['x'], [])
    """
    return [value] if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else []


def as_tokens(value: object) -> int | None:
    """Returns a positive number of tokens, or None.

    Example:
        >>> as_tokens(16), as_tokens(1e3), as_tokens(True), as_tokens(0)
        (16, 1000, None, None)
    """
    whole = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12
    return int(value) if whole and isinstance(value, int | float) else None
