from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from vqaudit.analysis.estimates import Estimate, mean_estimate, mean_of_totals, paired_difference
from vqaudit.errors import AnalysisError


def test_no_data_gives_no_value_never_zero():
    found = mean_estimate([], clusters=[])
    assert found.value is None
    assert found.n == 0
    assert found.to_dict() == {"value": None, "low": None, "high": None, "n": 0, "trials": 0, "reason": "no data"}
    assert paired_difference([], [], clusters=[]).value is None


@pytest.mark.parametrize("values", [[0.5], [1.0, 0.0, 1.0]])
def test_one_cluster_has_neither_interval_nor_standard_error(values):
    found = mean_estimate(values, clusters=["one"] * len(values))
    assert found.value == pytest.approx(np.mean(values))
    assert (found.low, found.high, found.standard_error, found.n) == (None, None, None, 1)
    assert found.reason is not None
    assert "two independent items" in found.reason
    gap = paired_difference(values, [0.0] * len(values), clusters=["one"] * len(values))
    assert (gap.low, gap.high, gap.p_value) == (None, None, None)


@given(st.lists(st.booleans(), min_size=2, max_size=200))
def test_independent_items_get_wilsons_interval(right):
    found = mean_estimate(right, clusters=range(len(right)))
    expected = proportion_confint(sum(right), len(right), method="wilson")
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
    assert found.n == found.trials == len(right)


def test_a_boundary_has_no_standard_error_of_zero():
    assert mean_estimate([1, 1, 1], clusters=[0, 1, 2]).standard_error is None


def test_labels_and_numbers_name_the_same_clusters():
    values = [1, 0, 1, 1, 0, 0]
    named = mean_estimate(values, clusters=["b", "a", "b", "c", "a", "z"])
    numbered = mean_estimate(values, clusters=np.array([1, 0, 1, 2, 0, 9], dtype=np.uint32))
    assert named == numbered
    assert named.n == 4


@given(st.permutations(list(range(12))))
def test_the_order_of_the_values_does_not_matter(order):
    generator = np.random.default_rng(3)
    values, clusters = generator.random(12), generator.integers(0, 5, 12)
    moved = mean_estimate(values[order], clusters=clusters[order])
    still = mean_estimate(values, clusters=clusters)
    assert moved.value == pytest.approx(still.value)
    assert (moved.low, moved.high) == pytest.approx((still.low, still.high))


def test_a_weight_is_a_repetition():
    once = mean_estimate([1.0, 0.0, 1.0], clusters=[0, 1, 2], weights=[3, 1, 2], trials=6)
    repeated = mean_estimate([1, 1, 1, 0, 1, 1], clusters=[0, 0, 0, 1, 2, 2])
    assert once.value == pytest.approx(repeated.value)
    assert (once.low, once.high) == pytest.approx((repeated.low, repeated.high))


def test_sums_give_what_values_give():
    found = mean_of_totals(np.array([2.0, 1.0]), np.array([1.0, 1.0]), trials=3)
    assert found == mean_estimate([1, 0, 1], clusters=[0, 0, 1])


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        ([1.2], {"clusters": [0]}, "must lie in"),
        ([float("nan")], {"clusters": [0]}, "nan"),
        ([1.0, 0.0], {"clusters": [0]}, "1 cluster labels"),
        ([1.0, 0.0], {"clusters": [0, 1], "weights": [1.0]}, "1 weights"),
        ([1.0], {"clusters": [0], "weights": [0.0]}, "positive"),
    ],
)
def test_what_is_no_share_is_refused(values, options, words):
    with pytest.raises(AnalysisError, match=words):
        mean_estimate(values, **options)


def test_pairs_of_different_lengths_are_refused():
    with pytest.raises(AnalysisError, match="cannot be paired"):
        paired_difference([1.0], [1.0, 0.0], clusters=[0])


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(value=0.25, low=0.1, high=0.5, n=8, trials=8), "25.0 % [10.0, 50.0] (n = 8)"),
        (Estimate(value=0.25, n=1, trials=8, reason="one"), "25.0 % (n = 1)"),
        (Estimate.unknown("no grid"), "unknown (no grid)"),
    ],
)
def test_an_estimate_prints_as_one_figure(estimate, text):
    assert str(estimate) == text


def _share_covered(draw, truth, *, repeats=800):
    covered = 0
    for _ in range(repeats):
        found = draw()
        covered += found.low <= truth <= found.high
    return covered / repeats


@pytest.mark.parametrize("truth", [0.03, 0.3, 0.9])
@pytest.mark.parametrize("n", [25, 200])
def test_intervals_of_independent_items_cover(truth, n, rng):
    share = _share_covered(lambda: mean_estimate(rng.random(n) < truth, clusters=np.arange(n, dtype=np.uint32)), truth)
    # Wilson's coverage depends on the lattice of counts; its exact value is the measure
    right = np.arange(n + 1)
    low, high = proportion_confint(right, n, method="wilson")
    exact = stats.binom.pmf(right, n, truth)[(low <= truth) & (truth <= high)].sum()
    assert share == pytest.approx(exact, abs=0.025)


@pytest.mark.parametrize("truth", [0.05, 0.4, 0.9])
@pytest.mark.parametrize("clusters", [20, 150])
@pytest.mark.parametrize("agreement", [0.1, 0.6])
@pytest.mark.parametrize("size", [4, 192])
def test_intervals_of_clustered_trials_cover_and_are_not_needlessly_wide(truth, clusters, agreement, size, rng):
    strength = 1 / agreement - 1
    codes = np.arange(clusters, dtype=np.uint32)
    widths = []

    def draw():
        means = rng.binomial(size, rng.beta(truth * strength, (1 - truth) * strength, clusters)) / size
        found = mean_estimate(means, clusters=codes, trials=size * clusters)
        widths.append(found.high - found.low)
        return found

    share = _share_covered(draw, truth)
    assert 0.915 <= share <= 0.998
    spread = np.sqrt(truth * (1 - truth) * (agreement + (1 - agreement) / size) / clusters)
    assert np.median(widths) < 1.5 * 2 * stats.t.ppf(0.975, clusters - 1) * spread


@pytest.mark.parametrize("gap", [0.0, 0.15])
@pytest.mark.parametrize("clusters", [20, 150])
@pytest.mark.parametrize("size", [1, 48])
def test_intervals_of_paired_differences_cover(gap, clusters, size, rng):
    codes = np.arange(clusters, dtype=np.uint32)
    widths = []

    def draw():
        ease = rng.uniform(0.0, 0.8, clusters)
        a, b = rng.binomial(size, ease + gap) / size, rng.binomial(size, ease) / size
        found = paired_difference(a, b, clusters=codes, trials=size * clusters)
        widths.append(found.high - found.low)
        return found

    assert 0.92 <= _share_covered(draw, gap) <= 0.999
    ease = np.linspace(0.0, 0.8, 1000)
    spread = np.sqrt(np.mean((ease + gap) * (1 - ease - gap) + ease * (1 - ease)) / size / clusters)
    assert np.median(widths) < 1.6 * 2 * 1.96 * spread
