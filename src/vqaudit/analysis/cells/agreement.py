"""How alike two rankings are: Spearman's correlation with average ranks, and with competition ranks beside it.

Knows vectors of accuracies. Knows no table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from vqaudit.analysis.intervals import Floats

__all__ = ["average_ranks", "competition_ranks", "pearson", "spearman", "spearman_of_competition_ranks"]

_DIGITS = 12
"""Means of equal accuracies may differ in the sixteenth digit; that must not break a tie."""


def average_ranks(values: ArrayLike) -> Floats:
    """Returns ranks along the last axis, 1 for the largest; ties share the mean of their ranks.

    Example:
        >>> average_ranks([0.5, 0.9, 0.5]).tolist()
        [2.5, 1.0, 2.5]
    """
    return rankdata(-np.round(np.asarray(values, dtype=float), _DIGITS), method="average", axis=-1)


def competition_ranks(values: ArrayLike) -> NDArray[np.int64]:
    """Returns ranks along the last axis, 1 for the largest; ties share the better rank, as paper 1 prints them.

    Example:
        >>> competition_ranks([0.5, 0.9, 0.5]).tolist()
        [2, 1, 2]
    """
    ranked = rankdata(-np.round(np.asarray(values, dtype=float), _DIGITS), method="min", axis=-1)
    return np.asarray(ranked, dtype=np.int64)


def pearson(a: ArrayLike, b: ArrayLike) -> Floats:
    """Returns Pearson's correlation along the last axis; NaN where one side does not vary.

    Example:
        >>> pearson([1, 2, 3], [[1, 2, 3], [3, 2, 1], [1, 1, 1]]).round(6).tolist()
        [1.0, -1.0, nan]
    """
    x, y = (_centred(values) for values in (a, b))
    scale = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(scale > 0, np.clip((x * y).sum(axis=-1) / scale, -1.0, 1.0), np.nan)


def spearman(a: ArrayLike, b: ArrayLike) -> Floats:
    """Returns Spearman's rho along the last axis: Pearson's correlation of average ranks (Spearman 1904).

    Args:
        a: Accuracies, one per model.
        b: Accuracies of the same models, or several rows of them.

    Returns:
        In [-1, 1]; NaN where all models of one side tie, or there are fewer than two.

    Example:
        >>> round(float(spearman([0.9, 0.5, 0.1], [0.5, 0.9, 0.1])), 6)
        0.5
    """
    return pearson(average_ranks(a), average_ranks(b))


def spearman_of_competition_ranks(a: ArrayLike, b: ArrayLike) -> Floats:
    """Returns Pearson's correlation of competition ranks: paper 1's "ranking correlation" (Tab. 7).

    It equals Spearman's rho where nothing ties.

    Example:
        >>> a, b = [0.9, 0.5, 0.5, 0.1], [0.9, 0.6, 0.5, 0.1]
        >>> round(float(spearman(a, b)), 3), round(float(spearman_of_competition_ranks(a, b)), 3)
        (0.949, 0.923)
    """
    return pearson(competition_ranks(a), competition_ranks(b))


def _centred(values: ArrayLike) -> Floats:
    numbers = np.asarray(values, dtype=float)
    return numbers - numbers.mean(axis=-1, keepdims=True) if numbers.shape[-1] else numbers
