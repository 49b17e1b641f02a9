"""Paired bootstrap intervals of means over groups of items.

Knows arrays. Knows no probe.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vqaudit.analysis.estimates import Estimate, mean_estimate, paired_difference

__all__ = ["OverSeeds", "bootstrap_mean", "over_seeds"]

DRAWS = 10_000
_CHUNK = 2**22
"""Numbers that are drawn at once."""

Floats = NDArray[np.float64]


class OverSeeds(NamedTuple):
    """A figure that is a mean over seeds."""

    estimate: Estimate
    seed_sd: float | None
    """Standard deviation of the seeds' own figures (n - 1); None for one seed."""


def bootstrap_mean(values: ArrayLike, *, clusters: ArrayLike, seed: int, draws: int = DRAWS) -> Estimate:
    """Returns a mean with a 95 % percentile interval over groups drawn with replacement (Efron 1979).

    Whatever was paired within a row stays paired. Below two groups there is no interval. Where all groups agree, so
    that every draw gives the same mean, the interval is that of `estimates.paired_difference` on values in [-1, 1],
    or None for others: a width of 0 would look like certainty.

    Args:
        values: One per row: a difference of two outcomes of the same trial, for instance.
        clusters: Group of each row.
        seed: Of the draws.
        draws: How many.

    Example:
        >>> found = bootstrap_mean([1, 0, 1, 0] * 25, clusters=range(100), seed=0)
        >>> found.value, 0.39 < found.low < 0.42, found.n
        (0.5, True, 100)
    """
    numbers = np.asarray(values, dtype=float)
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    count = int(codes.max()) + 1 if numbers.size else 0
    if count == 0:
        return Estimate.unknown("no data")
    value = float(numbers.mean())
    if count < 2:
        return Estimate(value=value, n=count, trials=numbers.size, reason="an interval needs two independent items")
    sums, sizes = (np.bincount(codes, heft, count).astype(np.float64) for heft in (numbers, np.ones_like(numbers)))
    means = _resampled(sums, sizes, np.random.default_rng(seed), draws)
    low, high = np.quantile(means, [0.025, 0.975])
    if low == high:
        return _agreeing(numbers, codes)
    return Estimate(
        value=value,
        low=float(low),
        high=float(high),
        n=count,
        trials=numbers.size,
        standard_error=float(means.std(ddof=1)),
    )


def _resampled(sums: Floats, sizes: Floats, rng: np.random.Generator, draws: int) -> Floats:
    count = sums.size
    found = []
    step = max(1, _CHUNK // count)
    for start in range(0, draws, step):
        drawn = rng.integers(count, size=(min(step, draws - start), count))
        found.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return np.concatenate(found)


def _agreeing(values: Floats, codes: NDArray[np.intp]) -> Estimate:
    if np.abs(values).max() > 1:
        return Estimate(value=float(values.mean()), n=int(codes.max()) + 1, trials=values.size, reason="all agree")
    return paired_difference(np.maximum(values, 0), np.maximum(-values, 0), clusters=codes)


def over_seeds(values: ArrayLike, *, clusters: ArrayLike, seed: int | None) -> OverSeeds:
    """Returns the figure of each row averaged over seeds, and how far the seeds are apart.

    Args:
        values: Seeds x rows.
        clusters: Group of each row.
        seed: Of the bootstrap; None for accuracies in [0, 1], which get the interval of `estimates.mean_estimate`.

    Example:
        >>> over_seeds([[1, 0, 1, 1], [1, 0, 0, 1]], clusters=range(4), seed=None).seed_sd
        0.1767766952966369
    """
    table = np.asarray(values, dtype=float)
    mean = table.mean(axis=0)
    spread = float(table.mean(axis=1).std(ddof=1)) if len(table) > 1 else None
    if seed is None:
        return OverSeeds(mean_estimate(mean, clusters=clusters), spread)
    return OverSeeds(bootstrap_mean(mean, clusters=clusters, seed=seed), spread)
