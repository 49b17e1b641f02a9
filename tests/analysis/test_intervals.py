from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from vqaudit.analysis.intervals import difference_bounds, mean_bounds, normal_quantile, wilson_bounds

CLUSTERS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)), min_size=2, max_size=40)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_quantile_is_the_normal_one(level):
    assert normal_quantile(level) == pytest.approx(stats.norm.ppf((1 + level) / 2))


@pytest.mark.parametrize(("right", "n"), [(0, 40), (40, 40), (1, 7), (13, 50), (500, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_is_that_of_statsmodels(right, n, level):
    expected = proportion_confint(right, n, alpha=1 - level, method="wilson")
    assert wilson_bounds(right / n, n, level=level) == pytest.approx(expected, abs=1e-12)


def test_a_boundary_of_forty_has_the_width_that_wald_denies():
    assert wilson_bounds(0.0, 40) == pytest.approx((0.0, 0.087625), abs=1e-5)
    assert wilson_bounds(1.0, 40) == pytest.approx((0.912375, 1.0), abs=1e-5)


def test_effective_number_follows_the_linearised_variance_where_clusters_are_single_trials():
    generator = np.random.default_rng(1)
    weights = generator.uniform(0.5, 2.0, 300)
    values = generator.integers(0, 2, 300).astype(float)
    found = mean_bounds(weights, weights * values, trials=300)
    share = np.average(values, weights=weights)
    variance = (weights**2 * (values - share) ** 2).sum() / weights.sum() ** 2
    assert found.value == pytest.approx(share)
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    assert found.effective == pytest.approx(share * (1 - share) / variance, rel=1e-3)


def test_clusters_that_agree_count_once():
    together = mean_bounds(np.full(50, 20.0), 20.0 * (np.arange(50) < 20), trials=1000)
    alone = wilson_bounds(0.4, 50)
    assert together.effective <= 50
    assert together.low < alone[0]
    assert together.high > alone[1]


@pytest.mark.parametrize("clusters", [5, 12, 300])
def test_few_clusters_cost_what_the_t_distribution_says(clusters):
    values = np.linspace(0.3, 0.7, clusters)
    trials = 192 * clusters
    found = mean_bounds(np.ones(clusters), values, trials=trials)
    # Korn & Graubard: the effective number, less the ratio of the t quantiles squared, with the unbiased variance
    ratio = stats.t.ppf(0.975, clusters - 1) / stats.t.ppf(0.975, trials - 1)
    robust = 0.25 / (values.var(ddof=1) / clusters) / ratio**2 / (1 - 1 / trials)
    carriers = values.sum() ** 2 / (values**2).sum()
    doubt = 1 / (1 + carriers**2 / 4)
    assert found.effective == pytest.approx(1 / (doubt / clusters + (1 - doubt) / robust))


def test_a_variance_seen_in_one_cluster_is_not_trusted():
    # one item of 100 answered right in a few of its 192 variants: the other items say nothing of how they vary
    totals = np.zeros(100)
    totals[0] = 5
    found = mean_bounds(np.full(100, 192.0), totals, trials=19_200)
    assert found.effective < 200
    assert found.high > 0.02


@given(CLUSTERS)
def test_a_mean_lies_in_its_interval_and_the_interval_in_zero_to_one(clusters):
    weights = np.array([size for _, size in clusters], dtype=float)
    totals = np.array([min(right, size) for right, size in clusters], dtype=float)
    found = mean_bounds(weights, totals, trials=int(weights.sum()))
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0


@given(CLUSTERS)
def test_right_and_wrong_mirror_one_another(clusters):
    weights = np.array([size for _, size in clusters], dtype=float)
    totals = np.array([min(right, size) for right, size in clusters], dtype=float)
    right = mean_bounds(weights, totals, trials=int(weights.sum()))
    wrong = mean_bounds(weights, weights - totals, trials=int(weights.sum()))
    assert (wrong.low, wrong.high) == pytest.approx((1 - right.high, 1 - right.low), abs=1e-9)


@pytest.mark.parametrize(("gained", "lost", "n"), [(0, 0, 20), (7, 2, 30), (12, 0, 12), (0, 5, 100)])
def test_differences_of_single_pairs_are_bonett_and_price(gained, lost, n):
    differences = np.array([1.0] * gained + [-1.0] * lost + [0.0] * (n - gained - lost))
    found = difference_bounds(np.ones(n), differences, trials=n)
    up, down = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    half = stats.norm.ppf(0.975) * math.sqrt((up + down - (up - down) ** 2) / (n + 2))
    assert found.value == pytest.approx((gained - lost) / n)
    assert found.low == pytest.approx(max(-1.0, up - down - half))
    assert found.high == pytest.approx(min(1.0, up - down + half))


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40), st.integers(1, 200))
def test_a_difference_lies_in_its_interval_and_agrees_with_its_p_value(differences, per_item):
    totals = np.array(differences)
    found = difference_bounds(np.ones(totals.size), totals, trials=per_item * totals.size)
    assert -1 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert found.high - found.low > 1e-3
    excludes_zero = found.low > 0 or found.high < 0
    assert excludes_zero == (found.p_value < 0.05) or abs(found.p_value - 0.05) < 1e-9
