"""Text that may be a number: read as one only where it can be.

Knows characters. `int` alone takes no superscript, which `isdigit` calls a digit, and no more than 4,300 digits.
"""

from __future__ import annotations

__all__ = ["whole_number"]

_MOST = 18
"""Digits of the longest number; what is longer counts nothing and is a name. It fits into 64 bits."""


def whole_number(text: str) -> int | None:
    """Returns the number from 0 that a text of decimal digits writes, or None.

    Example:
        >>> whole_number("007"), whole_number("-7"), whole_number("²"), whole_number("9" * 5000)
        (7, None, None, None)
    """
    return int(text) if len(text) <= _MOST and text.isdecimal() else None
