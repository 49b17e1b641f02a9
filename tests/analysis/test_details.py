from __future__ import annotations

import pytest

from vqaudit.analysis.comparison import compare
from vqaudit.analysis.computation import computation
from vqaudit.analysis.designs import planned_trials
from vqaudit.analysis.details import DETAILS, NOT_ASKED
from vqaudit.analysis.format_rankings import disagreement, format_leaders
from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.summary import summarise

NAME = "upper/dot/line_break"


def choose(number, fmt, order):
    return number % 4 if (number + len("".join(fmt)) + order[0]) % 3 else (number + 1) % 4


def test_every_detail_is_there_or_has_its_reason(grid_run):
    tables = grid_run(choose, n_items=8).write(reference_format=NAME)
    summary = summarise(tables)
    for key in DETAILS:
        assert (getattr(summary, key) is None) == (key in summary.reasons)
    assert summary.effects is not None
    assert summary.mitigations is not None
    assert "natural position" in summary.reasons["position_and_id"]


def test_details_can_be_left_out_and_change_nothing_else(grid_run):
    tables = grid_run(choose, n_items=6).write(reference_format=NAME)
    whole, short = summarise(tables).to_dict(), summarise(tables, details=False).to_dict()
    assert {short["reasons"][key] for key in DETAILS} == {NOT_ASKED}
    for key in whole.keys() - {*DETAILS, "reasons"}:
        assert whole[key] == short[key], key


def test_an_imported_run_tells_why_it_has_no_details(builder):
    run = builder()
    item = run.add_item("q")
    run.add_trial(item, name="t", fmt=None, order=None, chosen=0)
    run.plan.clear()
    summary = summarise(run.write())
    untold = [key for key in DETAILS if getattr(summary, key) is None]
    assert set(DETAILS) - set(untold) <= {"interface_details"}  # what replies alone can tell
    assert all(summary.reasons[key] != NOT_ASKED for key in untold)


def test_computation_counts_prompts_by_design(grid_run):
    run = grid_run(choose, n_items=3)
    for row in run.trials:
        row |= {"seconds": 0.5, "tokens_computed": 10}
    run.plan.append(run.plan[0] | {"design": "randomised"})
    tables = run.write()
    frame = analysis_frame(tables)
    grid, drawn = computation(frame, planned_trials(tables, frame))
    assert (grid.design, grid.formats, grid.prompts, grid.prompts_per_format) == ("grid", 48, 3 * 48 * 4, 12)
    assert grid.seconds_per_prompt == 0.5
    assert grid.hours == pytest.approx(3 * 48 * 4 * 0.5 / 3600)
    assert grid.tokens_computed == 10 * 3 * 48 * 4
    assert grid.tokens_reused is None
    assert (drawn.design, drawn.prompts) == ("randomised", 1)


def test_a_comparison_in_detail(grid_run):
    def never(number, fmt, order):
        return None if fmt[0] == "upper" else choose(number, fmt, order)

    runs = [grid_run(pick, n_items=6, model=model).write(reference_format=NAME) for pick, model in
            ((choose, "a"), (never, "b"))]  # fmt: skip
    assert compare(runs).details is None
    found = compare(runs, details=True).details
    assert found.mitigations.gold_rank == {"a": 1, "b": 2}
    assert found.mitigations.methods["vanilla"].correctly_ranked == 2
    gap = found.effects.factors["run"].levels[1].effect
    gold = found.mitigations.gold_pct
    assert gap.value == pytest.approx((gold["b"] - gold["a"]) / 100)
    assert found.format_leaders.leads["a"] == 48
    assert "mitigations" not in found.reasons


def test_formats_that_rank_runs_the_other_way_round_disagree_most():
    table = {
        "upper/dot/comma": {"a": 0.9, "b": 0.5, "c": 0.1},
        "lower/dot/comma": {"a": 0.8, "b": 0.6, "c": 0.2},
        "roman/dot/comma": {"a": 0.1, "b": 0.5, "c": 0.6},
    }
    found, why = disagreement(table)
    assert why is None
    assert {found.a, found.b} == {"upper/dot/comma", "roman/dot/comma"}
    assert found.spearman == pytest.approx(-1)
    leaders = format_leaders(table)
    assert leaders.leads == {"a": 2, "c": 1}
    assert leaders.gap_range_pp == pytest.approx((10, 40))


def test_one_format_cannot_disagree():
    found, why = disagreement({"upper/dot/comma": {"a": 0.9, "b": 0.5}})
    assert found is None
    assert "one format" in why
