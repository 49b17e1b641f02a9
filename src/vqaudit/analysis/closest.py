"""Which format ranks runs as the whole grid does.

Knows accuracies by run, item and format. Knows no run directory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from vqaudit.analysis.intervals import Floats

__all__ = ["Closest", "closest_formats"]

RESAMPLES = 500


class Closest(NamedTuple):
    """How near each format's ranking of the runs is to the grid's."""

    spearman: Floats
    """By format, with average ranks; 0 where a format ranks all runs alike."""
    shares: Floats
    """By format: how often it is nearest when clusters of items are drawn again; ties share."""


def closest_formats(values: Floats, *, clusters: NDArray[np.uint32], seed: int, resamples: int = RESAMPLES) -> Closest:
    """Returns Spearman's correlation of each format's ranking with that of the mean over formats (paper 1, Table 2).

    Args:
        values: Runs x items x formats, in [0, 1].
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
    means = np.einsum("si,rif->srf", weights / weights.sum(axis=1, keepdims=True), values)
    found = _spearman(means)
    nearest = found >= found.max(axis=1, keepdims=True) - 1e-12
    shares = (nearest / nearest.sum(axis=1, keepdims=True)).mean(axis=0)
    return Closest(_spearman(values.mean(axis=1)[None])[0], shares)


def _spearman(means: Floats) -> Floats:
    """Repeats x formats, from repeats x runs x formats."""
    ranks = rankdata(np.round(means, 12), axis=1)
    grid = rankdata(np.round(means.mean(axis=2), 12), axis=1)[:, :, None]
    a, b = ranks - ranks.mean(axis=1, keepdims=True), grid - grid.mean(axis=1, keepdims=True)
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return np.divide((a * b).sum(axis=1), scale, out=np.zeros_like(scale), where=scale > 0)
