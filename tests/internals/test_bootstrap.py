"""Intervals cover, respect groups, and have a width."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from vqaudit.internals.bootstrap import bootstrap_mean, over_seeds


def test_it_is_scipys_percentile_interval() -> None:
    values = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], p=[0.1, 0.6, 0.3], size=300)
    found = bootstrap_mean(values, clusters=range(300), seed=1)
    other = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(2)
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.005)
    assert found.standard_error == pytest.approx(values.std() / np.sqrt(300), rel=0.05)


def test_copies_of_an_item_tell_nothing_new() -> None:
    values = np.random.default_rng(1).choice([-1.0, 1.0], size=100)
    alone = bootstrap_mean(values, clusters=range(100), seed=0)
    copied = bootstrap_mean(np.repeat(values, 4), clusters=np.repeat(np.arange(100), 4), seed=0)
    assert (copied.low, copied.high, copied.n) == (alone.low, alone.high, 100)
    assert copied.trials == 400


def test_it_covers_a_known_truth() -> None:
    rng = np.random.default_rng(2)
    hits = 0
    for run in range(200):
        values = rng.choice([-1.0, 0.0, 1.0], p=[0.2, 0.4, 0.4], size=120)
        found = bootstrap_mean(values, clusters=range(120), seed=run, draws=400)
        hits += found.low <= 0.2 <= found.high
    assert 0.89 <= hits / 200 <= 0.99


def test_where_all_agree_there_is_still_a_width() -> None:
    found = bootstrap_mean(np.zeros(50), clusters=range(50), seed=0)
    assert found.value == 0.0
    assert found.low < 0 < found.high
    apart = bootstrap_mean(np.full(50, 1.5), clusters=range(50), seed=0)
    assert (apart.value, apart.low, apart.reason) == (1.5, None, "all agree")


def test_no_data_and_one_group_have_no_interval() -> None:
    assert bootstrap_mean([], clusters=[], seed=0).reason == "no data"
    one = bootstrap_mean([1.0, 0.0], clusters=[0, 0], seed=0)
    assert (one.value, one.low, one.n) == (0.5, None, 1)


def test_seeds_are_averaged_and_their_spread_is_told() -> None:
    table = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0]])
    found = over_seeds(table, clusters=range(4), seed=None)
    assert found.estimate.value == pytest.approx(0.5)
    assert found.seed_sd == pytest.approx(np.std([0.5, 0.25, 0.75], ddof=1))
    assert over_seeds(table[:1], clusters=range(4), seed=None).seed_sd is None
