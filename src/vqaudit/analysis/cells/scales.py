"""Whether a column holds per cent or shares: declared, named so, or proved by a value above 1. Never guessed.

Knows one column of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vqaudit.errors import DatasetError

__all__ = ["as_shares", "named_scale", "parse_number"]

SCALES = ("percent", "share")
_NAMED = {
    "percent": ("pct", "percent", "%", "[%]", "(%)"),
    "share": ("share", "fraction"),
}
_NOTHING = {"", "-", "–", "—", "−", "na", "n/a", "nan", "none", "null"}


def parse_number(text: str, *, file: str, row: int, column: str) -> float:
    """Returns the number that a field holds; NaN where it says that there is none.

    Raises:
        DatasetError: The field is no number, or an infinite one.

    Example:
        >>> [parse_number(text, file="f.csv", row=1, column="accuracy") for text in ("77.969", "–")]
        [77.969, nan]
    """
    if text.strip().lower() in _NOTHING:
        return math.nan
    try:
        number = float(text)
    except ValueError:
        number = math.inf
    if not math.isfinite(number):
        message = f"{text!r} is no number; write one with a decimal point, or nothing where there is none"
        raise DatasetError(message, file=file, row=row, column=column)
    return number


def named_scale(column: str) -> str | None:
    """Returns the scale that a column's name says, or None.

    Example:
        >>> named_scale("accuracy_pct"), named_scale("Acc. [%]"), named_scale("accuracy_share"), named_scale("accuracy")
        ('percent', 'percent', 'share', None)
    """
    return next((scale for scale, ends in _NAMED.items() if column.strip().lower().endswith(ends)), None)


def as_shares(numbers: Sequence[float], *, file: str, column: str, declared: str | None = None) -> list[float]:
    """Returns a column's numbers as shares in [0, 1].

    A value above 1 proves per cent. Values that all lie in [0, 1] prove nothing, since 0.5 may be half a per cent:
    then the column's name must say it (`accuracy_pct`, `accuracy_share`), or the user.

    Args:
        numbers: NaN where missing.
        file: For messages.
        column: The column's name in the file.
        declared: `percent`, `share`, or None.

    Raises:
        DatasetError: The scale cannot be told, what is said contradicts what is there, or a number is out of range.

    Example:
        >>> as_shares([50.0, 0.5], file="f.csv", column="accuracy")
        [0.5, 0.005]
    """
    if declared is not None and declared not in SCALES:
        raise DatasetError(f"{declared!r} is no scale; say percent or share", file=file, column=column)
    scale = _scale(numbers, file=file, column=column, declared=declared)
    most = 100.0 if scale == "percent" else 1.0
    for row, number in enumerate(numbers, start=1):
        if not (math.isnan(number) or 0.0 <= number <= most):
            raise DatasetError(f"{number:g} is not in [0, {most:g}]", file=file, row=row, column=column)
    return [number / most for number in numbers]


def _scale(numbers: Sequence[float], *, file: str, column: str, declared: str | None) -> str:
    named = named_scale(column)
    if declared is not None and named is not None and declared != named:
        message = f"the column's name says {named}, --scale says {declared}; rename the column or leave --scale out"
        raise DatasetError(message, file=file, column=column)
    above = any(number > 1 for number in numbers)
    if declared is None and not above and named != "share":
        message = "no value is above 1, which does not tell shares from per cent; say --scale share or --scale percent"
        raise DatasetError(message, file=file, column=column)
    return declared or named or "percent"
