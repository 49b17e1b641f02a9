"""Which format ranks runs as the whole grid does.

Knows accuracies by run, item and format. Knows no run directory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.cells.agreement import spearman
from vqaudit.analysis.intervals import Floats

__all__ = ["Closest", "closest_formats"]

RESAMPLES = 500
"""A share of 0.5 is then known to about 0.02, one standard error."""
_TIE = 1e-12
"""Correlations that differ by less are equal but for rounding."""


class Closest(NamedTuple):
    """How near each format's ranking of the runs is to the grid's."""

    spearman: Floats
    """By format, with average ranks; 0 where a format ranks all runs alike."""
    shares: Floats
    """By format: how often it is nearest when clusters of items are drawn again; ties share."""


def closest_formats(values: Floats, *, clusters: NDArray[np.uint32], seed: int, resamples: int = RESAMPLES) -> Closest:
    """Returns Spearman's correlation of each format's ranking with that of the mean over formats (paper 1, Table 2).

    Args:
        values: Runs x items x formats, in [0, 1]; NaN where a run has no answer, which is left out of its mean.
        clusters: Of the items.
        seed: Of the resamples.
        resamples: How many.

    Example:
        >>> values = np.array([[[0.9, 0.1]], [[0.5, 0.2]], [[0.1, 0.3]]])
        >>> closest_formats(values, clusters=np.zeros(1, dtype=np.uint32), seed=0).spearman.tolist()
        [1.0, -1.0]
    """
    names, codes = np.unique(clusters, return_inverse=True)
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(names.size, np.full(names.size, 1 / names.size), size=resamples)
    weights = drawn[:, codes.reshape(-1)].astype(np.float64)
    found = _agreement(_means(values, weights))
    nearest = found >= found.max(axis=1, keepdims=True) - _TIE
    shares = (nearest / nearest.sum(axis=1, keepdims=True)).mean(axis=0)
    return Closest(_agreement(_means(values, np.ones((1, values.shape[1]))))[0], shares)


def _means(values: Floats, weights: Floats) -> Floats:
    """Repeats x runs x formats: weighted means over the items that have an answer; NaN where none has."""
    known = np.isfinite(values)
    sums = np.einsum("si,rif->srf", weights, np.where(known, values, 0.0))
    return _over(sums, np.einsum("si,rif->srf", weights, known.astype(np.float64)))


def _agreement(means: Floats) -> Floats:
    """Repeats x formats, from repeats x runs x formats: 0 where nothing can be told."""
    grid = _over(np.nansum(means, axis=2), np.isfinite(means).sum(axis=2))
    return np.nan_to_num(spearman(means.swapaxes(1, 2), grid[:, None, :]))


def _over(sums: Floats, counts: Floats | NDArray[np.intp]) -> Floats:
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
