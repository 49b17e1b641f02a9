"""A figure with its interval, its n and, where it cannot be told, the reason.

Knows means and paired differences of values in [0, 1], clustered. Knows no trial and no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vqaudit.analysis.intervals import Bounds, Difference, Floats, difference_bounds, mean_bounds
from vqaudit.errors import AnalysisError

__all__ = [
    "ONE_CLUSTER",
    "Estimate",
    "PairedEstimate",
    "difference_within",
    "mean_estimate",
    "mean_of_totals",
    "mean_within",
    "paired_difference",
]

ONE_CLUSTER = "an interval needs at least two independent items"


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """One figure of a summary.

    Example:
        >>> print(mean_estimate([1, 1, 0, 1], clusters=[0, 1, 2, 3]))
        75.0 % [30.1, 95.4] (n = 4)
        >>> mean_estimate([], clusters=[]).to_dict()
        {'value': None, 'low': None, 'high': None, 'n': 0, 'trials': 0, 'reason': 'no data'}
    """

    value: float | None
    """None where there is no data: never 0.0 in its place."""
    low: float | None = None
    """Lower bound of the 95 % interval; None below two independent items."""
    high: float | None = None
    n: int = 0
    """Independent items: clusters of items that depend on one another count once."""
    trials: int = 0
    """Trials behind the figure."""
    reason: str | None = None
    """Why there is no value, or no interval."""
    standard_error: float | None = None
    """None below two independent items, and where all values agree: 0 would look like certainty."""

    @classmethod
    def unknown(cls, reason: str, *, trials: int = 0) -> Estimate:
        """Returns the figure that cannot be told."""
        return cls(value=None, trials=trials, reason=reason)

    def to_dict(self) -> dict[str, Any]:
        """Returns what `summary.json` keeps: value, low, high, n, trials, and the reason where there is one."""
        kept = {"value": self.value, "low": self.low, "high": self.high, "n": self.n, "trials": self.trials}
        return kept if self.reason is None else kept | {"reason": self.reason}

    def __str__(self) -> str:
        if self.value is None:
            return f"unknown ({self.reason})"
        if self.low is None or self.high is None:
            return f"{100 * self.value:.1f} % (n = {self.n})"
        return f"{100 * self.value:.1f} % [{100 * self.low:.1f}, {100 * self.high:.1f}] (n = {self.n})"


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedEstimate(Estimate):
    """A mean of paired differences, in [-1, 1]."""

    p_value: float | None = None
    """Two-sided, of no difference; agrees with the interval: below 0.05 where that excludes 0."""


def mean_estimate(
    values: ArrayLike,
    *,
    clusters: ArrayLike | Sequence[Any],
    weights: ArrayLike | None = None,
    trials: int | None = None,
    level: float = 0.95,
) -> Estimate:
    """Returns a weighted mean with an interval that respects clusters, stays in [0, 1] and is never of zero width.

    Independent yes-or-no values get Wilson's interval exactly; what clusters change is told at
    `intervals.mean_bounds`.

    Args:
        values: In [0, 1]: yes-or-no, or means of several trials.
        clusters: Label of each value's cluster; values of one cluster depend on one another.
        weights: Positive; equal where None.
        trials: How many yes-or-no trials the values were made of; their number where None.
        level: Confidence level.

    Raises:
        AnalysisError: A value outside [0, 1], a weight that is not positive, or lengths that differ.

    Example:
        >>> found = mean_estimate([0] * 40, clusters=range(40))
        >>> found.value, found.low, round(found.high, 4), found.n
        (0.0, 0.0, 0.0876, 40)
    """
    numbers = _numbers(values, "values", low=0.0)
    heft = np.ones_like(numbers) if weights is None else _numbers(weights, "weights", low=0.0, high=np.inf)
    if (heft <= 0).any():
        raise AnalysisError("weights must be positive; leave out what does not count")
    codes, count = _codes(clusters, numbers.size)
    if heft.size != numbers.size:
        raise AnalysisError(f"{numbers.size} values have {heft.size} weights; each value needs one")
    return mean_of_totals(
        _sums(codes, heft, count),
        _sums(codes, heft * numbers, count),
        trials=numbers.size if trials is None else trials,
        level=level,
    )


def mean_of_totals(weights: Floats, totals: Floats, *, trials: int, level: float = 0.95) -> Estimate:
    """Returns the same as `mean_estimate` from the sums of weight and of weight x value in each cluster."""
    if not weights.size:
        return Estimate.unknown("no data")
    if weights.size < 2:
        value = float(totals[0] / weights[0])
        return Estimate(value=value, n=1, trials=trials, reason=ONE_CLUSTER)
    return mean_within(mean_bounds(weights, totals, trials=trials, level=level), n=weights.size, trials=trials)


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    clusters: ArrayLike | Sequence[Any],
    trials: int | None = None,
    level: float = 0.95,
) -> PairedEstimate:
    """Returns the mean of `a - b`, paired item by item, with an interval that is never of zero width.

    Independent yes-or-no pairs get the interval of Bonett & Price (2012) exactly; what clusters and means of
    several trials change is told at `intervals.difference_bounds`.

    Args:
        a: In [0, 1], one value per item.
        b: The same items in the same order.
        clusters: Label of each item's cluster.
        trials: How many pairs of yes-or-no trials the values were made of; their number where None.
        level: Confidence level.

    Raises:
        AnalysisError: A value outside [0, 1], or lengths that differ.

    Example:
        >>> gap = paired_difference([1, 1, 1, 0], [1, 0, 0, 0], clusters=[0, 1, 2, 3])
        >>> gap.value, gap.low < 0 < gap.high
        (0.5, True)
    """
    first, second = _numbers(a, "values", low=0.0), _numbers(b, "values", low=0.0)
    if first.size != second.size:
        raise AnalysisError(f"{first.size} values cannot be paired with {second.size}")
    codes, count = _codes(clusters, first.size)
    pairs = first.size if trials is None else trials
    if count == 0:
        return PairedEstimate(value=None, reason="no data")
    differences = first - second
    if count < 2:
        return PairedEstimate(value=float(differences.mean()), n=1, trials=pairs, reason=ONE_CLUSTER)
    sizes = _sums(codes, np.ones_like(differences), count)
    totals = _sums(codes, differences, count)
    found = difference_bounds(sizes, totals, trials=pairs, level=level)
    return difference_within(found, n=count, trials=pairs)


def mean_within(bounds: Bounds, *, n: int, trials: int) -> Estimate:
    """Returns a mean with bounds that are known."""
    low, high, error = bounds.low, bounds.high, bounds.standard_error
    return Estimate(value=bounds.value, low=low, high=high, n=n, trials=trials, standard_error=error)


def difference_within(bounds: Difference, *, n: int, trials: int) -> PairedEstimate:
    """Returns a mean difference with bounds that are known."""
    return PairedEstimate(
        value=bounds.value,
        low=bounds.low,
        high=bounds.high,
        n=n,
        trials=trials,
        standard_error=bounds.standard_error,
        p_value=bounds.p_value,
    )


def _numbers(values: ArrayLike, name: str, *, low: float, high: float = 1.0) -> Floats:
    numbers = np.asarray(values, dtype=float).reshape(-1)
    wrong = ~((numbers >= low - 1e-12) & (numbers <= high + 1e-12))
    if wrong.any():
        raise AnalysisError(f"{name} must lie in [{low:g}, {high:g}], not {float(numbers[wrong][0])!r}")
    return np.clip(numbers, low, high)


def _codes(clusters: ArrayLike | Sequence[Any], count: int) -> tuple[NDArray[np.intp], int]:
    labels = np.asarray(clusters).reshape(-1)
    if labels.size != count:
        raise AnalysisError(f"{count} values have {labels.size} cluster labels; each value needs one")
    if labels.dtype.kind == "u" and count and int(labels.max()) <= 10 * count:
        # the numbers that a table already gave its clusters need no sorting
        present = np.bincount(labels) > 0
        return (np.cumsum(present) - 1)[labels], int(present.sum())
    names, codes = np.unique(labels, return_inverse=True)
    return codes.reshape(-1), names.size


def _sums(codes: NDArray[np.intp], values: Floats, count: int) -> Floats:
    return np.bincount(codes, values, count).astype(np.float64)
