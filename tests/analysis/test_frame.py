from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vqaudit.analysis.frame import analysis_frame, hidden_interfaces
from vqaudit.errors import AnalysisError


def _scores(*logprobs):
    return [{"option_id": name, "logprob": value} for name, value in zip("ABCD", logprobs, strict=False)]


def _one(builder, **trial):
    run = builder()
    run.add_item("q", answer=2)
    run.add_trial("q", order=(1, 2, 3, 0), **trial)
    return analysis_frame(run.write()).row(0, named=True)


def test_a_right_choice_is_right_wherever_it_stands(builder):
    row = _one(builder, chosen=2)
    assert (row["right"], row["lenient_right"], row["answered"], row["covered"]) == (True, True, True, True)
    assert (row["answer_position"], row["position"], row["n_options"], row["format"]) == (
        1,
        1,
        4,
        "upper/colon/line_break",
    )


@pytest.mark.parametrize("outcome", ["ambiguous", "refused", "empty", "truncated", "unreadable"])
def test_what_is_not_read_is_wrong_and_not_covered(builder, outcome):
    row = _one(builder, outcome=outcome)
    assert (row["right"], row["answered"], row["covered"], row["failed"]) == (False, False, False, False)


def test_a_failed_trial_is_neither_right_nor_wrong(builder):
    row = _one(builder, outcome="failed", error="HTTP 503")
    assert row["failed"]
    assert {row[name] for name in ("right", "lenient_right", "answered", "covered", "longer")} == {None}


def test_bad_input_is_wrong_but_was_never_generated(builder):
    row = _one(builder, outcome="bad_input")
    assert (row["right"], row["covered"], row["longer"]) == (False, None, None)


def test_an_unknown_answer_is_neither_right_nor_wrong(builder):
    run = builder()
    run.add_item("q", answer=None)
    run.add_trial("q", chosen=1)
    row = analysis_frame(run.write()).row(0, named=True)
    assert (row["right"], row["answer_position"], row["answered"], row["covered"]) == (None, None, True, True)


def test_a_reply_that_would_be_an_id_with_more_tokens(builder):
    row = _one(builder, reply=" ", longer_id="B")
    assert (row["covered"], row["longer"], row["reply"]) == (False, True, " ")


@pytest.mark.parametrize(
    ("logprobs", "right"),
    [
        ((-3.0, -0.1, -4.0, -5.0), True),
        ((-0.1, -3.0, -4.0, -5.0), False),
        ((-1.0, -1.0, -4.0, -5.0), False),
        ((-3.0, -0.1, math.nan, -5.0), False),
        ((-math.inf, -0.1, -4.0, -5.0), False),
        ((None, -0.1, None, None), True),
        ((None, None, None, None), None),
        ((), None),
    ],
)
def test_the_highest_score_alone_is_right_never_a_tie_or_a_number_that_is_none(builder, logprobs, right):
    row = _one(builder, reply="x", id_scores=_scores(*logprobs))
    assert row["scored_right"] is right


def test_credit_over_all_possible_answers_is_one_or_none_at_a_tie(builder):
    for logprobs, total in (((-1.0, -2.0, -3.0, -4.0), 1), ((-1.0, -1.0, -3.0, -4.0), 0)):
        run = builder()
        for answer in range(4):
            run.add_item(f"q{answer}", answer=answer)
            run.add_trial(f"q{answer}", reply="x", id_scores=_scores(*logprobs))
        assert analysis_frame(run.write())["scored_right"].sum() == total


def test_a_score_event_has_no_coverage(builder):
    row = _one(builder, interface="direct-scores", event="id-scores", chosen=2)
    assert (row["right"], row["covered"], row["lenient_right"]) == (True, None, None)


def test_one_token_has_a_coverage_and_a_generation_has_none(builder):
    assert _one(builder, interface="forced-token", event="forced-token", chosen=2)["covered"] is True
    assert _one(builder, interface="free-cot", event="generation", chosen=2)["covered"] is None


def test_rows_come_by_item_in_dataset_order(builder):
    run = builder()
    for name in ("z", "a", "m"):
        run.add_item(name)
    for number, name in enumerate("mzaz"):
        run.add_trial(name, name=f"t{number}", order=(number % 4, 1, 2, 3) if number < 1 else (0, 1, 2, 3))
    frame = analysis_frame(run.write())
    assert frame["trial"].to_list() == ["t1", "t3", "t2", "t0"]
    assert frame["trial_code"].to_list() == [0, 1, 2, 3]
    assert frame["item_code"].to_list() == [0, 0, 1, 2]


def test_items_of_one_group_are_one_cluster(builder):
    run = builder()
    for name, cluster in (("a", "one picture"), ("b", "b"), ("c", "one picture")):
        run.add_item(name, cluster=cluster)
        run.add_trial(name)
    codes = analysis_frame(run.write())["cluster_code"].to_list()
    assert codes[0] == codes[2] != codes[1]


def test_equal_orders_and_variants_have_equal_codes(builder, formats):
    run = builder()
    run.add_item("a")
    run.add_item("b")
    run.add_trial("a", fmt=formats[0], order=(0, 1, 2, 3))
    run.add_trial("a", fmt=formats[0], order=(1, 2, 3, 0))
    run.add_trial("a", fmt=formats[1], order=(0, 1, 2, 3))
    run.add_trial("b", fmt=formats[0], order=(0, 1, 2, 3), interface="direct-scores", event="id-scores")
    run.add_trial("b", fmt=formats[0], order=(0, 1, 2, 3), id_order=[3, 2, 1, 0])
    rows = analysis_frame(run.write()).sort("trial")
    orders, variants = rows["order_code"].to_list(), rows["variant_code"].to_list()
    assert orders[0] == orders[2] == orders[3] == orders[4] != orders[1]
    assert variants[0] == variants[3]
    assert len(set(variants)) == 4


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.permutations(list(range(26))), min_size=2, max_size=4, unique_by=tuple))
def test_long_orders_are_told_apart(builder, permutations):
    run = builder()
    run.add_item("q", n_options=26, answer=7)
    for order in (*permutations, permutations[0]):
        run.add_trial("q", order=order)
    frame = analysis_frame(run.write()).sort("trial")
    assert frame["order_code"].n_unique() == len(permutations)
    assert frame["order_code"][0] == frame["order_code"][-1]
    assert frame["answer_position"].to_list() == [order.index(7) for order in (*permutations, permutations[0])]


def test_a_trial_without_its_item_is_named(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q")
    run.add_trial("lost", name="t-lost")
    with pytest.raises(AnalysisError, match=r"'t-lost' with item 'lost'"):
        analysis_frame(run.write())


def test_an_item_twice_is_named(builder):
    run = builder()
    run.add_item("q")
    run.add_item("q")
    with pytest.raises(AnalysisError, match="'q' twice"):
        analysis_frame(run.write())


def test_a_cloze_is_known_by_the_manifest_or_by_its_records(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q", interface="cloze", event="option-likelihood", fmt=None, chosen=0)
    run.add_trial("q", interface="full-string", event="option-likelihood", chosen=0)
    silent = run.write()
    assert hidden_interfaces(silent.manifest, silent.trials) == {"cloze"}
    assert hidden_interfaces(silent.manifest, analysis_frame(silent)) == {"cloze"}
    told = run.write(interfaces={"cloze": {"options_shown": True}, "bare": {"options_shown": False}})
    assert hidden_interfaces(told.manifest, told.trials) == {"bare"}


def test_a_run_without_trials_has_an_empty_frame_of_the_same_columns(builder):
    run = builder()
    run.add_item("q")
    empty = analysis_frame(run.write())
    run.add_trial("q", chosen=0)
    full = analysis_frame(run.write())
    assert empty.height == 0
    assert empty.columns == full.columns


def test_a_retry_replaces_its_failure(builder):
    run = builder()
    for name in ("1", "2"):
        run.add_item(name)
    run.add_trial("1", name="t1", outcome="failed", attempt=0)
    run.add_trial("2", name="t2", chosen=0)
    run.trials.append(run.trials[-1] | {"trial": "t1", "item": "1", "attempt": 1})
    frame = analysis_frame(run.write())
    assert frame.select(pl.len(), pl.col("right").mean()).row(0) == (2, 1.0)


def test_an_id_that_a_server_did_not_list_may_be_the_likeliest(builder):
    def scores(*values):
        return [
            {"option_id": i, "logprob": v, "rank": None, "token_ids": [], "spelling": i, "in_place_logprob": None}
            for i, v in zip("ABCD", values, strict=True)
        ]

    run = builder()
    run.add_item("q")
    how = {"interface": "direct-scores", "event": "id-scores", "chosen": 0}
    run.add_trial("q", name="t1", id_scores=scores(-0.3, -2.0, -3.0, None), id_bound=-4.0, **how)
    run.add_trial("q", name="t2", id_scores=scores(-2.3, -2.9, -3.0, None), id_bound=-1.0, **how)
    run.add_trial("q", name="t3", id_scores=scores(-0.3, -2.0, -3.0, None), **how)
    frame = analysis_frame(run.write()).sort("trial")
    assert frame["scored_right"].to_list() == [True, None, True]  # of the last, 7 % are left for D
