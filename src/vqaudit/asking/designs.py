"""Which variants of which items are asked.

Knows counts and seeds. A design is a small value; `draws` turns it into cells (item, format, order). The same
design and seed give the same cells for every model, so differences between models are paired.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from vqaudit.asking.formats import FORMATS, Format
from vqaudit.asking.orders import Order, circular_orders, natural, scrambled_id_orders
from vqaudit.errors import PlanError

__all__ = [
    "DEFAULT_REFERENCE",
    "SCREENING_DRAWS",
    "Cell",
    "Confirmed",
    "Design",
    "Grid",
    "Permuted",
    "Randomised",
    "Reference",
    "ScrambledIDs",
    "WhoseA",
    "draws",
]

DEFAULT_REFERENCE = "upper/dot/line_break"
"""The commonest format of the field; four of paper 1's five datasets use upper-case IDs."""

SCREENING_DRAWS = 2
"""Draws per item of the first stage of a two-stage design, at least: one draw misses too many extreme formats."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Confirmed:
    """The second stage of a two-stage design: a few formats, asked of every item anew.

    Each item is shown `orders` of its rotations under each format, one after the other from a first one that is
    drawn in blocks as in `Randomised`; all of them where it has no more.
    """

    formats: tuple[Format, ...]
    name: Literal["confirm-worst", "confirm-best"]
    orders: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.orders < 1 or not self.formats:
            raise PlanError(f"{len(self.formats)} formats in {self.orders} orders; a second stage needs one or more")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScrambledIDs:
    """One format with its IDs in their natural order and, once more, in another: tells position from ID.

    Every rotation of an item is asked with natural IDs and with scrambled ones; the scrambled orders take turns over
    rotations and items, so that every (position, ID) pair occurs about equally often.
    """

    formats: tuple[Format]
    orders: Literal["circular"] = "circular"
    name: Literal["scrambled-ids"] = "scrambled-ids"


@dataclass(frozen=True, kw_only=True, slots=True)
class Permuted:
    """One format under seeded permutations of the contents: paper 2's control (its Eq. 6, five seeds).

    Draw s shows every item in an order of its own, uniform over all permutations, that depends on the seed, on s and
    on the item's place in the dataset alone. IDs stay in their natural order, so that the first position keeps its ID.
    """

    formats: tuple[Format]
    draws: int = 5
    seed: int = 0
    name: Literal["permuted"] = "permuted"

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise PlanError(f"{self.draws} permutations per item; the design permuted needs at least 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class WhoseA:
    """Several ID sets, each with all rotations of contents crossed with all rotations of IDs: n x n trials an item.

    Every content stands at every position under every ID equally often, so that position and symbol are orthogonal
    to each other and to the content: their effects are plain differences of shares (a Latin square crossed with
    itself; Cochran and Cox 1957, chapter 4). Formats differ in nothing but their IDs.
    """

    formats: tuple[Format, ...]
    orders: Literal["circular"] = "circular"
    name: Literal["whose-a"] = "whose-a"


Design = Reference | Grid | Randomised | Confirmed | ScrambledIDs | Permuted | WhoseA


class Cell(NamedTuple):
    """One cell that a design asks for."""

    item: int
    """Index of the item in its dataset."""
    format: Format
    order: Order
    draw: int
    """Number of the randomised draw, else 0."""
    id_order: Order | None = None
    """Index into the ID set at each position; None = natural."""


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
    if isinstance(design, Confirmed):
        yield from _confirmed(design, n_options, permutable)
        return
    if isinstance(design, ScrambledIDs):
        yield from _scrambled(design, n_options, permutable)
        return
    if isinstance(design, Permuted):
        yield from _seeded(design, n_options, permutable)
        return
    if isinstance(design, WhoseA):
        yield from _crossed(design, n_options, permutable)
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


def _confirmed(design: Confirmed, n_options: Sequence[int], permutable: Sequence[bool]) -> Iterator[Cell]:
    seen: dict[int, int] = {}
    for item, (count, free) in enumerate(zip(n_options, permutable, strict=True)):
        index = seen.get(count, 0)
        seen[count] = index + 1
        rotations = circular_orders(count)
        block, place = divmod(index, count)
        for format in design.formats:
            if not free:
                yield Cell(item, format, natural(count), 0)
                continue
            first = _permuted(count, design.seed, count, block, _number(format.name), 2)[place]
            for step in range(min(design.orders, count)):
                yield Cell(item, format, rotations[(first + step) % count], step)


def _scrambled(design: ScrambledIDs, n_options: Sequence[int], permutable: Sequence[bool]) -> Iterator[Cell]:
    seen: dict[int, int] = {}
    for item, (count, free) in enumerate(zip(n_options, permutable, strict=True)):
        index = seen.get(count, 0)
        seen[count] = index + 1
        others = scrambled_id_orders(count)
        for place, order in enumerate(circular_orders(count) if free else (natural(count),)):
            yield Cell(item, design.formats[0], order, 0)
            if free:
                # rotations of one item take different ID orders, and the next item starts one further
                yield Cell(item, design.formats[0], order, 0, others[(index + place) % len(others)])


def _seeded(design: Permuted, n_options: Sequence[int], permutable: Sequence[bool]) -> Iterator[Cell]:
    for item, (count, free) in enumerate(zip(n_options, permutable, strict=True)):
        for draw in range(design.draws):
            drawn = _permuted(count, design.seed, draw, item, 3)
            order = tuple(int(place) for place in drawn) if free else natural(count)
            yield Cell(item, design.formats[0], order, draw)


def _crossed(design: WhoseA, n_options: Sequence[int], permutable: Sequence[bool]) -> Iterator[Cell]:
    for item, (count, free) in enumerate(zip(n_options, permutable, strict=True)):
        rotations = circular_orders(count) if free else (natural(count),)
        for format in design.formats:
            for order in rotations:
                for ids in rotations:
                    yield Cell(item, format, order, 0, ids)


@lru_cache(maxsize=1024)
def _number(name: str) -> int:
    """The same for a name in every process, and whichever formats are confirmed beside it."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
