"""The formulas behind every interval: sums per cluster in, bounds out.

Knows arithmetic. Knows no trial, no item and no table.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

__all__ = ["Bounds", "Difference", "Floats", "difference_bounds", "mean_bounds", "normal_quantile", "wilson_bounds"]

Floats = NDArray[np.float64]


class Bounds(NamedTuple):
    """A mean in [0, 1] with its interval."""

    value: float
    low: float
    high: float
    effective: float
    """How many independent yes-or-no trials would tell as much."""
    standard_error: float | None
    """None where it would be 0, which looks like certainty and is none."""


class Difference(NamedTuple):
    """A mean difference in [-1, 1] with its interval and the two-sided p-value of no difference."""

    value: float
    low: float
    high: float
    standard_error: float
    p_value: float


def normal_quantile(level: float) -> float:
    """Returns the half-width of a central normal interval in standard errors: 1.96 for 0.95.

    Example:
        >>> round(normal_quantile(0.95), 2)
        1.96
    """
    return float(ndtri((1 + level) / 2))


def wilson_bounds(share: float, effective: float, *, level: float = 0.95) -> tuple[float, float]:
    """Returns Wilson's score interval for a share of `effective` independent trials (Wilson 1927).

    It stays in [0, 1] and has no zero width at 0 or 1.

    Example:
        >>> [round(bound, 4) for bound in wilson_bounds(0.0, 40)]
        [0.0, 0.0876]
    """
    z = normal_quantile(level)
    scale = 1 + z * z / effective
    centre = (share + z * z / (2 * effective)) / scale
    half = z * math.sqrt(share * (1 - share) / effective + (z / (2 * effective)) ** 2) / scale
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return low, high


def _few_clusters(clusters: int, trials: int, level: float) -> float:
    """How much wider an interval must be because its variance is estimated from few clusters.

    The ratio of two t quantiles (Korn & Graubard 1998): exactly 1 where every cluster is one trial, so that
    independent trials keep the plain Wilson or Bonett-Price interval.
    """
    if trials <= clusters:
        return 1.0
    probability = (1 + level) / 2
    return float(stdtrit(clusters - 1, probability) / stdtrit(trials - 1, probability))


def mean_bounds(weights: Floats, totals: Floats, *, trials: int, level: float = 0.95) -> Bounds:
    """Returns a weighted mean of values in [0, 1] with a cluster-robust Wilson interval.

    The variance of the ratio `sum(totals) / sum(weights)` is linearised over clusters; Wilson's interval takes
    the number of independent trials of that variance, `p (1 - p) / variance`, at most `trials`. Two corrections
    leave independent yes-or-no trials exactly Wilson: t instead of normal quantiles where clusters are fewer than
    trials, and, where few clusters hold the rarer outcome, a variance drawn towards that of whole clusters that
    agree (half-way at two such clusters; altogether at a mean of 0 or 1, where nothing is known of the variance).

    Args:
        weights: Sum of weights in each cluster, positive; at least two clusters.
        totals: Sum of weight x value in each cluster.
        trials: How many yes-or-no trials the values were made of.
        level: Confidence level.
    """
    clusters, mass = weights.size, float(weights.sum())
    share = min(1.0, max(0.0, float(totals.sum()) / mass))
    if min(share, 1 - share) < 1e-12:
        share = float(round(share))
        low, high = wilson_bounds(share, clusters, level=level)
        return Bounds(share, low, high, float(clusters), None)
    variance = float(((totals - share * weights) ** 2).sum()) / mass**2
    robust = min(share * (1 - share) / variance if variance > 0 else math.inf, float(trials))
    if trials > clusters:
        correction = (1 - 1 / clusters) / (1 - 1 / trials)
        robust *= correction / _few_clusters(clusters, trials, level) ** 2
    doubt = max(_doubt(totals), _doubt(weights - totals))
    effective = 1 / (doubt / clusters + (1 - doubt) / robust)
    low, high = wilson_bounds(share, effective, level=level)
    return Bounds(share, low, high, effective, math.sqrt(variance) if variance > 0 else None)


def difference_bounds(sizes: Floats, totals: Floats, *, trials: int, level: float = 0.95) -> Difference:
    """Returns a mean of paired differences in [-1, 1] with a cluster-robust Bonett-Price interval.

    Two pseudo-clusters of mean size, one with all differences `+d` and one with `-d`, are added before mean and
    variance are taken. `d` is the largest mean difference that a cluster shows, drawn towards 1 where few
    clusters show any, as in `mean_bounds`. For independent yes-or-no pairs it is 1, and the interval that of
    Bonett & Price (2012) exactly. The quantile is normal, times a ratio of t quantiles where clusters are fewer
    than trials.

    Args:
        sizes: Pairs in each cluster; at least two clusters.
        totals: Sum of differences in each cluster.
        trials: How many pairs of yes-or-no trials the differences were made of.
        level: Confidence level.
    """
    clusters, mean_size = sizes.size, float(sizes.mean())
    doubt = _doubt(np.abs(totals))
    pseudo = mean_size * (doubt + (1 - doubt) * float(np.abs(totals / sizes).max()))
    mass = float(sizes.sum()) + 2 * mean_size
    centre = float(totals.sum()) / mass
    squares = float(((totals - sizes * centre) ** 2).sum())
    squares += (pseudo - mean_size * centre) ** 2 + (pseudo + mean_size * centre) ** 2
    error = math.sqrt(squares) / mass
    widening = _few_clusters(clusters, trials, level)
    half = normal_quantile(level) * widening * error
    p_value = 2 * float(ndtr(-abs(centre) / (error * widening)))
    value = float(totals.sum()) / float(sizes.sum())
    return Difference(value, max(-1.0, centre - half), min(1.0, centre + half), error, p_value)


def _doubt(parts: Floats) -> float:
    """How little is known of a variance that rests on few clusters: 1 for none, 1/2 for two, 0 for many.

    Clusters are counted by what they contribute, so that one large part among small ones counts as about one.
    """
    squares = float((parts**2).sum())
    if squares == 0:
        return 1.0
    carriers = float(parts.sum()) ** 2 / squares
    return 1 / (1 + (carriers / 2) ** 2)
