"""Which option stands at which position, and which ID stands there.

Knows permutations. Knows no item. An order is a tuple `order[position] = option index`; an ID order is a tuple
`id_order[position] = index into the ID set`, natural unless a design separates the ID from the position.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import factorial
from typing import TypeVar

import numpy as np

from vqaudit.errors import VariantError

__all__ = [
    "Order",
    "apply_order",
    "check_order",
    "circular_orders",
    "counterbalanced_orders",
    "inverse",
    "natural",
    "scrambled_id_orders",
    "seeded_orders",
]

Order = tuple[int, ...]
T = TypeVar("T")


def natural(count: int) -> Order:
    """Returns the order of the dataset.

    Example:
        >>> natural(3)
        (0, 1, 2)
    """
    return tuple(range(count))


def circular_orders(count: int) -> tuple[Order, ...]:
    """Returns the `count` rotations: every option stands at every position once (MMBench's circular evaluation).

    Rotation k moves each option k places to the right, as the rotated copies in MMBench do: where option 0 is
    right, the right position runs 0, 1, 2, ...

    Example:
        >>> circular_orders(3)
        ((0, 1, 2), (2, 0, 1), (1, 2, 0))
    """
    return tuple(tuple((position - shift) % count for position in range(count)) for shift in range(count))


def seeded_orders(count: int, number: int, *, seed: int) -> tuple[Order, ...]:
    """Returns `number` different orders drawn at random, the same for every call.

    Raises:
        VariantError: More orders than there are permutations.

    Example:
        >>> seeded_orders(3, 2, seed=1) == seeded_orders(3, 2, seed=1)
        True
    """
    if number > factorial(count):
        raise VariantError(f"{number} different orders of {count} options do not exist; there are {factorial(count)}")
    generator = np.random.default_rng([seed, count, number])
    if count <= 6:
        every = list(permutations(range(count)))
        return tuple(every[i] for i in generator.permutation(len(every))[:number])
    drawn: dict[Order, None] = {}
    while len(drawn) < number:
        drawn[tuple(int(i) for i in generator.permutation(count))] = None
    return tuple(drawn)


def counterbalanced_orders(count: int) -> tuple[Order, ...]:
    """Returns a Williams design: every option stands equally often at every position and after every other.

    `count` orders where `count` is even, twice as many where it is odd (Williams 1949).

    Example:
        >>> counterbalanced_orders(4)
        ((0, 3, 1, 2), (1, 0, 2, 3), (2, 1, 3, 0), (3, 2, 0, 1))
    """
    zigzag = [0]
    for step in range(1, count):
        zigzag.append((zigzag[-1] + (-step if step % 2 else step)) % count)
    square = [tuple((start + shift) % count for start in zigzag) for shift in range(count)]
    if count % 2:
        square += [tuple(reversed(row)) for row in square]
    return tuple(square)


def scrambled_id_orders(count: int) -> tuple[Order, ...]:
    """Returns ID orders that tell a position from the ID that stands there: none of them is the natural one.

    Rotations and Williams' design without the natural order. Together with it every (position, ID) pair occurs
    equally often, at least twice from three IDs on; two IDs have one other order.

    Example:
        >>> scrambled_id_orders(2), len(scrambled_id_orders(4))
        (((1, 0),), 7)
    """
    every = dict.fromkeys((*circular_orders(count), *counterbalanced_orders(count)))
    return tuple(order for order in every if order != natural(count))


def check_order(order: Sequence[int], count: int) -> Order:
    """Returns the order as a tuple.

    Raises:
        VariantError: It is no permutation of 0 to `count - 1`.
    """
    if sorted(order) != list(range(count)):
        raise VariantError(f"{tuple(order)} is no order of {count} options: each of 0 to {count - 1} once")
    return tuple(order)


def inverse(order: Order) -> Order:
    """Returns the permutation that undoes this one.

    Example:
        >>> inverse((2, 0, 1))
        (1, 2, 0)
    """
    result = [0] * len(order)
    for position, option in enumerate(order):
        result[option] = position
    return tuple(result)


def apply_order(order: Order, things: Sequence[T]) -> tuple[T, ...]:
    """Returns the things in the order shown: `result[position] = things[order[position]]`.

    Example:
        >>> apply_order((2, 0, 1), "abc")
        ('c', 'a', 'b')
    """
    return tuple(things[i] for i in order)
