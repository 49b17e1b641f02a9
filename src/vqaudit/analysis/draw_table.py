"""The trials of a randomised design as arrays by item and draw, and the figures that follow for both questions.

Knows the analysis frame and the formulas of `drawn`. Knows no run directory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.designs import MainTrials
from vqaudit.analysis.drawn import (
    FEWEST_PER_STRATUM,
    Drawn,
    Interval,
    Question,
    difference_interval,
    items_variance,
    mean_interval,
    weigh,
    within_item_variance,
    within_stratum_variance,
)
from vqaudit.analysis.estimates import ONE_CLUSTER, Estimate, PairedEstimate
from vqaudit.analysis.frame import FACTORS
from vqaudit.analysis.intervals import Floats

__all__ = ["Both", "DrawTable", "draw_table", "drawn_difference", "drawn_level", "drawn_mean"]

FEWEST_REPEATS = 2
"""Free residuals per stratum that the variance within items needs; below, the conservative variance is taken."""
NO_DRAWS = "no trial tells it"


class Both(NamedTuple):
    """One figure under both questions."""

    items_like_these: Estimate
    this_dataset: Estimate
    conservative: bool
    """Whether the interval of `this_dataset` counts differences between items as if the draw had made them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawTable:
    """Outcomes of a randomised design by item and draw; items without an outcome are left out."""

    values: Floats
    """Items x draws, NaN where there is no outcome."""
    formats: NDArray[np.intp]
    """Number of the format drawn; any number where there is no outcome."""
    levels: NDArray[np.intp]
    """Formats x factors: number of the level."""
    names: tuple[tuple[str, ...], ...]
    """Of the levels of each factor."""
    items: NDArray[np.uint32]
    """Code of each row's item."""
    clusters: NDArray[np.uint32]

    def of_items(self, codes: Iterable[int]) -> DrawTable:
        """Returns the rows of these items, in this order."""
        places = {int(code): row for row, code in enumerate(self.items)}
        rows = np.array([places[int(code)] for code in codes], dtype=np.intp)
        return DrawTable(
            values=self.values[rows],
            formats=self.formats[rows],
            levels=self.levels,
            names=self.names,
            items=self.items[rows],
            clusters=self.clusters[rows],
        )

    def first(self, draws: int) -> DrawTable:
        """Returns the first draws of every item alone: what was known when there were no more."""
        known = np.isfinite(self.values[:, :draws]).any(axis=1)
        return DrawTable(
            values=self.values[known, :draws],
            formats=self.formats[known, :draws],
            levels=self.levels,
            names=self.names,
            items=self.items[known],
            clusters=self.clusters[known],
        )

    def same_draws(self, other: DrawTable) -> bool:
        """Whether both asked the same items in the same formats, wherever both have an outcome."""
        if self.values.shape != other.values.shape or self.names != other.names:
            return False
        both = np.isfinite(self.values) & np.isfinite(other.values)
        return bool((self.levels[self.formats] == other.levels[other.formats])[both].all())


def draw_table(main: MainTrials, value: str = "right") -> DrawTable | None:
    """Returns the outcomes of a randomised design, or None where none is known.

    Args:
        main: Trials of the design `randomised`.
        value: A yes-or-no column of the analysis frame, such as `right` or `covered`.
    """
    kept = main.trials.filter(~pl.col("failed"), pl.col(value).is_not_null(), pl.col("format").is_not_null())
    kept = kept.select("trial_code", "item_code", "cluster_code", *FACTORS, pl.col(value).cast(pl.Float64).alias("_y"))
    places = pl.int_range(pl.len()).over("item").alias("_place")
    rows = main.rows.sort("item", "draw", maintain_order=True).select("trial_code", places)
    rows = rows.join(kept, on="trial_code", how="inner").sort("item_code", "_place")
    if not rows.height:
        return None
    formats = rows.select(pl.col(FACTORS).cast(pl.String)).unique().sort(FACTORS).with_row_index("_format")
    rows = rows.with_columns(pl.col(FACTORS).cast(pl.String)).join(formats, on=FACTORS, maintain_order="left")
    items, lines = np.unique(rows["item_code"].to_numpy(), return_inverse=True)
    draws = rows["_place"].to_numpy()
    shape = (items.size, int(draws.max()) + 1)
    values, drawn = np.full(shape, np.nan), np.zeros(shape, dtype=np.intp)
    values[lines, draws] = rows["_y"].to_numpy()
    drawn[lines, draws] = rows["_format"].to_numpy()
    clusters = np.zeros(items.size, dtype=np.uint32)
    clusters[lines] = rows["cluster_code"].to_numpy()
    coded = [np.unique(formats[factor].to_numpy(), return_inverse=True) for factor in FACTORS]
    return DrawTable(
        values=values,
        formats=drawn,
        levels=np.stack([codes.reshape(-1).astype(np.intp) for _, codes in coded], axis=1),
        names=tuple(tuple(str(name) for name in names) for names, _ in coded),
        items=items,
        clusters=clusters,
    )


def _strata_of(table: DrawTable, values: Floats) -> Drawn:
    """Returns outcomes with the finest strata that they suffice for: formats, ID sets, or all as one.

    Collapsing strata counts what they differ in as variance, so that intervals grow and never shrink (Cochran
    1977, section 5A.12). Which strata are used follows from the number of outcomes alone, never from them.
    """
    known = int(np.isfinite(values).sum())
    clusters = table.clusters.astype(np.intp)
    strata = np.zeros(table.formats.shape, dtype=np.intp)
    for kinds in (table.formats, table.levels[table.formats, 0]):
        names, codes = np.unique(kinds[np.isfinite(values)], return_inverse=True)
        if known >= FEWEST_PER_STRATUM * names.size:
            strata[np.isfinite(values)] = codes.reshape(-1)
            return Drawn(values, strata, names.size, clusters)
    return Drawn(values, strata, 1, clusters)


def drawn_mean(table: DrawTable) -> Both:
    """Returns the mean over items of the item's mean over its draws: the grid accuracy, for both questions.

    Unbiased for the mean over the formats and orders of the grid. *This dataset*: with one draw per item the
    variance within items is not identified and the interval is conservative; with two or more it is estimated.
    """
    drawn = _strata_of(table, table.values)
    weights = weigh(drawn.values, by_item=True)
    within = within_item_variance if _repeated(drawn) else within_stratum_variance
    return _both(drawn, items_variance(drawn, weights), within(drawn, weights), conservative=not _repeated(drawn))


def drawn_level(table: DrawTable, factor: int, level: str) -> Both:
    """Returns the mean over the draws that fell on one level of a factor: every draw counts once.

    *This dataset* is conservative by what an item's chance of not meeting the level spares, about 15 % at most.
    """
    here = table.levels[table.formats, factor] == table.names[factor].index(level)
    values = np.where(here, table.values, np.nan)
    if not np.isfinite(values).any():
        unknown = Estimate.unknown(NO_DRAWS)
        return Both(unknown, unknown, True)
    drawn = _strata_of(table, values)
    weights = weigh(values, by_item=False)
    return _both(drawn, items_variance(drawn, weights), within_stratum_variance(drawn, weights), conservative=True)


def drawn_difference(a: DrawTable, b: DrawTable, *, level: float = 0.95) -> tuple[PairedEstimate, PairedEstimate]:
    """Returns the mean of a minus b under the same draws, for items like these and for this dataset.

    Both tables hold the same items in the same order and the same draws (`DrawTable.same_draws`).
    """
    drawn = _strata_of(a, a.values - b.values)
    weights = weigh(drawn.values, by_item=True)
    within = within_item_variance if _repeated(drawn) else within_stratum_variance
    return _paired(drawn, items_variance(drawn, weights), level), _paired(drawn, within(drawn, weights), level)


def _repeated(drawn: Drawn) -> bool:
    """Whether items were asked often enough for the variance within items (`FEWEST_REPEATS`)."""
    known = np.isfinite(drawn.values)
    free = int(known.sum() - known.any(axis=1).sum()) - (drawn.strata_count - 1)
    return free >= FEWEST_REPEATS * drawn.strata_count


def _both(drawn: Drawn, items: Question, within: Question, *, conservative: bool) -> Both:
    return Both(_estimate(drawn, items), _estimate(drawn, within), conservative)


def _sizes(drawn: Drawn) -> tuple[int, int]:
    """Independent items and trials."""
    known = np.isfinite(drawn.values)
    return np.unique(drawn.clusters[known.any(axis=1)]).size, int(known.sum())


def _estimate(drawn: Drawn, question: Question) -> Estimate:
    clusters, trials = _sizes(drawn)
    value = float(np.clip(question.value, 0.0, 1.0))
    if clusters < 2:
        return Estimate(value=value, n=clusters, trials=trials, reason=ONE_CLUSTER)
    found: Interval = mean_interval(question)
    return Estimate(
        value=value,
        low=min(value, float(found.low)),
        high=max(value, float(found.high)),
        n=clusters,
        trials=trials,
        standard_error=_error(found),
    )


def _paired(drawn: Drawn, question: Question, level: float) -> PairedEstimate:
    clusters, trials = _sizes(drawn)
    value = float(question.value)
    if clusters < 2:
        return PairedEstimate(value=value, n=clusters, trials=trials, reason=ONE_CLUSTER)
    found = difference_interval(question, level=level)
    return PairedEstimate(
        value=value,
        low=min(value, float(found.low)),
        high=max(value, float(found.high)),
        n=clusters,
        trials=trials,
        standard_error=_error(found),
        p_value=float(found.p_value),
    )


def _error(found: Interval) -> float | None:
    error = float(found.standard_error)
    return error if error > 0 else None
