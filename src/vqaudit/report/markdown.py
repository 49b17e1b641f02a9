"""Markdown that stays what it is whatever a model or a data set is called: text escaped, tables whole.

Knows Markdown. Knows no finding.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from vqaudit.report.untrusted import printable

__all__ = ["escaped", "table"]

_ACTIVE = re.compile(r"([\\`*_{}\[\]#|~$!@])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def escaped(text: str) -> str:
    r"""Returns text on one line that Markdown shows as it is: no markup, no link, no HTML, no mention.

    Example:
        >>> print(escaped("<b>a|b</b> *c*"))
        &lt;b&gt;a\|b&lt;/b&gt; \*c\*
    """
    return _ACTIVE.sub(r"\\\1", " ".join(printable(text).split())).translate(_ENTITIES)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Returns the lines of a table of cells that are Markdown already.

    Args:
        head: Names of the columns.
        rows: Cells.
        right: Columns with numbers, which stand to the right.

    Example:
        >>> table(["name", "n"], [["a", "1"]], right=(1,))
        ['| name | n |', '|---|---:|', '| a | 1 |']
    """
    rule = "|".join("---:" if place in right else "---" for place in range(len(head)))
    return [_line(head), f"|{rule}|", *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
