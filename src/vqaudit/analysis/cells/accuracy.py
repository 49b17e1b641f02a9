"""Pseudo-gold accuracy of models: the mean over formats, and the ranking that it gives (paper 1, Sec. 4.2).

Knows the table of cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.intervals import Floats

__all__ = ["common_formats", "format_accuracies", "present_models", "pseudo_gold", "spread"]


def present_models(table: CellTable, dataset: int) -> NDArray[np.intp]:
    """Returns the models that have any cell on a data set."""
    return np.flatnonzero(table.present[dataset].any(axis=1))


def common_formats(table: CellTable, dataset: int) -> NDArray[np.bool_]:
    """Returns, by format, whether every model that is on the data set at all has it.

    Means over different formats cannot be compared: they differ by the formats as well as by the models.
    """
    return table.present[dataset][present_models(table, dataset)].all(axis=0)


def format_accuracies(table: CellTable, dataset: int) -> Floats:
    """Returns models x formats of a data set, without models and formats that `common_formats` leaves out."""
    return table.accuracy[dataset][present_models(table, dataset)][:, common_formats(table, dataset)]


def pseudo_gold(table: CellTable) -> Floats:
    """Returns data sets x models: the mean accuracy over the formats that all models of the data set have.

    Source: paper 1, Sec. 4.2 and Tab. 7 ("averaging accuracy across all 48 prompt-format variations").

    Returns:
        In [0, 1]; NaN where a model is not on the data set, or its models have no format in common.

    Example:
        >>> table = CellTable(
        ...     source="own.csv",
        ...     datasets=("d",),
        ...     models=("m", "n"),
        ...     factors={"delimiter": ("dot", "colon")},
        ...     formats=(("dot",), ("colon",)),
        ...     accuracy=np.array([[[0.5, 0.7], [0.4, np.nan]]]),
        ...     coverage=None,
        ... )
        >>> pseudo_gold(table).tolist()
        [[0.5, 0.4]]
    """
    gold = np.full(table.accuracy.shape[:2], np.nan)
    for dataset in range(len(table.datasets)):
        values = format_accuracies(table, dataset)
        if values.size:
            gold[dataset, present_models(table, dataset)] = values.mean(axis=1)
    return gold


def spread(table: CellTable) -> Floats:
    """Returns data sets x models: best minus worst format accuracy over the formats that the model has.

    Returns:
        In [0, 1]; NaN with fewer than two formats.
    """
    enough = table.present.sum(axis=2) > 1
    highest = np.where(table.present, table.accuracy, -np.inf).max(axis=2)
    lowest = np.where(table.present, table.accuracy, np.inf).min(axis=2)
    with np.errstate(invalid="ignore"):
        return np.where(enough, highest - lowest, np.nan)
