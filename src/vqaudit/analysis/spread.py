"""The best and the worst format, and how far apart they are: grid runs only.

Knows item means by format. Selecting the largest and smallest of 48 noisy means makes a spread where there is
none, so the lower bound is cross-fitted.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.estimates import Estimate, paired_difference
from vqaudit.analysis.grouped import item_means
from vqaudit.analysis.intervals import Floats

__all__ = ["FormatTable", "Spread", "cluster_halves", "format_spread", "format_table"]

FEWEST_CLUSTERS = 4
"""Two in each half: a half of one cluster has no variance."""
SPLITS = 10
"""Random halvings that the cross-fitted lower bound averages over, so that it hardly depends on the seed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FormatTable:
    """Accuracy of every item under every format."""

    formats: tuple[str, ...]
    means: Floats
    """Items x formats, each the mean over the orders that came back; NaN where none did."""
    clusters: NDArray[np.uint32]
    """Of the items."""
    items: NDArray[np.uint32]
    """Code of each row's item."""
    counts: NDArray[np.int64]
    """Trials of each format."""

    @property
    def trials(self) -> int:
        """Trials in all."""
        return int(self.counts.sum())

    def without(self, formats: Collection[str]) -> FormatTable:
        """Returns the table without some formats."""
        kept = np.array([name not in formats for name in self.formats])
        return FormatTable(
            formats=tuple(name for name in self.formats if name not in formats),
            means=self.means[:, kept],
            clusters=self.clusters,
            items=self.items,
            counts=self.counts[kept],
        )

    def accuracies(self) -> Floats:
        """Returns the mean over items of each format, NaN where no item was asked."""
        return _column_means(self.means)


class Spread(NamedTuple):
    """Best minus worst format accuracy, and which they are."""

    estimate: Estimate
    best: str | None
    worst: str | None


def format_table(trials: pl.DataFrame) -> FormatTable:
    """Returns items x formats from the trials of a grid."""
    table = item_means(trials.filter(pl.col("format").is_not_null()), "right", by=["format"])
    formats = table["format"].unique().sort()
    items, rows = np.unique(table["item_code"].to_numpy(), return_inverse=True)
    columns = np.searchsorted(formats.to_numpy(), table["format"].to_numpy())
    means = np.full((items.size, formats.len()), np.nan)
    means[rows, columns] = table["mean"].to_numpy()
    clusters = np.zeros(items.size, dtype=np.uint32)
    clusters[rows] = table["cluster_code"].to_numpy()
    counts = np.bincount(columns, table["trials"].to_numpy(), formats.len()).astype(np.int64)
    names = tuple(str(name) for name in formats)
    return FormatTable(formats=names, means=means, clusters=clusters, items=items, counts=counts)


def format_spread(table: FormatTable, *, seed: int, level: float = 0.95) -> Spread:
    """Returns best minus worst format accuracy with an interval that selection does not fool.

    `value` is the plug-in difference. `low` is the lower bound of a cross-fitted one: best and worst are chosen
    on one half of the clusters and compared on the other, and the other way round, so that it is unbiased at 0
    where formats do not differ and never above the true spread in expectation; the bounds of ten seeded halvings
    are averaged, floored at 0 and capped at `value`. `high` is the upper bound of the paired difference of the
    two chosen.

    Args:
        table: Items x formats.
        seed: Of the halvings.
        level: Confidence level.
    """
    accuracies = table.accuracies()
    if accuracies.size < 2 or np.isnan(accuracies).all():
        return Spread(Estimate.unknown("fewer than two formats were asked"), None, None)
    best, worst = int(np.nanargmax(accuracies)), int(np.nanargmin(accuracies))
    value = float(accuracies[best] - accuracies[worst])
    names = table.formats[best], table.formats[worst]
    count = np.unique(table.clusters).size
    if count < FEWEST_CLUSTERS:
        reason = f"an interval of the spread needs at least {FEWEST_CLUSTERS} independent items, not {count}"
        return Spread(Estimate(value=value, n=count, trials=table.trials, reason=reason), *names)
    plain = _compare(table, table.means[:, best], table.means[:, worst], level)
    low = _cross_fitted_low(table, seed=seed, level=level)
    high = max(value, plain.high if plain.high is not None else 1.0)
    return Spread(Estimate(value=value, low=min(max(0.0, low), value), high=high, n=count, trials=table.trials), *names)


def cluster_halves(clusters: NDArray[np.uint32], generator: np.random.Generator) -> NDArray[np.bool_]:
    """Returns which values belong to the first of two random halves; a cluster is never cut.

    Example:
        >>> half = cluster_halves(np.array([0, 0, 1, 2, 3], dtype=np.uint32), np.random.default_rng(0))
        >>> bool(half[0] == half[1])
        True
    """
    names, codes = np.unique(clusters, return_inverse=True)
    first = generator.permutation(names.size) < names.size // 2
    return first[codes.reshape(-1)]


def _cross_fitted_low(table: FormatTable, *, seed: int, level: float) -> float:
    # the mean of each halving's own bound, not the bound of their mean: averaged first, the differences of an
    # item agree more than they know, and one run in sixteen without any effect would show one
    generator = np.random.default_rng(seed)
    lows = []
    for _ in range(SPLITS):
        first = cluster_halves(table.clusters, generator)
        best, worst = np.zeros((2, len(table.clusters)))
        for here in (first, ~first):
            elsewhere = _column_means(table.means[~here])
            best[here] = table.means[here, np.nanargmax(elsewhere)]
            worst[here] = table.means[here, np.nanargmin(elsewhere)]
        lows.append(_compare(table, best, worst, level).low)
    return float(np.mean([0.0 if low is None else low for low in lows]))


def _compare(table: FormatTable, best: Floats, worst: Floats, level: float) -> Estimate:
    whole = ~(np.isnan(best) | np.isnan(worst))
    per_cell = max(1, round(table.trials / np.isfinite(table.means).sum()))
    return paired_difference(
        np.clip(best[whole], 0, 1),
        np.clip(worst[whole], 0, 1),
        clusters=table.clusters[whole],
        trials=per_cell * int(whole.sum()),
        level=level,
    )


def _column_means(means: Floats) -> Floats:
    filled = np.isfinite(means)
    counts = filled.sum(axis=0)
    sums = np.where(filled, means, 0.0).sum(axis=0)
    return np.divide(sums, counts, out=np.full(means.shape[1], np.nan), where=counts > 0)
