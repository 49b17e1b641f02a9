from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from vqaudit.analysis.drawn import (
    Drawn,
    Question,
    difference_interval,
    items_variance,
    mean_interval,
    weigh,
    within_item_variance,
    within_stratum_variance,
)
from vqaudit.analysis.intervals import difference_bounds, wilson_bounds

SIZE = 6


def permuted(rng: np.random.Generator, repeats: int, items: int, draws: int, size: int = SIZE) -> np.ndarray:
    order = np.argsort(rng.random((repeats, draws, items // size, size)), axis=-1)
    return order.reshape(repeats, draws, -1).transpose(0, 2, 1)


def drawn(values: np.ndarray, strata: np.ndarray, count: int = SIZE) -> Drawn:
    return Drawn(values, strata, count, np.arange(values.shape[-2]))


@pytest.fixture
def table(rng) -> np.ndarray:
    """Items x formats of fixed outcomes, with item and format effects."""
    ability = rng.normal(0, 1, (60, 1)) + np.linspace(-2, 2, SIZE)
    return (ability + rng.normal(0, 1, (60, SIZE)) > 0).astype(float)


def test_one_draw_in_one_stratum_is_the_sample_variance(rng):
    values = rng.integers(0, 2, (80, 1)).astype(float)
    one = drawn(values, np.zeros((80, 1), dtype=int), 1)
    weights = weigh(values, by_item=True)
    expected = values.var(ddof=1) / 80
    assert items_variance(one, weights).variance == pytest.approx(expected)
    assert within_stratum_variance(one, weights).variance == pytest.approx(expected)


def test_strata_of_equal_size_give_the_variance_of_a_stratified_sample(rng):
    strata = np.repeat(np.arange(SIZE), 10)[:, None]
    values = (rng.random((60, 1)) < np.linspace(0.1, 0.9, SIZE)[strata]).astype(float)
    by_stratum = [values[strata == s].var(ddof=1) / 10 for s in range(SIZE)]
    found = within_stratum_variance(drawn(values, strata), weigh(values, by_item=True))
    # Cochran 1977, eq. 5.7, without the finite population correction
    assert found.variance == pytest.approx(sum(by_stratum) / SIZE**2)


def test_the_variance_within_items_is_that_of_a_two_way_regression(rng):
    strata = permuted(rng, 1, 60, 3)[0]
    values = rng.integers(0, 2, (60, 3)).astype(float)
    values[5, 1] = np.nan
    known = np.isfinite(values)
    items = np.repeat(np.arange(60), 3).reshape(60, 3)
    dummies = np.concatenate([np.eye(60)[items[known]], np.eye(SIZE)[strata[known]][:, 1:]], axis=1)
    fit = sm.OLS(values[known], dummies).fit()
    weights = weigh(values, by_item=True)
    found = within_item_variance(drawn(values, strata), weights)
    # the missing outcome makes the design a little uneven, which adds a little
    assert found.variance == pytest.approx(fit.mse_resid * (weights**2).sum(), rel=1e-3)
    assert found.freedom == fit.df_resid


def test_the_design_variance_is_hoeffdings(rng, table):
    # a permutation's variance is exact: sum of squares of the doubly centred block over size - 1
    strata = permuted(rng, 20_000, 60, 1)
    means = np.take_along_axis(table[None], strata, axis=2).mean(axis=(1, 2))
    exact = 0.0
    for block in table.reshape(10, SIZE, SIZE):
        centred = block - block.mean(0) - block.mean(1)[:, None] + block.mean()
        exact += (centred**2).sum() / (SIZE - 1)
    exact /= 60**2
    assert means.var() == pytest.approx(exact, rel=0.05)
    assert means.mean() == pytest.approx(table.mean(), abs=4 * np.sqrt(exact / 20_000))
    values = np.take_along_axis(table[None], strata[:2000], axis=2)
    conservative = within_stratum_variance(drawn(values, strata[:2000]), weigh(values, by_item=True))
    assert conservative.variance.mean() > exact
    two = permuted(rng, 2000, 60, 2)
    values = np.take_along_axis(table[None], two, axis=2)
    estimated = within_item_variance(drawn(values, two), weigh(values, by_item=True))
    assert estimated.variance.mean() == pytest.approx(exact / 2, rel=0.06)


@pytest.mark.parametrize("draws", [1, 2, 4])
def test_intervals_of_fixed_items_cover_the_full_table(rng, table, draws):
    strata = permuted(rng, 4000, 60, draws)
    values = np.take_along_axis(table[None], strata, axis=2)
    variance = within_item_variance if draws > 1 else within_stratum_variance
    question = variance(drawn(values, strata), weigh(values, by_item=True))
    found = mean_interval(question)
    covered = ((found.low <= table.mean()) & (table.mean() <= found.high)).mean()
    assert covered > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 4000)
    ratio = ((found.high - found.low) / 2).mean() / (1.96 * question.value.std())
    assert ratio < (1.5 if draws == 1 else 1.15)


@pytest.mark.parametrize("size", [1, 3])
def test_intervals_of_sampled_clusters_cover(rng, size):
    repeats, items, draws = 4000, 120, 2
    clusters = np.arange(items) // size
    ability = rng.normal(0, 1, (repeats, items // size))[:, clusters, None]
    strata = permuted(rng, repeats, items, draws)
    effects = np.linspace(-1, 1, SIZE)
    values = (ability + rng.normal(0, 1, strata.shape) + effects[strata] > 0).astype(float)
    truth = stats.norm.cdf(effects / np.sqrt(2)).mean()
    question = items_variance(Drawn(values, strata, SIZE, clusters), weigh(values, by_item=True))
    found = mean_interval(question)
    assert ((found.low <= truth) & (truth <= found.high)).mean() > 0.95 - 3 * np.sqrt(0.95 * 0.05 / repeats)
    assert ((found.high - found.low) / 2).mean() < 1.15 * 1.96 * question.value.std()


def test_paired_differences_cover_under_the_same_draws(rng, table):
    other = np.where(rng.random(table.shape) < 0.2, 1 - table, table)
    truth = (table - other).mean()
    for draws, variance in ((1, within_stratum_variance), (2, within_item_variance)):
        strata = permuted(rng, 4000, 60, draws)
        values = np.take_along_axis((table - other)[None], strata, axis=2)
        found = difference_interval(variance(drawn(values, strata), weigh(values, by_item=True)))
        assert ((found.low <= truth) & (truth <= found.high)).mean() > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 4000)


def test_bounds_are_those_of_the_scalar_formulas():
    none, many = np.array(0.0), np.array(1e9)
    values = np.array([1.0] * 13 + [0.0] * 27)
    variance = np.array(0.325 * 0.675 / 40)
    found = mean_interval(Question(np.array(0.325), variance, np.array(40.0), many, none, none))
    assert (found.low, found.high) == pytest.approx(wilson_bounds(values.mean(), 40), abs=1e-6)
    pairs = np.array([1.0] * 7 + [-1.0] * 2 + [0.0] * 21)
    expected = difference_bounds(np.ones(30), pairs, trials=30)
    # Bonett & Price centre squares on the mean of 32, so that the variance differs by its distance from that of 30
    centre = pairs.sum() / 32
    spread = ((pairs - centre) ** 2).sum() / 30**2
    question = Question(np.array(pairs.mean()), np.array(spread), np.array(30.0), many, none, np.array(1.0))
    got = difference_interval(question)
    assert (got.low, got.high) == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert got.p_value == pytest.approx(expected.p_value, abs=1e-6)


@settings(max_examples=60)
@given(st.integers(2, 12), st.integers(1, 4), st.floats(0, 1), st.integers(0, 10_000))
def test_intervals_lie_in_zero_to_one_hold_the_mean_and_have_a_width(blocks, draws, share, seed):
    rng = np.random.default_rng(seed)
    strata = permuted(rng, 1, blocks * SIZE, draws)[0]
    values = (rng.random(strata.shape) < share).astype(float)
    weights = weigh(values, by_item=True)
    variances = [items_variance, within_stratum_variance, *([within_item_variance] if draws > 1 else [])]
    for variance in variances:
        found = mean_interval(variance(drawn(values, strata), weights))
        assert 0 <= found.low <= values.mean() + 1e-12
        assert values.mean() - 1e-12 <= found.high <= 1
        assert found.high - found.low > 1e-3
        mirrored = mean_interval(variance(drawn(1 - values, strata), weights))
        assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-9)


def test_an_uneven_last_block_adds_what_formats_differ(rng):
    # formats differ and items do not: whatever the last block drew is the whole error
    effects = np.linspace(0.1, 0.9, SIZE)
    means, variances = [], []
    for _ in range(400):
        strata = permuted(rng, 1, 66, 1)[0][:63]
        values = (rng.random(strata.shape) < effects[strata]).astype(float)
        found = within_stratum_variance(drawn(values, strata), weigh(values, by_item=True))
        means.append(float(found.value))
        variances.append(float(found.variance))
    assert np.mean(variances) == pytest.approx(np.var(means), rel=0.25)


def test_leading_axes_are_repeats(rng):
    strata = permuted(rng, 7, 30, 2)
    values = rng.integers(0, 2, strata.shape).astype(float)
    clusters = np.arange(30) // 2
    for variance in (items_variance, within_stratum_variance, within_item_variance):
        together = variance(Drawn(values, strata, SIZE, clusters), weigh(values, by_item=True))
        for place in range(7):
            one = variance(Drawn(values[place], strata[place], SIZE, clusters), weigh(values[place], by_item=True))
            assert together.variance[place] == pytest.approx(float(one.variance))
            assert together.doubt[place] == pytest.approx(float(one.doubt))
