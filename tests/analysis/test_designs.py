from __future__ import annotations

import pytest

from vqaudit.analysis.designs import IMPORTED, completeness, main_interface, main_trials, planned_trials, trials_of
from vqaudit.analysis.frame import analysis_frame
from vqaudit.errors import AnalysisError


def _read(run, **manifest):
    tables = run.write(**manifest)
    frame = analysis_frame(tables)
    return frame, planned_trials(tables, frame)


def test_a_trial_that_two_designs_share_is_one_trial_of_each(builder, orders):
    run = builder()
    run.add_item("q")
    for number, order in enumerate(orders(4)):
        run.add_trial("q", order=order, chosen=0, designs=[("grid", 0), *([("randomised", 0)] if number == 2 else [])])
    frame, plan = _read(run)
    assert main_trials(frame, plan).trials.height == 4
    assert main_trials(frame, plan, design="randomised").trials.height == 1
    assert completeness(frame, plan).planned == 4


@pytest.mark.parametrize(
    ("planned", "expected"),
    [
        (["reference", "randomised", "grid"], "grid"),
        (["reference", "randomised"], "randomised"),
        (["reference"], "reference"),
        (["sequential"], "sequential"),
    ],
)
def test_the_main_design_estimates_most(builder, planned, expected):
    run = builder()
    run.add_item("q")
    for design in planned:
        run.add_trial("q", chosen=0, designs=[(design, 0)])
    assert main_trials(*_read(run)).design == expected


def test_direct_is_the_main_interface_where_it_was_asked(builder):
    run = builder()
    run.add_item("q")
    for interface, times in (("cot-prefix", 3), ("direct", 1), ("direct-scores", 2)):
        for _ in range(times):
            run.add_trial("q", interface=interface, event="id-scores")
    _, plan = _read(run)
    assert main_interface(plan, "grid") == "direct"
    plan = plan.filter(plan["interface"] != "direct")
    assert main_interface(plan, "grid") == "cot-prefix"
    with pytest.raises(AnalysisError, match="no trials of design 'reference'"):
        main_interface(plan, "reference")


def test_a_cloze_makes_no_design_of_its_own(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q", interface="direct-scores", event="id-scores", designs=[("randomised", 0)])
    run.add_trial("q", interface="cloze", event="option-likelihood", fmt=None, designs=[("reference", 0)])
    frame, plan = _read(run)
    main = main_trials(frame, plan)
    assert (main.design, main.interface, main.trials.height) == ("randomised", "direct-scores", 1)
    only = plan.filter(~plan["options_shown"])
    assert main_trials(frame, only).interface == "cloze"


def test_missing_and_failed_trials_are_counted_and_stop_the_headline(builder):
    run = builder()
    run.add_item("q")
    for number in range(100):
        run.add_trial("q", chosen=0, **({"outcome": "failed"} if number < 1 else {}))
    assert main_trials(*_read(run)).completeness.complaint is None
    run.add_trial("q", record=False)
    found = main_trials(*_read(run))
    complete = found.completeness
    assert (complete.planned, complete.failed, complete.missing, complete.done) == (101, 1, 1, 99)
    assert complete.lost == pytest.approx(2 / 101)
    assert complete.complaint is not None
    assert "1 of 101 planned trials failed and 1 are missing" in complete.complaint
    assert found.done.height == 99


def test_draws_are_counted(builder):
    run = builder()
    run.add_item("q")
    for draw in range(3):
        run.add_trial("q", chosen=0, designs=[("randomised", draw)])
    assert main_trials(*_read(run)).draws == 3


def test_an_imported_run_is_a_design_of_its_own(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q", chosen=0, fmt=None, order=None, interface=None)
    run.plan.clear()
    frame, plan = _read(run, status="imported")
    main = main_trials(frame, plan)
    assert (main.design, main.interface, main.trials.height) == (IMPORTED, "unknown", 1)


def test_trials_that_nobody_planned_are_left_out(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q", chosen=0)
    run.add_trial("q", chosen=0, name="stray")
    run.plan.pop()
    frame, plan = _read(run)
    assert trials_of(frame, plan)["trial"].to_list() == ["0000000"]


def test_an_empty_run_is_an_error(builder):
    run = builder()
    run.add_item("q")
    with pytest.raises(AnalysisError, match="neither a plan nor trials"):
        main_trials(*_read(run))
