from __future__ import annotations

import numpy as np
import pytest

from vqaudit.analysis.estimates import mean_estimate, paired_difference
from vqaudit.analysis.linearised import linearised_difference, linearised_mean


def test_the_linear_part_of_a_mean_gives_the_interval_of_the_mean(rng):
    clusters = rng.integers(0, 30, 120)
    values = rng.integers(0, 2, 120).astype(float)
    plain = mean_estimate(values, clusters=clusters)
    codes = np.unique(clusters, return_inverse=True)[1]
    moved = np.bincount(codes, values - values.mean()) / values.size
    found = linearised_mean(values.mean(), moved, np.bincount(codes).astype(float), trials=120)
    assert (found.value, found.low, found.high) == pytest.approx((plain.value, plain.low, plain.high))
    assert found.standard_error == pytest.approx(plain.standard_error)


def test_the_linear_part_of_a_difference_gives_the_interval_of_the_difference(rng):
    a, b = rng.integers(0, 2, (2, 50)).astype(float)
    plain = paired_difference(a, b, clusters=np.arange(50))
    gap = a - b
    found = linearised_difference(gap.mean(), (gap - gap.mean()) / 50, np.ones(50), trials=50)
    assert (found.low, found.high, found.p_value) == pytest.approx((plain.low, plain.high, plain.p_value))


def test_intervals_of_figures_that_nothing_moved_have_a_width():
    nothing = np.zeros(20)
    perfect = linearised_mean(1.0, nothing, np.ones(20), trials=20)
    assert perfect.low < 1 == perfect.high
    alike = linearised_difference(0.0, nothing, np.ones(20), trials=20)
    assert alike.low < 0 < alike.high


@pytest.mark.parametrize("make", [linearised_mean, linearised_difference])
def test_one_cluster_has_no_interval(make):
    found = make(0.5, np.zeros(1), np.ones(1), trials=4)
    assert (found.value, found.low, found.n) == (0.5, None, 1)
    assert "two independent items" in found.reason
