"""Ranks of several runs under every format that all of them asked.

Knows runs over common items. Knows no interval.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from vqaudit.analysis.closest import closest_formats
from vqaudit.analysis.common_items import Common, Entry
from vqaudit.analysis.figures import Row
from vqaudit.analysis.ranks import format_ranks
from vqaudit.analysis.spread import FormatTable, format_table

__all__ = ["FormatRanks", "ranks_by_format"]


class FormatRanks(Row):
    """Ranks under every format that all runs asked (paper 1, Fig. 3)."""

    formats: int
    counts: dict[str, list[int]]
    """Run -> in how many formats it has rank 1, 2, ..."""
    accuracies: dict[str, dict[str, float]]
    """Format -> run -> accuracy on the common items."""
    spearman: dict[str, float]
    """Format -> correlation of its ranking with that of the mean over formats, average ranks."""
    closest: str
    """The format with the highest of them, the first by name of those that tie: the one to rank these runs by."""
    closest_shares: dict[str, float]
    """Format -> how often it is the closest when clusters of items are drawn again; never: left out."""


def ranks_by_format(
    entries: Sequence[Entry], common: Common, reasons: dict[str, str], *, seed: int
) -> FormatRanks | None:
    """Returns the ranks under every format, or None with its reason added to `reasons`."""
    without = [entry.name for entry in entries if entry.main.design != "grid"]
    if without:
        reasons["format_ranks"] = f"ranks by format need a grid of every run; none of {', '.join(without)}"
        return None
    tables = [_table(entry, common.keys) for entry in entries]
    shared = [name for name in tables[0].formats if all(name in table.formats for table in tables)]
    means = np.array([[table.accuracies()[table.formats.index(name)] for name in shared] for table in tables])
    if not shared or np.isnan(means).any():
        reasons["format_ranks"] = "the runs have no format in common that was asked of the common items"
        return None
    labels = [entry.name for entry in entries]
    counts = format_ranks(means)
    cells = np.stack([table.means[:, [table.formats.index(name) for name in shared]] for table in tables])
    near = closest_formats(cells, clusters=tables[0].clusters, seed=seed)
    return FormatRanks(
        formats=len(shared),
        counts={label: [int(count) for count in row] for label, row in zip(labels, counts, strict=True)},
        accuracies={
            name: {label: float(means[run, column]) for run, label in enumerate(labels)}
            for column, name in enumerate(shared)
        },
        spearman={name: float(value) for name, value in zip(shared, near.spearman, strict=True)},
        closest=shared[int(near.spearman.argmax())],
        closest_shares={name: float(share) for name, share in zip(shared, near.shares, strict=True) if share > 0},
    )


def _table(entry: Entry, keys: pl.DataFrame) -> FormatTable:
    codes = entry.aligned(keys)["item_code"]
    return format_table(entry.main.done.filter(pl.col("item_code").is_in(codes)))
