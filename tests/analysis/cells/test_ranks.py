"""Ranks by format, leaders, disagreement, and the recommended format."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from vqaudit.analysis.cells.accuracy import pseudo_gold
from vqaudit.analysis.cells.ranks import leaders, most_different_formats, rank_counts, rank_range
from vqaudit.analysis.cells.recommendation import recommended_format
from vqaudit.errors import AnalysisError

NAN = np.nan


def test_ranks_are_counted_over_formats_and_ties_share_the_better(make_table) -> None:
    table = make_table([[[0.9, 0.5, 0.5], [0.8, 0.5, 0.6], [0.1, 0.7, 0.4]]])
    # ranks by format: 1 2 3, 2 2 1, 2 1 3
    assert rank_counts(table, 0) == {"m0": [1, 2, 0], "m1": [1, 2, 0], "m2": [1, 0, 2]}
    assert rank_range([1, 0, 2]) == (1, 3)


def test_leaders_and_their_gaps(make_table) -> None:
    table = make_table([[[0.9, 0.5, 0.5], [0.8, 0.5, 0.6], [0.1, 0.2, 0.4]]])
    found = leaders(table, 0)
    assert [row.leaders for row in found.formats] == [["m0"], ["m0", "m1"], ["m1"]]
    assert [row.gap_pp for row in found.formats] == pytest.approx([10.0, 0.0, 10.0])
    assert found.leads == {"m0": 2, "m1": 2}
    assert found.gap_range_pp == pytest.approx((0.0, 10.0))


def test_the_two_formats_that_disagree_most_have_the_lowest_correlation(random_table) -> None:
    found = most_different_formats(random_table, 1)
    values = random_table.accuracy[1]
    lowest = min(spearmanr(values[:, i], values[:, j]).statistic for i in range(48) for j in range(i + 1, 48))
    assert found.spearman == pytest.approx(lowest)
    a, b = (random_table.format_names.index(name) for name in (found.a, found.b))
    assert spearmanr(values[:, a], values[:, b]).statistic == pytest.approx(lowest)
    assert found.accuracy_pct["m0"] == pytest.approx((100 * values[0, a], 100 * values[0, b]))


def test_of_equal_disagreements_the_one_with_the_largest_moves_is_told(make_table) -> None:
    table = make_table([[[0.9, 0.49, 0.1], [0.5, 0.5, 0.5]]])
    found = most_different_formats(table, 0)
    assert (found.a, found.b, found.spearman) == ("l0", "l2", -1.0)
    assert found.rank == {"m0": (1, 2), "m1": (2, 1)}


def test_formats_in_which_all_tie_are_passed_over(make_table) -> None:
    table = make_table([[[0.9, 0.5, 0.45], [0.5, 0.5, 0.4]]])
    assert most_different_formats(table, 0).spearman == 1.0
    with pytest.raises(AnalysisError, match="tie"):
        most_different_formats(make_table([[[0.5, 0.5], [0.5, 0.5]]]), 0)


@pytest.mark.parametrize("tell", [rank_counts, leaders, most_different_formats])
def test_what_cannot_be_ranked_says_why(make_table, tell) -> None:
    with pytest.raises(AnalysisError, match="d0 has one model"):
        tell(make_table([[[0.5, 0.6], [NAN, NAN]]]), 0)
    with pytest.raises(AnalysisError, match="no format in common"):
        tell(make_table([[[0.5, NAN], [NAN, 0.6]]]), 0)


def test_the_recommended_format_ranks_as_all_formats_do(make_table) -> None:
    # l1 ranks as the mean does on both data sets; l0 turns the ranking round
    values = [[[0.10, 0.9, 0.80], [0.15, 0.5, 0.40], [0.20, 0.1, 0.05]]] * 2
    table = make_table(values)
    found = recommended_format(table, pseudo_gold(table))
    assert found.mean_spearman == 1.0
    assert found.average_spearman == pytest.approx(1 / 3)
    assert found.chosen_share == 1.0
    assert found.held_out_spearman == 1.0
    # l1 and l2 tie by rank; mean errors are 25/3 + ... : l2 lies nearer to the means 60, 35 and 11.7
    errors = {row.format: row.mean_error_pp for row in found.formats}
    assert errors["l1"] == pytest.approx((30 + 15 + 5 / 3) / 3)
    assert errors["l2"] == pytest.approx((20 + 5 + 20 / 3) / 3)
    assert found.format == "l2"
    assert [row.format for row in found.formats] == ["l2", "l1", "l0"]


def test_held_out_is_judged_where_the_format_was_not_chosen(make_table) -> None:
    good, bad = [0.9, 0.5, 0.1], [0.1, 0.5, 0.9]
    # each data set prefers a format of its own: what the other chooses ranks it the wrong way round
    first = np.stack([good, bad, good], axis=1)
    second = np.stack([bad, good, good], axis=1)
    table = make_table([first, second])
    gold = np.array([good, good])
    found = recommended_format(table, gold)
    assert found.format == "l2"
    assert found.spearman == {"d0": 1.0, "d1": 1.0}
    two = make_table([first[:, :2], second[:, :2]])
    chosen = recommended_format(two, gold)
    assert chosen.held_out == {"d0": "l1", "d1": "l0"}
    assert chosen.held_out_spearman == -1.0
    assert chosen.chosen_share < 0.9


def test_one_data_set_has_a_recommendation_without_its_uncertainty(make_table) -> None:
    table = make_table([[[0.5, 0.7], [0.4, 0.9]]])
    found = recommended_format(table, pseudo_gold(table))
    assert (found.format, found.chosen_share, found.held_out_spearman, found.held_out) == ("l1", None, None, {})


def test_the_same_seed_gives_the_same_share(random_table) -> None:
    gold = pseudo_gold(random_table)
    one, two = (recommended_format(random_table, gold, seed=4).chosen_share for _ in range(2))
    assert one == two


def test_without_two_models_nothing_is_recommended(make_table) -> None:
    table = make_table([[[0.5, 0.7]]])
    with pytest.raises(AnalysisError, match="two models"):
        recommended_format(table, pseudo_gold(table))
    missing = make_table([[[0.5, NAN], [NAN, 0.7]]])
    with pytest.raises(AnalysisError, match="two models"):
        recommended_format(missing, pseudo_gold(missing))
