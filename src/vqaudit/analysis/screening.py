"""Which formats a second stage should ask in full: the worst and the best that a few draws per format point to.

Knows sums of outcomes by format. Its scores choose formats and are never reported: whoever picks extremes of noisy
cells reads a spread where there is none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.draw_table import DrawTable
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = ["BEST", "WORST", "Chosen", "choose_formats", "extremes", "format_scores"]

WORST = 5
"""Formats that are confirmed because they may be the worst."""
BEST = 3
"""Formats that are confirmed because they may be the best."""
_RIDGE = 1e-6
"""Outcomes' worth of weight that keeps the least squares solvable where a level was never drawn."""
_NEAREST = 0.02
"""Fitted accuracies come no nearer to 0 and 1 than this for the noise: an additive model can leave [0, 1]."""


class Chosen(NamedTuple):
    """Names of formats, each group with its most extreme first."""

    worst: tuple[str, ...]
    best: tuple[str, ...]


def format_scores(sums: Floats, counts: Floats, levels: NDArray[np.intp]) -> Floats:
    """Returns the accuracy to expect of each format: main effects of its levels plus a shrunken rest.

    Empirical Bayes: cell means are drawn towards an additive model of the levels by how little they vary beyond
    sampling (Efron & Morris 1975; method of moments). Takes leading axes.

    Args:
        sums: (..., formats): outcomes right.
        counts: (..., formats): outcomes.
        levels: Formats x factors: number of the level.

    Example:
        >>> levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> format_scores(np.array([9.0, 9.0, 1.0, 1.0]), np.full(4, 10.0), levels).round(2).tolist()
        [0.9, 0.9, 0.1, 0.1]
    """
    design = _dummies(levels)
    gram = np.einsum("fa,...f,fb->...ab", design, counts, design) + _RIDGE * np.eye(design.shape[1])
    effects = np.linalg.solve(gram, np.einsum("fa,...f->...a", design, sums)[..., None])[..., 0]
    fitted = np.einsum("fa,...a->...f", design, effects)
    sizes, seen = np.maximum(counts, 1.0), counts > 0
    means = np.where(seen, sums / sizes, fitted)
    share = np.clip(fitted, _NEAREST, 1 - _NEAREST)
    noise = share * (1 - share) / sizes
    cells = seen.sum(axis=-1, keepdims=True)
    squares = np.where(seen, (means - fitted) ** 2, 0).sum(axis=-1, keepdims=True)
    excess = squares / np.maximum(cells - design.shape[1], 1)
    between = np.maximum(0.0, excess - np.where(seen, noise, 0).sum(axis=-1, keepdims=True) / np.maximum(cells, 1))
    return fitted + between / (between + noise) * (means - fitted)


def extremes(scores: Floats, *, worst: int = WORST, best: int = BEST) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Returns the places of the lowest and of the highest scores, the most extreme first.

    Example:
        >>> low, high = extremes(np.array([0.5, 0.1, 0.9]), worst=1, best=1)
        >>> low.tolist(), high.tolist()
        ([1], [2])
    """
    order = np.argsort(scores, axis=-1, kind="stable")
    return order[..., :worst], order[..., ::-1][..., :best]


def choose_formats(table: DrawTable, *, worst: int = WORST, best: int = BEST) -> Chosen:
    """Returns the formats to confirm, by the draws of a screening stage.

    Raises:
        AnalysisError: There are fewer formats than are to be confirmed.
    """
    if len(table.levels) < worst + best:
        raise AnalysisError(
            f"{len(table.levels)} formats were drawn, fewer than the {worst + best} that a second stage confirms; "
            "ask the grid instead"
        )
    known = np.isfinite(table.values)
    places, size = table.formats[known], len(table.levels)
    sums = np.bincount(places, table.values[known], size).astype(np.float64)
    counts = np.bincount(places, minlength=size).astype(np.float64)
    low, high = extremes(format_scores(sums, counts, table.levels), worst=worst, best=best)
    return Chosen(tuple(_name(table, place) for place in low), tuple(_name(table, place) for place in high))


def _name(table: DrawTable, place: int) -> str:
    return "/".join(names[level] for names, level in zip(table.names, table.levels[place], strict=True))


def _dummies(levels: NDArray[np.intp]) -> Floats:
    """An intercept and all but the first level of every factor."""
    columns = [np.ones(len(levels))]
    for factor in levels.T:
        columns += [(factor == level).astype(np.float64) for level in range(1, int(factor.max()) + 1)]
    return np.stack(columns, axis=1)
