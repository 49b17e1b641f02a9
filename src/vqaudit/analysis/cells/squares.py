"""How much of all variation between cells each term has: shares of the total sum of squares.

Knows a complete crossed table. Where cells are missing the terms overlap, and the shares are not told.
"""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np

from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.figures import Row
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = ["Term", "crossed_terms", "sum_of_squares"]

HIGHER_ORDER = "higher order"
"""What is left after main effects and interactions of two."""


class Term(Row):
    """One term of the decomposition."""

    term: str
    """A factor, two of them as in `model x option_ids`, or `higher order`: all interactions of three and more."""
    share: float
    """Of the total sum of squares, in [0, 1]."""
    df: int
    """Degrees of freedom."""


def sum_of_squares(table: CellTable) -> list[Term]:
    """Returns the share of every main effect and every interaction of two, largest first; they sum to 1.

    Source: the analysis of variance of a balanced crossed design with one value per cell, whose terms are orthogonal
    (Fisher 1925; Searle 1971, ch. 7).

    Raises:
        AnalysisError: Cells are missing, or all accuracies are the same.

    Example:
        >>> table = CellTable(
        ...     source="own.csv",
        ...     datasets=("d",),
        ...     models=("m", "n"),
        ...     factors={"delimiter": ("dot", "colon")},
        ...     formats=(("dot",), ("colon",)),
        ...     accuracy=np.array([[[0.2, 0.4], [0.6, 0.8]]]),
        ...     coverage=None,
        ... )
        >>> [(term.term, round(term.share, 2)) for term in sum_of_squares(table)]
        [('model', 0.8), ('delimiter', 0.2), ('model x delimiter', 0.0)]
    """
    if not table.is_complete:
        missing = table.expected - table.cells
        raise AnalysisError(f"{missing} of {table.expected} cells are missing, so that the terms overlap")
    names = ("dataset", "model", *table.factors)
    sizes = (len(table.datasets), len(table.models), *(len(levels) for levels in table.factors.values()))
    crossed = np.empty(sizes)
    for place, format in enumerate(table.formats):
        at = tuple(levels.index(level) for levels, level in zip(table.factors.values(), format, strict=True))
        crossed[(slice(None), slice(None), *at)] = table.accuracy[:, :, place]
    return crossed_terms(crossed, names)


def crossed_terms(values: Floats, names: tuple[str, ...]) -> list[Term]:
    """Returns the decomposition of an array whose axes are the factors; axes of one level make no term.

    Raises:
        AnalysisError: All values are the same.
    """
    total = float(((values - values.mean()) ** 2).sum())
    if total <= 1e-15 * values.size:
        raise AnalysisError("all cells have the same accuracy: there is nothing to share")
    varying = [axis for axis, size in enumerate(values.shape) if size > 1]
    found = [_term(values, axes, names, total) for size in (1, 2) for axes in combinations(varying, size)]
    found.sort(key=lambda term: -term.share)
    left = values.size - 1 - sum(term.df for term in found)
    if left > 0:
        share = max(0.0, 1.0 - sum(term.share for term in found))
        found.append(Term(term=HIGHER_ORDER, share=share, df=left))
    return found


def _term(values: Floats, axes: tuple[int, ...], names: tuple[str, ...], total: float) -> Term:
    effect = np.zeros([size if axis in axes else 1 for axis, size in enumerate(values.shape)])
    for size in range(len(axes) + 1):
        for kept in combinations(axes, size):
            others = tuple(axis for axis in range(values.ndim) if axis not in kept)
            effect = effect + (-1) ** (len(axes) - size) * values.mean(axis=others, keepdims=True)
    squares = float((effect**2).sum()) * values.size / effect.size
    return Term(
        term=" x ".join(names[axis] for axis in axes),
        share=min(1.0, squares / total),
        df=prod(values.shape[axis] - 1 for axis in axes),
    )
