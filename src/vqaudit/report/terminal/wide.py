"""Tables that are wider than a terminal: heads that break at hyphens, columns in blocks.

Knows names. Knows no finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TypeVar

__all__ = ["blocks", "head"]

_Name = TypeVar("_Name", str, int)

BLOCK = 5
"""Columns of figures that fit beside a name in 80 columns."""
_WIDTH = 10
"""Characters of a line of a head: as wide as the figures below it."""


def blocks(names: Sequence[_Name], size: int = BLOCK) -> Iterator[Sequence[_Name]]:
    """Yields the names in groups that fit beside one another in 80 columns.

    Example:
        >>> list(blocks("abcdefg"))
        ['abcde', 'fg']
    """
    for start in range(0, len(names), size):
        yield names[start : start + size]


def head(name: str) -> str:
    """Returns a name in lines that are narrow enough for a column of figures.

    Example:
        >>> head("MME-RealWorld-Lite").splitlines(), head("chose first").splitlines()
        (['MME-', 'RealWorld-', 'Lite'], ['chose', 'first'])
    """
    return "\n".join(wrap(name, _WIDTH)) or name
