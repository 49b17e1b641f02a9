"""In which order a row shows its group's options.

Knows option texts. Knows no harness. `order[position] = option index`, as in every record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

__all__ = ["Order", "order_of"]

Order = tuple[int, ...]


def order_of(
    shown: Sequence[str], options: Sequence[str], *, position: int | None = None, answer: int | None = None
) -> Order | None:
    """Returns the order in which these options are shown; None where they are not the same, or the answers differ.

    Options that read alike are told apart by the rotation that fits, then by the right answer.

    Args:
        shown: Option texts by position.
        options: Option texts by index.
        position: Where the right option is shown; None where that is not known.
        answer: Index of the right option; None where that is not known.

    Example:
        >>> order_of(["c", "a", "b"], ["a", "b", "c"])
        (2, 0, 1)
        >>> order_of(["a", "x"], ["a", "b"]) is None
        True
        >>> order_of(["b", "a"], ["a", "b"], position=0, answer=0) is None
        True
    """
    count = len(options)
    if sorted(shown) != sorted(options):
        return None
    rotations = (tuple((place - shift) % count for place in range(count)) for shift in range(count))
    for order in rotations:
        if all(options[i] == text for i, text in zip(order, shown, strict=True)) and _agree(order, position, answer):
            return order
    order = _matched(shown, options, position, answer)
    return order if _agree(order, position, answer) else None


def _matched(shown: Sequence[str], options: Sequence[str], position: int | None, answer: int | None) -> Order:
    """Takes options that read alike in their order, the right one where it is said to stand."""
    places: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(options):
        places[text].append(index)
    fixed = {}
    if position is not None and answer is not None and options[answer] == shown[position]:
        places[options[answer]].remove(answer)
        fixed[position] = answer
    return tuple(fixed[place] if place in fixed else places[text].pop(0) for place, text in enumerate(shown))


def _agree(order: Order, position: int | None, answer: int | None) -> bool:
    return position is None or answer is None or order[position] == answer
