from __future__ import annotations

import numpy as np
import pytest

from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.selection import first_position, preference, selection, selection_by


def test_frequencies_of_mixed_option_counts(builder):
    # paper 1, Eq. 11 and 12: s / n per position, then to sum 1
    run = builder()
    run.add_item("two", n_options=2, answer=0)
    run.add_item("four", n_options=4, answer=0)
    for order, chosen in (((0, 1), 0), ((0, 1), 1), ((1, 0), 1)):
        run.add_trial("two", order=order, chosen=chosen)
    for order, chosen in (((0, 1, 2, 3), 0), ((1, 2, 3, 0), 3), ((2, 3, 0, 1), 2), ((3, 0, 1, 2), None)):
        run.add_trial("four", order=order, chosen=chosen)
    rows = selection(analysis_frame(run.write()))
    assert [(row.shown, row.chosen, row.answers) for row in rows] == [(7, 4, 3), (7, 1, 2), (4, 1, 1), (4, 0, 1)]
    rates = np.array([4 / 7, 1 / 7, 1 / 4, 0])
    assert [row.frequency for row in rows] == pytest.approx(list(rates / rates.sum()))


def test_never_chosen_is_zero_and_not_shown_is_missing(builder):
    run = builder()
    run.add_item("q", n_options=3, answer=0)
    run.add_trial("q", order=(0, 1, 2), chosen=0)
    rows = selection(analysis_frame(run.write()))
    assert [row.frequency for row in rows] == [1.0, 0.0, 0.0]


def test_recall_and_precision_are_undefined_where_nothing_stands(builder):
    # always the first of four, while the right option stands at the first three
    run = builder()
    for answer in range(3):
        run.add_item(f"q{answer}", answer=answer)
        run.add_trial(f"q{answer}", chosen=0)
    rows = selection(analysis_frame(run.write()))
    assert [row.right_of_answers for row in rows] == [1.0, 0.0, 0.0, None]
    assert [row.right_of_chosen for row in rows] == [pytest.approx(1 / 3), None, None, None]
    known = [row.right_of_answers for row in rows if row.right_of_answers is not None]
    assert np.mean(known) == pytest.approx(1 / 3)


def test_precision_counts_trials_whose_answer_is_known(builder):
    run = builder()
    run.add_item("known", answer=0)
    run.add_item("unknown", answer=None)
    run.add_trial("known", chosen=0)
    run.add_trial("known", order=(1, 2, 3, 0), chosen=1)
    run.add_trial("unknown", chosen=0)
    first = selection(analysis_frame(run.write()))[0]
    assert (first.shown, first.chosen, first.right_of_chosen) == (3, 3, 1 / 2)


def test_where_nothing_was_chosen_there_is_no_frequency(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q", reply="no")
    assert {row.frequency for row in selection(analysis_frame(run.write()))} == {None}


def test_items_with_one_order_and_clozes_leave_position_figures(builder):
    run = builder()
    run.add_item("q", answer=0)
    run.add_item("pinned", answer=0, n_orders=1)
    run.add_trial("pinned", chosen=0)
    run.add_trial("q", interface="cloze", event="option-likelihood", fmt=None, chosen=0)
    run.add_trial("q", order=None, chosen=0)
    run.add_trial("q", outcome="failed")
    frame = analysis_frame(run.write())
    assert selection(frame) == []
    assert first_position(frame).rate.value is None
    assert preference(frame, seed=0) is None


def test_the_first_position_beside_where_the_answer_stands(builder):
    run = builder()
    for number in range(20):
        item = run.add_item(f"q{number}", answer=number % 4)
        run.add_trial(item, chosen=0 if number < 15 else 3)
        run.add_trial(item, chosen=None)
    found = first_position(analysis_frame(run.write()))
    assert (found.rate.value, found.rate.trials, found.rate.n) == (15 / 40, 40, 20)
    assert found.answer_rate.value == 10 / 40
    assert found.excess.value == pytest.approx(5 / 40)
    assert found.excess.low < 5 / 40 < found.excess.high


def test_a_first_position_without_answers_has_a_rate_and_no_excess(builder):
    run = builder()
    for number in range(3):
        run.add_item(f"q{number}", answer=None)
        run.add_trial(f"q{number}", chosen=0)
    found = first_position(analysis_frame(run.write()))
    assert (found.rate.value, found.answer_rate.value, found.excess.value) == (1.0, None, None)


def test_levels_of_a_factor_have_their_own_frequencies(grid_run):
    run = grid_run(lambda n, fmt, order: order[0] if fmt[0] == "upper" else order[3], n_items=4)
    found = selection_by(analysis_frame(run.write()), "id_set")
    assert list(found) == ["lower", "number", "roman", "upper"]
    assert [row.frequency for row in found["upper"]] == [1.0, 0.0, 0.0, 0.0]
    assert [row.frequency for row in found["roman"]] == [0.0, 0.0, 0.0, 1.0]


def test_a_preference_that_changes_with_the_format_is_seen(grid_run, formats):
    # each ID set has its favourite position, so that all together look even
    places = {"upper": 0, "lower": 1, "number": 2, "roman": 3}
    frame = analysis_frame(grid_run(lambda n, fmt, order: order[places[fmt[0]]], n_items=16).write())
    assert first_position(frame).rate.value == pytest.approx(0.25)
    assert [row.frequency for row in selection(frame)] == pytest.approx([0.25] * 4)
    found = preference(frame, seed=0)
    assert (found.level, found.rate.value) == ("format", 1.0)
    assert found.answer_rate.value == pytest.approx(0.25)
    assert found.excess.value == pytest.approx(0.75)
    assert found.excess.low > 0.4


@pytest.mark.parametrize(("n_items", "n_formats", "level"), [(4, 48, "id_set"), (6, 48, "format"), (2, 4, "run")])
def test_the_favourite_is_sought_as_finely_as_the_trials_allow(grid_run, formats, n_items, n_formats, level):
    chosen = formats[:: 48 // n_formats]
    run = grid_run(lambda n, fmt, order: order[0], n_items=n_items, formats=chosen)
    found = preference(analysis_frame(run.write()), seed=0)
    assert found is not None
    assert found.level == level


@pytest.mark.parametrize("skill", [0.25, 0.9])
def test_a_model_without_preference_has_no_excess(grid_run, formats, rng, skill):
    excesses = []
    for seed in range(20):
        run = grid_run(
            lambda n, fmt, order: n % 4 if rng.random() < skill else int(rng.integers(4)),
            n_items=16,
            formats=formats[::6],
        )
        excesses.append(preference(analysis_frame(run.write()), seed=seed).excess)
    assert np.mean([excess.value for excess in excesses]) == pytest.approx(0, abs=0.02)
    assert sum(excess.low > 0 for excess in excesses) <= 3


def test_positions_add_up_to_the_trials_that_chose(grid_run, formats, rng):
    run = grid_run(
        lambda n, fmt, order: int(rng.integers(4)) if rng.random() < 0.8 else None, n_items=5, formats=formats[:6]
    )
    frame = analysis_frame(run.write())
    rows = selection(frame)
    assert sum(row.chosen for row in rows) == frame["answered"].sum()
    assert sum(row.answers for row in rows) == frame.height
    assert sum(row.frequency for row in rows) == pytest.approx(1)
