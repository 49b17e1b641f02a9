"""The worst format and the spread from two stages: formats chosen by a screen, told by fresh draws alone.

Knows items x formats of the second stage. Knows no run directory. What chose a format never enters its figure, and
intervals hold for all confirmed formats at once, so that picking the extreme one of them fools nobody.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from vqaudit.analysis.estimates import Estimate, mean_estimate, paired_difference
from vqaudit.analysis.figures import Row
from vqaudit.analysis.screening import BEST, WORST
from vqaudit.analysis.spread import FormatTable, Spread, format_table

__all__ = [
    "CONFIRM_BEST",
    "CONFIRM_WORST",
    "PASSES",
    "SCREENING_DRAWS",
    "TwoStage",
    "confirmed_spread",
    "extreme_accuracy",
    "fresh_trials",
]

CONFIRM_WORST = "confirm-worst"
CONFIRM_BEST = "confirm-best"
"""Designs of the second stage."""
SCREENING_DRAWS = 2
"""Draws per item that the screen needs for a mean error below 2 pp on the paper's cells; see docs/designs.md."""
PASSES = SCREENING_DRAWS + WORST + BEST
"""Passes over the items that two stages take."""


class TwoStage(Row):
    """How the spread of a two-stage run came about."""

    worst: list[str]
    """Formats that the screen took for the worst, by name."""
    best: list[str]
    screening_trials: int
    confirming_trials: int
    """Fresh ones: trials that the screen had already asked are left out."""
    passes: float
    """Trials of both stages per item."""
    sentence: str


def fresh_trials(trials: pl.DataFrame, screened: pl.DataFrame) -> pl.DataFrame:
    """Returns the done trials of the second stage that the first did not ask."""
    done = trials.filter(~pl.col("failed"), pl.col("right").is_not_null())
    return done.join(screened.select("trial_code"), on="trial_code", how="anti", maintain_order="left")


def confirmed_spread(
    worst_trials: pl.DataFrame, best_trials: pl.DataFrame, *, level: float = 0.95
) -> tuple[Spread, Estimate, Estimate]:
    """Returns the spread among the confirmed formats, the worst accuracy and the best, with simultaneous intervals.

    The spread is at least that of all formats' extremes that the screen found: one that it missed can only widen
    it. Intervals of all pairs (of all formats of a group) hold together by Bonferroni's inequality; the largest
    lower and the largest upper bound then hold for the largest difference.

    Args:
        worst_trials: Fresh trials of formats that may be the worst.
        best_trials: The same of those that may be the best.
        level: Confidence level, for items like these.
    """
    low, high = format_table(worst_trials), format_table(best_trials)
    if not low.formats or not high.formats:
        unknown = Estimate.unknown("no trial of the second stage is done")
        return Spread(unknown, None, None), unknown, unknown
    bottom = int(np.nanargmin(low.accuracies()))
    top = int(np.nanargmax(high.accuracies()))
    pairs = len(low.formats) * len(high.formats)
    share = 1 - (1 - level) / pairs
    found = [_difference(high, a, low, b, share) for a in range(len(high.formats)) for b in range(len(low.formats))]
    value = float(high.accuracies()[top] - low.accuracies()[bottom])
    bounds = [(e.low, e.high) for e in found if e.low is not None and e.high is not None]
    spread = Estimate(value=value, n=found[0].n, trials=low.trials + high.trials, reason=found[0].reason)
    if bounds:
        lows, highs = zip(*bounds, strict=True)
        spread = replace(spread, low=max(0.0, min(max(lows), value)), high=max(*highs, value), reason=None)
    names = high.formats[top], low.formats[bottom]
    worst, best = (extreme_accuracy(table, largest=top, level=level) for table, top in ((low, False), (high, True)))
    return Spread(spread, *names), worst, best


def extreme_accuracy(table: FormatTable, *, largest: bool, level: float = 0.95) -> Estimate:
    """Returns the worst (or best) accuracy of the table's formats, with an interval that holds whichever it is.

    Intervals of the formats hold together by Bonferroni's inequality; the lowest lower and the lowest upper bound
    then hold for the lowest accuracy, the highest ones for the highest.

    Args:
        table: Items x formats; at least one format was asked.
        largest: Whether the best is wanted.
        level: Confidence level, for items like these.

    Example:
        >>> means, codes = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.arange(4, dtype=np.uint32)
        >>> counts = np.array([4, 4])
        >>> table = FormatTable(formats=("a", "b"), means=means, clusters=codes, items=codes, counts=counts)
        >>> print(extreme_accuracy(table, largest=False))
        50.0 % [12.7, 87.3] (n = 4)
    """
    share = 1 - (1 - level) / len(table.formats)
    rows = [_accuracy(table, column, share) for column in range(len(table.formats))]
    told = [row for row in rows if row.value is not None]
    pick = max if largest else min
    found = pick(told, key=lambda row: row.value or 0.0)
    lows = [row.low for row in told if row.low is not None]
    highs = [row.high for row in told if row.high is not None]
    return replace(found, low=pick(lows), high=pick(highs)) if lows and highs else found


def _accuracy(table: FormatTable, column: int, level: float) -> Estimate:
    known = np.isfinite(table.means[:, column])
    return mean_estimate(table.means[known, column], clusters=table.clusters[known], level=level)


def _difference(a: FormatTable, column_a: int, b: FormatTable, column_b: int, level: float) -> Estimate:
    _, rows_a, rows_b = np.intersect1d(a.items, b.items, return_indices=True)
    first, second = a.means[rows_a, column_a], b.means[rows_b, column_b]
    both = np.isfinite(first) & np.isfinite(second)
    return paired_difference(first[both], second[both], clusters=a.clusters[rows_a][both], level=level)
