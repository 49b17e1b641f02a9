"""What paper 2 tells of interfaces, each figure against a count by hand or a closed form."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from vqaudit.analysis.designs import planned_trials
from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.interfaces.comparison import compare_interfaces
from vqaudit.analysis.interfaces.details import interface_details
from vqaudit.analysis.interfaces.permutations import permutations
from vqaudit.analysis.interfaces.probabilities import p_right
from vqaudit.analysis.internals import Internals

MANIFEST = {
    name: {"ending": ending, "ending_text": text, "asks": asks, "strength": strength, "place": "user", "event": event}
    | {"aligned": aligned, "options_shown": True, "after_rationale": event == "generation"}
    for name, ending, text, asks, strength, event, aligned in (
        ("bare-scores", "bare", "", "nothing", "none", "id-scores", True),
        ("cot-prefix", "cot", "Let me think step by step.", "reasoning", "explicit", "id-scores", False),
        ("free-cot", "cot", "Let me think step by step.", "reasoning", "explicit", "generation", True),
        ("forced:cot", "cot", "Let me think step by step.", "reasoning", "explicit", "forced-token", False),
    )
}


def _scores(probabilities, ranks=None):
    ranks = ranks or [n + 1 for n in range(len(probabilities))]
    return [
        {"option_id": "ABCDE"[n], "logprob": math.log(p), "rank": r, "token_ids": [n], "spelling": "ABCDE"[n]}
        for n, (p, r) in enumerate(zip(probabilities, ranks, strict=True))
    ]


@pytest.fixture
def run(builder):
    """80 items of 4 options and 20 of 2; the cue sends every second item to position 0."""
    made = builder()
    for number in range(100):
        count = 4 if number < 80 else 2
        place = number % count
        item = made.add_item(f"q{number}", n_options=count, answer=place, images=["x"] if number % 5 else [])
        order = list(range(count))
        lost = number % 2 == 1
        sure = [0.9 / (count - 1) * 0.1] * count
        sure[place] = 0.9
        fallen = [0.05 / count] * count
        fallen[0 if lost else place] = 0.05
        shared = {"order": order, "designs": [("reference", 0)]}
        made.add_trial(
            item, interface="bare-scores", event="id-scores", chosen=place, id_scores=_scores(sure), id_mass=0.98,
            watch_mass=0.001, **shared,
        )  # fmt: skip
        made.add_trial(
            item, interface="cot-prefix", event="id-scores", chosen=0 if lost else place, id_mass=0.07,
            id_scores=_scores(fallen, ranks=[100] * count), watch_mass=0.8, **shared,
        )  # fmt: skip
        made.add_trial(
            item, interface="free-cot", event="generation", chosen=None if number % 10 == 9 else place, **shared
        )
        made.add_trial(
            item, interface="forced:cot", event="forced-token", reply="The", chosen=place if number < 3 else None,
            **shared,
        )  # fmt: skip
    return made


@pytest.fixture
def details(run):
    tables = run.write(interfaces=MANIFEST)
    frame = analysis_frame(tables)
    found = compare_interfaces(frame, interfaces=MANIFEST)
    plan = planned_trials(tables, frame)
    return interface_details(tables, found, frame=frame, plan=plan, internals=Internals()), found, tables, frame


def test_the_baseline_is_papers_direct(details):
    found, rows, _, _ = details
    assert found.baseline == "bare-scores"
    assert rows.rows["cot-prefix"].best_aligned == "bare-scores"


def test_flips_and_where_they_land(details):
    row = next(row for row in details[0].flips if row.after == "cot-prefix")
    # odd numbers: their answers stand at positions 1 and 3 (4 options) or 1 (2 options), never at 0
    assert (row.trials, row.lost, row.gained) == (100, 50, 0)
    assert row.lost_to_first.value == 1.0
    assert row.lost_unanswered.value == 0.0
    free = next(row for row in details[0].flips if row.after == "free-cot")
    assert (free.lost, free.lost_to_first.value, free.lost_unanswered.value) == (10, 0.0, 1.0)


def test_probability_of_the_right_id_and_its_shift_by_position(details):
    rows = details[0].probabilities
    sure4, sure2 = 0.9 / (0.9 + 3 * 0.03), 0.9 / (0.9 + 0.09)
    kept4, kept2 = 0.05 / (0.05 + 3 * 0.0125), 0.05 / (0.05 + 0.025)
    fallen4, fallen2 = 1 - kept4, 1 - kept2
    assert rows["bare-scores"].mean.value == pytest.approx(0.8 * sure4 + 0.2 * sure2)
    assert all(place.shift is None for place in rows["bare-scores"].by_position)
    shift = {place.position: place.shift.value for place in rows["cot-prefix"].by_position}
    assert shift[0] == pytest.approx((20 * (kept4 - sure4) + 10 * (kept2 - sure2)) / 30)
    assert shift[3] == pytest.approx(0.0125 / 0.0875 - sure4)
    assert shift[3] == pytest.approx(fallen4 / 3 - sure4)
    assert shift[1] == pytest.approx((20 * (fallen4 / 3 - sure4) + 10 * (fallen2 - sure2)) / 30)
    histogram = rows["cot-prefix"].histogram
    assert sum(histogram) == 100
    assert histogram[1] == 40  # the lost ones of four options, at 1/7
    assert "free-cot" not in rows


def test_vocabulary_is_not_renormalised(details):
    rows = details[0].vocabulary
    assert rows["bare-scores"].id_mass.value == pytest.approx(0.98)
    assert rows["cot-prefix"].id_mass.value == pytest.approx(0.07)
    assert rows["cot-prefix"].watch_mass.value == pytest.approx(0.8)
    assert (rows["cot-prefix"].rank.mean, rows["cot-prefix"].rank.median) == (100, 100)
    # rank of the right ID = its position + 1
    expected = np.mean([(n % (4 if n < 80 else 2)) + 1 for n in range(100)])
    rank = rows["bare-scores"].rank
    assert rank.mean == pytest.approx(expected)
    assert rank.low < rank.mean < rank.high
    assert (rank.n, rank.trials) == (100, 100)


def test_slices_mark_what_is_too_small_and_count_parse_failures(details):
    rows = {(row.by, row.level, row.interface): row for row in details[0].slices}
    four, two = rows["options", "4", "cot-prefix"], rows["options", "2", "cot-prefix"]
    assert (four.items, four.too_small, two.items, two.too_small) == (80, False, 20, True)
    assert four.accuracy.value == pytest.approx(0.5)
    assert four.below_baseline.value == pytest.approx(0.5)
    assert four.first_position_rate.value == pytest.approx(0.75)
    assert rows["options", "4", "bare-scores"].below_baseline is None
    assert rows["options", "4", "free-cot"].no_answer == 8
    assert {row.level for row in details[0].slices if row.by == "picture"} == {"with picture", "text only"}
    text = rows["picture", "text only", "free-cot"]
    assert (text.items, text.no_answer) == (20, 0)


def test_a_forced_token_differs_from_scores_only_where_it_is_no_id(details):
    (row,) = details[0].agreement
    assert (row.forced, row.scores, row.trials) == ("forced:cot", "cot-prefix", 100)
    assert (row.agree, row.no_id, row.differ) == (2, 97, 1)  # item 1: the scores fell to position 0


def test_endings_beside_each_other(details):
    rows = {row.ending: row for row in details[0].endings}
    assert list(rows) == ["bare", "cot"]
    assert set(rows["cot"].events) == {"id-scores", "generation", "forced-token"}
    assert rows["cot"].scores_below_bare.value == pytest.approx(0.5)
    assert rows["bare"].scores_below_bare is None
    assert rows["cot"].events["generation"].unanswered.value == pytest.approx(0.1)
    assert rows["cot"].probe is None
    assert "vqaudit internals" in details[0].reasons["probe"]


def test_a_probe_is_told_where_one_was_fitted(details):
    _, found, _, frame = details
    probe = Estimate(value=0.79, low=0.7, high=0.86, n=100)
    again = compare_interfaces(frame, interfaces=MANIFEST, probes={"cot-prefix": probe})
    row = again.rows["cot-prefix"]
    assert "free-cot finds 90.0 %" in row.sentence
    assert "a probe of the same hidden state finds 79.0 % [70.0, 86.0]" in row.sentence
    assert "probe" not in found.rows["cot-prefix"].sentence


def test_the_verdict_is_one_sentence_with_its_evidence_and_advice(details):
    row = details[1].rows["cot-prefix"]
    assert row.verdict == "mismatched"
    for part in ("cot-prefix is mismatched", "50.0 pp [", "below bare-scores", "80.0 %", "30.0 %", "7.0 % of the next"):
        assert part in row.sentence
    assert any("rationale:ENDING" in sentence for sentence in row.advice)
    assert any("tokenised" in sentence for sentence in row.advice)
    bare = details[1].rows["bare-scores"]
    assert (bare.sentence, bare.advice) == (None, ())
    assert row.minus_always_first.value == pytest.approx(0.5 - 0.3)
    assert row.watch_mass.value == pytest.approx(0.8)


def test_permutations_by_seed(builder):
    run = builder()
    generator = np.random.default_rng(3)
    seeds: dict[int, list[tuple[bool, bool]]] = {seed: [] for seed in range(5)}
    for number in range(40):
        run.add_item(f"q{number}", answer=0)
        for seed in range(5):
            order = [int(n) for n in generator.permutation(4)]
            chosen = 0 if generator.random() < 0.5 else order[0]
            seeds[seed].append((chosen == 0, chosen == order[0]))
            run.add_trial(
                f"q{number}", interface="cot-prefix", event="id-scores", order=order, chosen=chosen,
                designs=[("permuted", seed)],
            )  # fmt: skip
    tables = run.write()
    frame = analysis_frame(tables)
    (row,) = permutations(frame, planned_trials(tables, frame))
    right, first = (np.array([[pair[k] for pair in seeds[seed]] for seed in range(5)]).mean(axis=1) for k in (0, 1))
    assert row.accuracies == pytest.approx(list(right))
    assert row.first_rates == pytest.approx(list(first))
    assert row.accuracy_sd == pytest.approx(np.std(right, ddof=1))
    assert row.first_rate_sd == pytest.approx(np.std(first, ddof=1))
    assert row.accuracy.value == pytest.approx(right.mean())
    assert row.excess.value == pytest.approx(first.mean() - row.answer_first_rate.value)


def test_an_order_that_two_seeds_share_counts_for_both(builder):
    run = builder()
    for number in range(6):
        run.add_item(f"q{number}", n_options=2, answer=0)
        run.add_trial(f"q{number}", order=[0, 1], chosen=0, designs=[("permuted", 0), ("permuted", 1)])
    tables = run.write()
    frame = analysis_frame(tables)
    (row,) = permutations(frame, planned_trials(tables, frame))
    assert (row.accuracies, row.accuracy.trials) == ([1.0, 1.0], 12)


def test_what_a_run_lacks_has_its_reason(builder):
    run = builder()
    run.add_item("q0", answer=0)
    run.add_trial("q0", chosen=0)
    tables = run.write()
    frame = analysis_frame(tables)
    found = compare_interfaces(frame)
    told = interface_details(tables, found, frame=frame, plan=planned_trials(tables, frame))
    assert set(told.reasons) == {
        *("endings", "probabilities", "vocabulary", "flips", "agreement", "slices", "permutations", "probe")
    }
    assert told.baseline is None


def test_a_trial_that_lacks_a_score_has_no_probability(builder):
    run = builder()
    run.add_item("q0", answer=0)
    scores = _scores([0.5, 0.2, 0.2, 0.1])
    scores[1]["logprob"] = None
    run.add_trial("q0", event="id-scores", chosen=0, id_scores=scores)
    tables = run.write()
    frame = analysis_frame(tables)
    assert p_right(tables, frame).height == 0
    assert isinstance(frame, pl.DataFrame)
