"""Which format to report a model in: the one it does best in, and the one that stands for the grid.

Knows items x formats. Knows no run directory.
"""

from __future__ import annotations

import numpy as np

from vqaudit.analysis.estimates import Estimate, paired_difference
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.spread import FormatTable

__all__ = ["Recommended", "recommend"]


class Recommended(Row):
    """Formats to ask this model in. Each was chosen by these items, so that its own accuracy flatters it."""

    highest: str
    """The format with the highest accuracy."""
    as_good: list[str]
    """All formats that 95 % intervals over all formats at once cannot tell from it, itself included."""
    representative: str | None
    """The format whose accuracy is nearest to the grid's; None where not all formats were asked of all items."""
    distance: Figure | None
    """Accuracy there minus grid accuracy, paired by item, with the interval that holds for all formats at once."""


def recommend(table: FormatTable, *, whole_grid: bool, level: float = 0.95) -> Recommended | None:
    """Returns the formats to recommend, or None where fewer than two were asked.

    Intervals are for items like these, at `1 - (1 - level) / formats` each (Bonferroni), so that they hold for
    whichever format the items made the highest or the nearest.

    Args:
        table: Items x formats.
        whole_grid: Whether the table holds every format; only then is its mean the grid accuracy.
        level: Confidence level.
    """
    accuracies = table.accuracies()
    if accuracies.size < 2 or not np.isfinite(accuracies).all():
        return None
    share = 1 - (1 - level) / accuracies.size
    top = int(accuracies.argmax())
    best = table.means[:, top]
    gaps = [_gap(table, best, table.means[:, column], share) for column in range(accuracies.size)]
    as_good = [name for name, gap in zip(table.formats, gaps, strict=True) if gap.low is None or gap.low <= 0]
    if not whole_grid:
        return Recommended(highest=table.formats[top], as_good=as_good, representative=None, distance=None)
    grid = np.nanmean(table.means, axis=1)
    near = int(np.abs(accuracies - grid.mean()).argmin())
    return Recommended(
        highest=table.formats[top],
        as_good=as_good,
        representative=table.formats[near],
        distance=_gap(table, table.means[:, near], grid, share),
    )


def _gap(table: FormatTable, first: np.ndarray, second: np.ndarray, level: float) -> Estimate:
    both = np.isfinite(first) & np.isfinite(second)
    return paired_difference(
        np.clip(first[both], 0, 1), np.clip(second[both], 0, 1), clusters=table.clusters[both], level=level
    )
