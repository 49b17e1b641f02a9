"""The linear model's rows: accuracies in percentage points, and which level of which factor each cell has.

Knows the table of cells. Fits nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = ["INTERCEPT", "Regression", "baseline_of", "regression_of"]

INTERCEPT = "Intercept"
PAPER_BASELINE = {"option_ids": "lower", "delimiter": "bracket", "separator": "comma"}
"""The levels that effects are told against (paper 1, Fig. 6)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Regression:
    """One row per cell that is there."""

    outcome: Floats
    """Accuracy in per cent."""
    design: Floats
    """Rows x names: an intercept, then 1 where the cell has the level; baselines have no column."""
    names: tuple[str, ...]
    """`Intercept`, then levels, as keys of results."""
    groups: NDArray[np.intp]
    """Which model on which data set."""
    models: NDArray[np.intp]
    """Which model."""


def baseline_of(table: CellTable, declared: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns, for every factor, the level that effects are told against.

    What is declared goes first, then paper 1's level, then the first level in the file.

    Raises:
        AnalysisError: A declared factor or level is not in the table.
    """
    declared = declared or {}
    for factor, level in declared.items():
        if factor not in table.factors:
            raise AnalysisError(f"{factor!r} is no factor of {table.source}; factors are {', '.join(table.factors)}")
        if level not in table.factors[factor]:
            levels = ", ".join(table.factors[factor])
            raise AnalysisError(f"{level!r} is no level of {factor} in {table.source}; levels are {levels}")
    return {factor: _baseline(factor, levels, declared) for factor, levels in table.factors.items()}


def _baseline(factor: str, levels: tuple[str, ...], declared: Mapping[str, str]) -> str:
    if factor in declared:
        return declared[factor]
    paper = PAPER_BASELINE.get(factor)
    return paper if paper is not None and paper in levels else levels[0]


def regression_of(table: CellTable, baseline: Mapping[str, str]) -> Regression:
    """Returns the rows and columns of `accuracy ~ factors` over the cells that are there.

    Levels without a cell get no column. Rows do not depend on the order of models or data sets in the file.

    Raises:
        AnalysisError: A baseline has no cell, no factor varies, or the levels cannot be told apart.
    """
    dataset, model, format = np.nonzero(table.present)
    names, columns = [INTERCEPT], [np.ones(dataset.size)]
    for factor, levels in table.factors.items():
        if not (table.has_level(factor, baseline[factor])[format]).any():
            raise AnalysisError(f"no cell is left of the baseline {baseline[factor]!r} of {factor}; choose another")
        for level in levels:
            column = table.has_level(factor, level)[format]
            if level != baseline[factor] and column.any():
                names.append(_key(table, factor, level))
                columns.append(column.astype(float))
    design = np.stack(columns, axis=1)
    if len(names) == 1:
        raise AnalysisError("no factor has two levels, so that there is no effect")
    if np.linalg.matrix_rank(design) < len(names):
        raise AnalysisError("the levels of the factors come in the same cells and cannot be told apart")
    return Regression(
        outcome=100 * table.accuracy[dataset, model, format],
        design=design,
        names=tuple(names),
        groups=dataset * len(table.models) + model,
        models=model,
    )


def _key(table: CellTable, factor: str, level: str) -> str:
    """Returns the level, with its factor where two factors have a level of this name."""
    same = sum(level in levels for levels in table.factors.values())
    return level if same == 1 and level != INTERCEPT else f"{factor}:{level}"
