"""What formats do to the ranking of runs: leaders by format, and the two formats that disagree most.

Knows accuracies by format and run. The figures are those of tables of cells: `cells.ranks`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vqaudit.analysis.cells.ranks import Disagreement, Leaders, leaders, most_different_formats
from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.frame import FACTORS
from vqaudit.errors import AnalysisError

__all__ = ["disagreement", "format_leaders"]

_ITEMS = "the common items"


def format_leaders(accuracies: Mapping[str, Mapping[str, float]]) -> Leaders:
    """Returns who is first in each format, and by how much (paper 1, captions of Tabs. 8 to 12).

    Args:
        accuracies: Format -> run -> accuracy in [0, 1]; every run under every format.

    Example:
        >>> format_leaders({"upper/dot/comma": {"a": 0.5, "b": 0.25}}).leads
        {'a': 1}
    """
    return leaders(_cells(accuracies), 0)


def disagreement(accuracies: Mapping[str, Mapping[str, float]]) -> tuple[Disagreement | None, str | None]:
    """Returns the two formats whose rankings agree least (paper 1, Fig. 2), or None and why there are none."""
    try:
        return most_different_formats(_cells(accuracies), 0), None
    except AnalysisError as error:
        return None, str(error)


def _cells(accuracies: Mapping[str, Mapping[str, float]]) -> CellTable:
    formats = tuple(tuple(name.split("/")) for name in accuracies)
    runs = tuple(next(iter(accuracies.values())))
    values = [[[accuracies[name][run] for name in accuracies] for run in runs]]
    levels = {factor: tuple(dict.fromkeys(parts[place] for parts in formats)) for place, factor in enumerate(FACTORS)}
    return CellTable(
        source="runs",
        datasets=(_ITEMS,),
        models=runs,
        factors=levels,
        formats=formats,
        accuracy=np.array(values),
        coverage=None,
    )
