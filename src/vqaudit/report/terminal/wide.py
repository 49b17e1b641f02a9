"""Tables that are wider than a terminal: heads that break at hyphens, columns in blocks.

Knows names. Knows no finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

__all__ = ["blocks", "head"]

BLOCK = 5
_WIDTH = 10


def blocks(names: Sequence[str], size: int = BLOCK) -> Iterator[Sequence[str]]:
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
        >>> head("MME-RealWorld-Lite").splitlines()
        ['MME-', 'RealWorld-', 'Lite']
    """
    return "\n".join(wrap(name, _WIDTH)) or name
