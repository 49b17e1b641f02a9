"""Intervals of a difference of two scores and of its parts: items are sampled, clusters count once.

Knows numbers per item. Knows no cause.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import sqrt

import numpy as np

from vqaudit.analysis.diff_matching import Matching
from vqaudit.analysis.diff_sides import Side
from vqaudit.analysis.estimates import ONE_CLUSTER, Estimate, paired_difference
from vqaudit.analysis.intervals import normal_quantile

__all__ = ["part_figure", "score_difference"]

_NOTHING = "no item adds anything here"
_NOTHING_VARIES = "all items of a run score alike, so that nothing tells how far other items would move it"


def part_figure(values: Sequence[float], *, clusters: Sequence[str]) -> Estimate:
    """Returns the mean of what the items add, with its 95 % interval for items like these.

    Args:
        values: One per common item, in [-2, 2]: readings of two runs can part twice.
        clusters: Label of each item's cluster.

    Example:
        >>> part_figure([1.0, 0.0, 0.0, -1.0], clusters=["a", "b", "c", "d"]).value
        0.0
    """
    numbers = np.asarray(values, dtype=float)
    if not numbers.any():
        return Estimate(value=0.0, n=len(set(clusters)), trials=numbers.size, reason=_NOTHING)
    # the interval is made for differences in [-1, 1]
    scale = max(1.0, float(np.abs(numbers).max()))
    found = paired_difference(
        np.clip(numbers / scale, 0.0, 1.0), np.clip(-numbers / scale, 0.0, 1.0), clusters=list(clusters)
    )
    if found.value is None or found.low is None or found.high is None:
        return Estimate(value=float(numbers.mean()), n=found.n, reason=found.reason)
    return Estimate(
        value=float(numbers.mean()),
        low=scale * found.low,
        high=scale * found.high,
        n=found.n,
        trials=numbers.size,
    )


def score_difference(a: Side, b: Side, matching: Matching) -> Estimate:
    """Returns the score of B minus the score of A, with its 95 % interval for items like these.

    Where both hold the same items, they are paired (`estimates.paired_difference`). Else the interval is normal with
    the linearised variance of a difference of two means over partly common clusters: cluster c adds
    `u_c = sum (b_i - S_B) / n_B - sum (a_i - S_A) / n_A`, and the variance is `C / (C - 1) * sum u_c^2` over C
    clusters.
    """
    means_a = {name: a.mean(name) for name in a.items}
    means_b = {name: b.mean(name) for name in b.items}
    score_a, score_b = float(np.mean(list(means_a.values()))), float(np.mean(list(means_b.values())))
    value = score_b - score_a
    if not matching.only_a and not matching.only_b:
        paired = part_figure(
            [means_b[two] - means_a[one] for one, two in matching.pairs],
            clusters=[a.items[one].cluster for one, _ in matching.pairs],
        )
        return Estimate(value=value, low=paired.low, high=paired.high, n=paired.n, reason=paired.reason)
    influence: defaultdict[str, float] = defaultdict(float)
    for name, mean in means_a.items():
        influence[a.items[name].cluster] -= (mean - score_a) / len(means_a)
    of_b = _clusters_of_b(a, b, matching)
    for name, mean in means_b.items():
        influence[of_b[name]] += (mean - score_b) / len(means_b)
    count = len(influence)
    if count < 2:
        return Estimate(value=value, n=count, reason=ONE_CLUSTER)
    error = sqrt(count / (count - 1) * sum(each * each for each in influence.values()))
    if error < 1e-12:
        return Estimate(value=value, n=count, reason=_NOTHING_VARIES)
    half = normal_quantile(0.95) * error
    return Estimate(value=value, low=max(-1.0, value - half), high=min(1.0, value + half), n=count)


def _clusters_of_b(a: Side, b: Side, matching: Matching) -> dict[str, str]:
    """B's items -> their cluster among A's: their counterpart's, else that of a common item of their own cluster."""
    counterpart = {two: a.items[one].cluster for one, two in matching.pairs}
    joined = {b.items[two].cluster: cluster for two, cluster in counterpart.items()}
    own = {name: row.cluster for name, row in b.items.items()}
    return {name: counterpart.get(name, joined.get(label, f"b:{label}")) for name, label in own.items()}
