"""Rotated copies of a question: which rows of a table are one group, and which rotation each is.

Knows how harnesses number copies. Knows no order: `orders` finds that from the option texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from vqaudit.logs.rows import LogRow
from vqaudit.numerals import whole_number

__all__ = ["STRIDE", "grouped_by_index", "grouped_by_options"]

STRIDE = 1_000_000
"""MMBench numbers the rotated copies of question i as i + k * 1,000,000."""


def grouped_by_index(rows: Sequence[LogRow]) -> tuple[LogRow, ...]:
    """Groups rows whose numbers differ by multiples of `STRIDE` and that have the same options in another order.

    Example:
        >>> a = LogRow(row=1, item="7", options=("x", "y"))
        >>> b = LogRow(row=2, item="1000007", options=("y", "x"))
        >>> [(row.group, row.rotation) for row in grouped_by_index([a, b])]
        [('7', 0), ('7', 1)]
    """
    numbers = [whole_number(row.item) for row in rows]
    if all(number is None or number < STRIDE for number in numbers):
        return tuple(rows)
    groups: dict[tuple[int, tuple[str, ...]], list[int]] = defaultdict(list)
    for place, (row, number) in enumerate(zip(rows, numbers, strict=True)):
        if number is not None:
            groups[number % STRIDE, tuple(sorted(row.options))].append(place)
    found = list(rows)
    for (base, _), places in groups.items():
        # The lowest number names the group; it need not be the base itself, since a log can have lost that row.
        for place in places:
            rotation = (numbers[place] or 0) // STRIDE
            found[place] = replace(rows[place], group=str(base), rotation=rotation)
    return _without_clashes(found)


def _without_clashes(rows: list[LogRow]) -> tuple[LogRow, ...]:
    """Two sets of options under one number are two groups."""
    owner: dict[str, tuple[str, ...]] = {}
    for place, row in enumerate(rows):
        if row.group is None:
            continue
        options = tuple(sorted(row.options))
        if owner.setdefault(row.group, options) != options:
            rows[place] = replace(row, group=row.item)
    return tuple(rows)


def grouped_by_options(rows: Sequence[LogRow], cycles: Sequence[str | None]) -> tuple[LogRow, ...]:
    """Groups rows of one question, category and set of options that lie in different cycles (HR-Bench).

    Args:
        rows: All rows.
        cycles: Each row's number of the circular pass.
    """
    numbers = {cycle: place for place, cycle in enumerate(sorted({c for c in cycles if c is not None}, key=_natural))}
    taken: dict[tuple[object, ...], dict[int, int]] = defaultdict(dict)
    found = []
    for row, cycle in zip(rows, cycles, strict=True):
        key = (row.question, row.category, tuple(sorted(row.options)))
        rotation = numbers.get(cycle, 0) if cycle is not None else 0
        # Two questions that read alike but show two pictures come in the same order in every cycle.
        copy = taken[key].get(rotation, 0)
        taken[key][rotation] = copy + 1
        found.append(replace(row, group=f"{row.question}|{'|'.join(sorted(row.options))}|{copy}", rotation=rotation))
    names = {name: str(place) for place, name in enumerate(dict.fromkeys(row.group for row in found))}
    return tuple(replace(row, group=f"question {names[row.group]}") for row in found)


def _natural(text: str) -> tuple[int, int | str]:
    number = whole_number(text)
    return (1, text) if number is None else (0, number)
