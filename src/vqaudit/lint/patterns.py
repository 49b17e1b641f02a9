"""Whether a regular expression of somebody else's can be tried without the risk that it never ends.

Knows the syntax of regular expressions. Compiles nothing.
"""

from __future__ import annotations

import re

__all__ = ["is_safe_to_try"]

_LONGEST = 400
_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(|\)|[*+]|\{\d*,\d*\}|\|", re.DOTALL)


def is_safe_to_try(pattern: str) -> bool:
    r"""Returns whether no repeated group itself repeats something or offers alternatives.

    `(a+)+` and `(a|ab)*` may take time that is exponential in the text's length. Safe patterns may be refused, unsafe
    ones are not let through.

    Example:
        >>> is_safe_to_try(r"answer is \(?([A-D])\b"), is_safe_to_try(r"(\w+\s?)+$")
        (True, False)
    """
    if len(pattern) > _LONGEST:
        return False
    open_groups = [False]
    for found in _PARTS.finditer(pattern):
        part = found.group()
        if part == "(":
            open_groups.append(False)
        elif part == ")":
            repeats = open_groups.pop() if len(open_groups) > 1 else False
            if repeats and pattern[found.end() : found.end() + 1] in ("*", "+", "{"):
                return False
            open_groups[-1] = open_groups[-1] or repeats
        elif part in ("*", "+", "|") or part.startswith("{"):
            open_groups[-1] = True
    return True
