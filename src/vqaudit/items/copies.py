"""Rotated copies: files that hold the same question several times with its options in another order.

MMBench and its relatives store copy k of question i as `i + k * 1,000,000`. The rows depend on one another, so plain
accuracy over them is neither that of the questions nor circular accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vqaudit.items.item import Item

__all__ = ["COPY_STEP", "group_rotated_copies"]

COPY_STEP = 1_000_000
"""Distance between the IDs of two copies (VLMEvalKit's rule)."""
_DIGITS = 6
"""Digits of an ID that copies share."""


def group_rotated_copies(items: Sequence[Item]) -> tuple[tuple[Item, ...], int]:
    """Gives all copies of a question one group, where they have none, and counts the questions with copies.

    Copies have IDs that differ by multiples of `COPY_STEP`, the same question, and the same options in some order with
    the same one right (in some files not every rotation is there, and an option may keep its place).

    Example:
        >>> one = Item(id="7", question="Which?", options=("left", "right"), answer=0)
        >>> two = Item(id="1000007", question="Which?", options=("right", "left"), answer=1)
        >>> [item.group for item in group_rotated_copies([one, two])[0]]
        ['7', '7']
    """
    families: dict[tuple[int, str, tuple[str, ...], str], list[int]] = {}
    for place, item in enumerate(items):
        if item.group is None and item.id.isdecimal():
            # The last six digits, as the remainder is: Python turns no more than 4,300 digits into a number.
            key = (int(item.id[-_DIGITS:]), item.question, tuple(sorted(item.options)), item.options[item.answer])
            families.setdefault(key, []).append(place)
    grouped = list(items)
    copied = [(key[0], places) for key, places in families.items() if len(places) > 1]
    for base, places in copied:
        for place in places:
            grouped[place] = replace(items[place], group=str(base))
    return tuple(grouped), len(copied)
