"""Which variants of which items are asked.

Knows counts and seeds. A design is a small value; `draws` turns it into cells (item, format, order). The same
design and seed give the same cells for every model, so differences between models are paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from vqaudit.asking.formats import FORMATS, Format, find_format
from vqaudit.asking.orders import Order, circular_orders, natural
from vqaudit.errors import PlanError

__all__ = ["DEFAULT_REFERENCE", "Cell", "Design", "Grid", "Randomised", "Reference", "draws", "make_design"]

DEFAULT_REFERENCE = "upper/dot/line_break"
"""The commonest format of the field; four of paper 1's five datasets use upper-case IDs."""

Orders = Literal["circular", "dataset"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """One format, in all circular orders or in the dataset's order alone."""

    format: Format
    orders: Orders = "circular"
    name: Literal["reference"] = "reference"


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid:
    """Every format in every order: paper 1's analysis, 48 x n trials for a question with n options."""

    formats: tuple[Format, ...] = FORMATS
    orders: Orders = "circular"
    name: Literal["grid"] = "grid"


@dataclass(frozen=True, kw_only=True, slots=True)
class Randomised:
    """Each item under `draws` variants drawn from the grid: an unbiased estimate of the grid's accuracy.

    Within the items of one option count, in file order, each block of as many items as there are formats gets
    every format once, in a seeded order; rotations are drawn likewise in blocks of n. Appending items or drawing
    more changes no earlier draw.
    """

    draws: int = 1
    seed: int = 0
    formats: tuple[Format, ...] = FORMATS
    name: Literal["randomised"] = "randomised"

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise PlanError(f"{self.draws} draws per item; a randomised design needs at least 1")


Design = Reference | Grid | Randomised


class Cell(NamedTuple):
    """One cell that a design asks for."""

    item: int
    """Index of the item in its dataset."""
    format: Format
    order: Order
    draw: int
    """Number of the randomised draw, else 0."""


def make_design(
    name: str,
    *,
    reference: str = DEFAULT_REFERENCE,
    draws: int = 1,
    seed: int = 0,
    orders: Orders = "circular",
) -> Design:
    """Returns the design of that name.

    Raises:
        PlanError: There is no such design.
    """
    if name == "reference":
        return Reference(format=find_format(reference), orders=orders)
    if name == "grid":
        return Grid(orders=orders)
    if name == "randomised":
        return Randomised(draws=draws, seed=seed)
    raise PlanError(f"no design {name!r}: choose from reference, grid, randomised")


def draws(design: Design, n_options: Sequence[int], permutable: Sequence[bool]) -> Iterator[Cell]:
    """Yields the cells of a design, item by item in dataset order.

    Args:
        design: The design.
        n_options: Options of each item, in dataset order.
        permutable: Whether each item's options may be shown in another order than the dataset's.

    Example:
        >>> cells = list(draws(Randomised(draws=2, seed=7), [4, 4, 2], [True, True, False]))
        >>> [(cell.item, cell.draw) for cell in cells]
        [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    """
    if isinstance(design, Randomised):
        yield from _randomised(design, n_options, permutable)
        return
    formats = (design.format,) if isinstance(design, Reference) else design.formats
    for item, (count, free) in enumerate(zip(n_options, permutable, strict=True)):
        orders = circular_orders(count) if free and design.orders == "circular" else (natural(count),)
        for format in formats:
            for order in orders:
                yield Cell(item, format, order, 0)


@lru_cache(maxsize=1024)
def _permuted(size: int, *key: int) -> np.ndarray:
    """A permutation that depends on its key alone, so that no draw disturbs another."""
    return np.random.default_rng(key).permutation(size)


def _randomised(design: Randomised, n_options: Sequence[int], permutable: Sequence[bool]) -> Iterator[Cell]:
    seen: dict[int, int] = {}
    size = len(design.formats)
    for item, (count, free) in enumerate(zip(n_options, permutable, strict=True)):
        index = seen.get(count, 0)
        seen[count] = index + 1
        rotations = circular_orders(count)
        for draw in range(design.draws):
            block, place = divmod(index, size)
            format = design.formats[_permuted(size, design.seed, count, draw, block, 0)[place]]
            block, place = divmod(index, count)
            rotation = rotations[_permuted(count, design.seed, count, draw, block, 1)[place]]
            yield Cell(item, format, rotation if free else natural(count), draw)
