"""Pseudo-gold: a mean over the same formats for all models."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from vqaudit.analysis.cells.accuracy import common_formats, format_accuracies, pseudo_gold, spread
from vqaudit.analysis.cells.agreement import (
    average_ranks,
    competition_ranks,
    pearson,
    spearman,
    spearman_of_competition_ranks,
)

NAN = np.nan


def test_pseudo_gold_is_the_mean_over_formats(random_table) -> None:
    np.testing.assert_allclose(pseudo_gold(random_table), random_table.accuracy.mean(axis=2), atol=1e-15)


def test_models_are_compared_over_the_formats_that_all_have(make_table) -> None:
    table = make_table([[[0.1, 0.2, 0.9], [0.3, 0.4, NAN], [NAN, NAN, NAN]]])
    assert common_formats(table, 0).tolist() == [True, True, False]
    np.testing.assert_allclose(pseudo_gold(table), [[0.15, 0.35, NAN]])
    assert format_accuracies(table, 0).shape == (2, 2)


def test_without_a_common_format_there_is_no_pseudo_gold(make_table) -> None:
    table = make_table([[[0.1, NAN], [NAN, 0.4]]])
    assert np.isnan(pseudo_gold(table)).all()


def test_spread_is_best_minus_worst_and_needs_two_formats(make_table) -> None:
    table = make_table([[[0.1, 0.2, 0.9], [0.3, NAN, NAN], [NAN, NAN, NAN]]])
    np.testing.assert_allclose(spread(table), [[0.8, NAN, NAN]])


accuracies = st.lists(st.integers(0, 8), min_size=3, max_size=8)


@given(st.data())
def test_spearman_is_scipys(data) -> None:
    a = data.draw(accuracies)
    b = data.draw(st.lists(st.integers(0, 8), min_size=len(a), max_size=len(a)))
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert np.isnan(spearman(a, b))
        return
    np.testing.assert_allclose(spearman(a, b), spearmanr(a, b).statistic, atol=1e-12)


def test_competition_ranks_share_the_better_rank_and_change_the_correlation() -> None:
    # two models tie at 2: average ranks 1, 2.5, 2.5, 4; competition ranks 1, 2, 2, 4
    values = [0.9, 0.5, 0.5, 0.1]
    assert average_ranks(values).tolist() == [1.0, 2.5, 2.5, 4.0]
    assert competition_ranks(values).tolist() == [1, 2, 2, 4]
    gold = [0.9, 0.8, 0.1, 0.7]
    assert competition_ranks(gold).tolist() == [1, 2, 4, 3]
    np.testing.assert_allclose(spearman(gold, values), 3.0 / np.sqrt(5 * 4.5))
    np.testing.assert_allclose(spearman_of_competition_ranks(gold, values), 2.5 / np.sqrt(5 * 4.75))


def test_equal_accuracies_tie_whatever_the_sixteenth_digit_says() -> None:
    assert competition_ranks([0.1 + 0.2, 0.3]).tolist() == [1, 1]


def test_a_correlation_over_no_model_is_nan() -> None:
    assert np.isnan(pearson([], []))
