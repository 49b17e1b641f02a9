"""Intervals of figures that are no plain means: a smooth function of sums, replaced by its linear part.

Knows how much each cluster moved a figure. Knows no trial and no table. A figure T of cluster sums is T plus the sum
of its influences, up to terms that vanish faster; influences then stand for the values of a mean (linearised
variables: Binder 1983; Deville 1999), so that the intervals of `intervals` hold for it too.
"""

from __future__ import annotations

from typing import TypeVar

from vqaudit.analysis.estimates import ONE_CLUSTER, Estimate, PairedEstimate, difference_within, mean_within
from vqaudit.analysis.intervals import Bounds, Difference, Floats, difference_bounds, mean_bounds

__all__ = ["linearised_difference", "linearised_mean"]

_Found = TypeVar("_Found", Bounds, Difference)


def linearised_mean(value: float, influences: Floats, sizes: Floats, *, trials: int) -> Estimate:
    """Returns a figure in [0, 1] with its interval.

    Args:
        value: The figure.
        influences: By cluster, how much its sums moved the figure; they add to 0.
        sizes: By cluster, how much it weighs, positive.
        trials: Yes-or-no trials behind the figure.

    Example:
        >>> import numpy as np
        >>> right = np.array([1.0, 1.0, 0.0, 1.0])
        >>> print(linearised_mean(0.75, (right - 0.75) / 4, np.ones(4), trials=4))
        75.0 % [30.1, 95.4] (n = 4)
    """
    if sizes.size < 2:
        return Estimate(value=value, n=sizes.size, trials=trials, reason=ONE_CLUSTER)
    found = mean_bounds(sizes, _totals(value, influences, sizes), trials=trials)
    return mean_within(_around(value, found), n=sizes.size, trials=trials)


def linearised_difference(value: float, influences: Floats, sizes: Floats, *, trials: int) -> PairedEstimate:
    """Returns a figure in [-1, 1], 0 where nothing differs, with its interval and p-value; arguments as above.

    Example:
        >>> import numpy as np
        >>> moved = np.array([1.0, 0.0, 0.0, -1.0, 1.0])
        >>> found = linearised_difference(0.2, (moved - 0.2) / 5, np.ones(5), trials=5)
        >>> found.low < 0 < found.high
        True
    """
    if sizes.size < 2:
        return PairedEstimate(value=value, n=sizes.size, trials=trials, reason=ONE_CLUSTER)
    found = difference_bounds(sizes, _totals(value, influences, sizes), trials=trials)
    return difference_within(_around(value, found), n=sizes.size, trials=trials)


def _around(value: float, found: _Found) -> _Found:
    """The bounds of the linearised mean as those of the figure, which rounding must not leave outside."""
    return found._replace(value=value, low=min(found.low, value), high=max(found.high, value))


def _totals(value: float, influences: Floats, sizes: Floats) -> Floats:
    """Sums of linearised values: their mean is the figure and their variance the figure's."""
    centred = influences - influences.sum() * sizes / sizes.sum()
    return sizes * value + centred * sizes.sum()
