"""A randomised design drawn again from the trials of a grid: what one pass would have told, without a pass.

Knows items x formats x orders. Knows no run directory. Draws follow the design: within the items of one number of
options each block of as many items as there are formats gets every format once, and rotations likewise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = ["GridValues", "draw_again", "grid_values"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class GridValues:
    """Outcomes of a whole grid."""

    values: Floats
    """Items x formats x orders; NaN where there is none."""
    orders: Ints
    """By item, how many orders it has."""
    options: Ints
    """By item, how many options it has."""
    items: NDArray[np.uint32]
    """Code of each row's item, ascending."""
    clusters: NDArray[np.uint32]
    formats: tuple[str, ...]


def grid_values(trials: pl.DataFrame) -> GridValues:
    """Returns the outcomes of a grid's trials that did not fail.

    Raises:
        AnalysisError: None of them has both a format and a known answer.
    """
    kept = trials.filter(pl.col("right").is_not_null(), pl.col("format").is_not_null())
    if not kept.height:
        raise AnalysisError("the grid has no trial with both a format and a known answer to draw again")
    kept = kept.with_columns(_order=(pl.col("order_code").rank("dense").over("item_code") - 1).cast(pl.Int64))
    names = kept["format"].cast(pl.String)
    formats, columns = np.unique(names.to_numpy(), return_inverse=True)
    items, rows = np.unique(kept["item_code"].to_numpy(), return_inverse=True)
    places = kept["_order"].to_numpy()
    values = np.full((items.size, formats.size, int(places.max()) + 1), np.nan)
    values[rows, columns.reshape(-1), places] = kept["right"].cast(pl.Float64).to_numpy()
    options, clusters = np.zeros(items.size, dtype=np.int64), np.zeros(items.size, dtype=np.uint32)
    options[rows] = kept["n_options"].to_numpy()
    clusters[rows] = kept["cluster_code"].to_numpy()
    return GridValues(
        values=values,
        orders=np.isfinite(values).any(axis=1).sum(axis=1),
        options=options,
        items=items,
        clusters=clusters,
        formats=tuple(str(name) for name in formats),
    )


def draw_again(grid: GridValues, *, draws: int, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Returns draws x items: the format and the order that each repeat of the design asks.

    Example:
        >>> grid = GridValues(
        ...     values=np.zeros((4, 2, 2)), orders=np.full(4, 2), options=np.full(4, 2),
        ...     items=np.arange(4, dtype=np.uint32), clusters=np.arange(4, dtype=np.uint32), formats=("a", "b"),
        ... )
        >>> formats, orders = draw_again(grid, draws=3, generator=np.random.default_rng(0))
        >>> formats.sum(axis=1).tolist(), orders.sum(axis=1).tolist()
        ([2, 2, 2], [2, 2, 2])
    """
    formats = np.zeros((draws, grid.items.size), dtype=np.int64)
    orders = np.zeros_like(formats)
    for count in np.unique(grid.options):
        rows = np.flatnonzero(grid.options == count)
        formats[:, rows] = _blocks(len(grid.formats), rows.size, draws, generator)
        rotations = _blocks(int(count), rows.size, draws, generator)
        # an item that must not be permuted has one order, whatever is drawn
        orders[:, rows] = np.where(grid.orders[rows] > 1, rotations % np.maximum(grid.orders[rows], 1), 0)
    return formats, orders


def _blocks(size: int, items: int, draws: int, generator: np.random.Generator) -> Ints:
    blocks = -(-items // size)
    keys = generator.random((draws, blocks, size))
    return keys.argsort(axis=2).reshape(draws, blocks * size)[:, :items]
