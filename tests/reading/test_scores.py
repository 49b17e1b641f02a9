"""Readings of log-probabilities and likelihoods."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.errors import EngineReplyError
from vqaudit.reading import (
    check_log_probabilities,
    combine_spellings,
    read_option_likelihoods,
    read_scores,
)

NAN, INF = math.nan, math.inf


def test_the_largest_score_wins_and_the_margin_is_kept() -> None:
    got = read_scores([-3.0, -0.5, -0.75], option_ids=["A", "B", "C"])
    assert (got.reading.option_id, got.reading.outcome, got.margin) == ("B", "chosen", 0.25)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([-1.0, -1.0, -2.0], "tie: A, B"),
        ([0.0, 0.0, 0.0], "tie: A, B, C"),
        ([NAN, NAN, NAN], "non-finite score"),
        ([-0.1, NAN, -2.0], "non-finite score"),
        ([-0.1, INF, -2.0], "non-finite score"),
        ([-INF, -INF, -INF], "non-finite score"),
        ([-0.1, None, -2.0], "missing score: B"),
        ([None, -0.1, None], "missing score: A, C"),
        ([None, NAN, -1.0], "missing score: A"),
    ],
)
def test_what_cannot_be_read_is_never_the_first(scores, reason) -> None:
    got = read_scores(scores, option_ids=["A", "B", "C"])
    assert (got.reading.outcome, got.reading.option_id, got.reading.reason) == ("ambiguous", None, reason)
    assert got.margin == (0.0 if reason.startswith("tie") else None)


def test_a_probability_of_zero_may_lose() -> None:
    got = read_scores([-INF, -2.0, -INF], option_ids=["A", "B", "C"])
    assert (got.reading.option_id, got.margin) == ("B", None)
    assert read_scores([-INF, -2.0, -3.0], option_ids=["A", "B", "C"]).margin == 1.0


def test_one_option_has_no_margin_and_none_has_no_reading() -> None:
    assert read_scores([-2.0], option_ids=["A"]).margin is None
    assert read_scores([], option_ids=[]).reading.outcome == "ambiguous"


def test_near_ties_are_told_apart_in_full_precision_only() -> None:
    assert read_scores([10.0, 10.02], option_ids=["A", "B"]).reading.option_id == "B"
    assert read_scores([10.0, 10.0], option_ids=["A", "B"]).reading.outcome == "ambiguous"


def test_as_many_scores_as_ids_are_needed() -> None:
    with pytest.raises(ValueError, match="2 scores for 3"):
        read_scores([-1.0, -2.0], option_ids=["A", "B", "C"])


@given(st.lists(st.floats(-50, 0), min_size=2, max_size=8, unique=True), st.data())
def test_permuted_scores_permute_the_reading(scores, data) -> None:
    ids = [f"x{i}" for i in range(len(scores))]
    order = data.draw(st.permutations(range(len(scores))))
    plain = read_scores(scores, option_ids=ids)
    permuted = read_scores([scores[i] for i in order], option_ids=[ids[i] for i in order])
    assert permuted == plain


@pytest.mark.parametrize("value", [0.5, 1e-5, INF])
def test_a_positive_log_likelihood_is_a_loss(value) -> None:
    with pytest.raises(EngineReplyError, match="is this a loss"):
        check_log_probabilities([-0.1, value])
    with pytest.raises(EngineReplyError, match="is this a loss"):
        read_option_likelihoods([-0.1, value], [1, 1], option_ids=["A", "B"])


def test_rounding_above_zero_passes() -> None:
    check_log_probabilities([0.0, 1e-7, NAN, -INF])


def test_the_rule_decides_between_short_and_long_options() -> None:
    sums, tokens = [-1.4, -3.6, -9.0], [1, 4, 3]
    mean = read_option_likelihoods(sums, tokens, option_ids=["A", "B", "C"])
    assert (mean.reading.option_id, mean.margin) == ("B", pytest.approx(0.5))
    total = read_option_likelihoods(sums, tokens, option_ids=["A", "B", "C"], rule="sum")
    assert (total.reading.option_id, total.margin) == ("A", pytest.approx(2.2))


def test_a_likelihood_over_no_token_is_refused() -> None:
    with pytest.raises(EngineReplyError, match="'B' runs over 0 tokens"):
        read_option_likelihoods([-0.7, 0.0], [1, 0], option_ids=["A", "B"])


def test_a_missing_likelihood_is_no_answer() -> None:
    got = read_option_likelihoods([-0.7, None], [1, 0], option_ids=["A", "B"])
    assert got.reading.reason == "missing score: B"


def test_wrong_arguments_of_likelihoods_are_refused() -> None:
    with pytest.raises(ValueError, match="median"):
        read_option_likelihoods([-1.0], [1], option_ids=["A"], rule="median")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="token counts"):
        read_option_likelihoods([-1.0], [1, 2], option_ids=["A"])


def test_spellings_with_a_blank_are_added_up() -> None:
    top = [("A", math.log(0.2)), (" A", math.log(0.25)), ("B", math.log(0.4)), (" B", math.log(0.01))]
    combined = combine_spellings(top, option_ids=["A", "B"])
    assert math.exp(combined.scores["A"]) == pytest.approx(0.45)
    assert math.exp(combined.scores["B"]) == pytest.approx(0.41)
    got = read_scores([combined.scores["A"], combined.scores["B"]], option_ids=["A", "B"])
    assert got.reading.option_id == "A"


def test_neither_case_nor_look_alikes_are_folded() -> None:
    top = [("A", -0.02), ("B", -4.5), (" A", -15.0), ("a", -17.0), ("А", -19.0), ("Ａ", -20.0), ("A.", -21.0)]
    combined = combine_spellings(top, option_ids=["A", "B", "C"])
    assert combined.scores["A"] == pytest.approx(-0.02, abs=1e-6)
    assert combined.scores["B"] == -4.5
    assert combined.scores["C"] is None
    assert (combined.bound, combined.ignored) == (-21.0, 0)


def test_sentinels_and_entries_without_text_or_number_are_ignored() -> None:
    top = [("B", -0.4), ("A", -1.25), ("", -9999.0), ("C", -9999.0), ("", -0.2), ("D", NAN), ("D", None)]
    combined = combine_spellings(top, option_ids=list("ABCD"))
    assert (combined.scores["C"], combined.scores["D"]) == (None, None)
    assert (combined.bound, combined.ignored) == (-1.25, 5)


def test_a_token_that_is_listed_twice_counts_once() -> None:
    assert combine_spellings([("A", -0.5), ("A", -0.5)], option_ids=["A"]).scores["A"] == pytest.approx(-0.5)


def test_rounded_probabilities_never_add_up_to_more_than_one() -> None:
    assert combine_spellings([("A", 0.0), (" A", -3.0)], option_ids=["A"]).scores["A"] == 0.0


def test_an_empty_list_has_no_bound_and_a_positive_entry_is_refused() -> None:
    assert combine_spellings([], option_ids=["A"]).bound is None
    with pytest.raises(EngineReplyError):
        combine_spellings([("A", 0.3)], option_ids=["A"])


def test_ids_of_several_characters_are_whole_tokens() -> None:
    combined = combine_spellings([("1", -0.5), (" 12", -1.5), ("2", -2.5)], option_ids=["1", "2", "12"])
    assert [combined.scores[i] for i in ("1", "2", "12")] == [-0.5, -2.5, -1.5]


def test_an_id_that_is_only_bounded_may_lose_but_never_wins() -> None:
    shown = ["A", "B", "C"]
    found = read_scores([-0.4, -2.0, None], option_ids=shown, bound=-1.5)
    assert found.reading.option_id == "A"
    assert found.reading.reason == "largest score; bounded only: C"
    assert found.margin == pytest.approx(1.1)
    near = read_scores([-0.4, -2.0, None], option_ids=shown, bound=-0.4)
    assert near.reading.outcome == "ambiguous"
    assert "C may be as likely as A" in near.reading.reason
    assert read_scores([-0.4, None, None], option_ids=shown, bound=-3.0).margin == pytest.approx(2.6)
    assert read_scores([None, None, None], option_ids=shown, bound=-3.0).reading.outcome == "ambiguous"
    assert read_scores([-0.4, -0.4, None], option_ids=shown, bound=-3.0).reading.reason == "tie: A, B"
    assert read_scores([-0.4, math.nan, None], option_ids=shown, bound=-3.0).reading.outcome == "ambiguous"
