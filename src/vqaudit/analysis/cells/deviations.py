"""Factor levels of a table of cells: deviations from the mean, coverage, and both without badly covered cells.

Knows the table of cells. Source: paper 1, Figs. 4, 5, 9 and 15.
"""

from __future__ import annotations

import numpy as np

from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = ["MIN_COVERAGE", "covered", "level_deviations", "level_means", "value_range"]

MIN_COVERAGE = 0.75
"""Cells below are left out of coverage-neutral figures (paper 1, App. C.3)."""


def level_means(values: Floats, table: CellTable, factor: str) -> Floats:
    """Returns data sets x models x levels: the mean of the cells that have the level; NaN where none has.

    Source: paper 1, Figs. 5 and 9 for coverage: a mean of 12 cells for option IDs and delimiter, 16 for separator.

    Args:
        values: Accuracy or coverage, shaped as the table's; NaN = missing.
        table: Where the levels stand.
        factor: Whose levels.
    """
    means = []
    for level in table.factors[factor]:
        means.append(_mean(values[:, :, table.has_level(factor, level)]))
    return np.stack(means, axis=-1)


def level_deviations(table: CellTable, factor: str) -> Floats:
    """Returns data sets x models x levels: the level's mean accuracy minus the model's mean on the data set.

    Source: paper 1, Fig. 4 ("average deviation from the mean accuracy across all prompt formats per model-dataset
    pair"). Both means run over the cells that the table holds.

    Returns:
        In [-1, 1]; NaN where no cell has the level.

    Example:
        >>> table = CellTable(
        ...     source="own.csv",
        ...     datasets=("d",),
        ...     models=("m",),
        ...     factors={"delimiter": ("dot", "colon")},
        ...     formats=(("dot",), ("colon",)),
        ...     accuracy=np.array([[[0.5, 0.75]]]),
        ...     coverage=None,
        ... )
        >>> level_deviations(table, "delimiter").tolist()
        [[[-0.125, 0.125]]]
    """
    return level_means(table.accuracy, table, factor) - _mean(table.accuracy)[:, :, None]


def covered(table: CellTable, minimum: float = MIN_COVERAGE) -> CellTable:
    """Returns the table without cells whose coverage is below a minimum or not known.

    Source: paper 1, App. C.3 and Fig. 15 ("coverage below 75 %").

    Args:
        table: With coverage.
        minimum: In [0, 1].

    Raises:
        AnalysisError: The table has no coverage, or the minimum is no share.
    """
    if not 0 <= minimum <= 1:
        raise AnalysisError(f"the least coverage is a share in [0, 1], not {minimum!r}")
    if table.coverage is None:
        raise AnalysisError(f"{table.source} has no column for coverage")
    with np.errstate(invalid="ignore"):
        return table.only(table.coverage >= minimum)


def value_range(values: Floats) -> tuple[float, float] | None:
    """Returns the least and the largest value; None where all are missing.

    Example:
        >>> value_range(np.array([0.5, np.nan, -0.5]))
        (-0.5, 0.5)
    """
    there = values[~np.isnan(values)]
    return (float(there.min()), float(there.max())) if there.size else None


def _mean(values: Floats) -> Floats:
    """Returns the mean over the last axis of what is there; NaN, without a warning, where nothing is."""
    there = ~np.isnan(values)
    counts = there.sum(axis=-1)
    return np.where(counts > 0, np.where(there, values, 0.0).sum(axis=-1) / np.maximum(counts, 1), np.nan)
