from __future__ import annotations

import pytest

from vqaudit.analysis.cost import cost
from vqaudit.analysis.frame import analysis_frame


def test_cost_is_that_of_the_trials_that_answered(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q", chosen=0, seconds=0.5, tokens_computed=30, tokens_reused=10)
    run.add_trial("q", chosen=0, seconds=1.5, tokens_computed=20, tokens_reused=40)
    run.add_trial("q", interface="cot-prefix", event="id-scores", chosen=0, seconds=4.0, tokens_computed=7)
    run.add_trial("q", name="t", outcome="failed", seconds=100.0, tokens_computed=1000)
    run.trials.append(run.trials[-1] | {"attempt": 1})
    tables = run.write(seconds=12.5)
    found = cost(tables, analysis_frame(tables))
    assert (found.trials, found.attempts, found.wall_seconds) == (3, 5, 12.5)
    assert found.seconds == pytest.approx(6.0)
    assert found.seconds_per_trial == pytest.approx(2.0)
    assert (found.tokens_computed, found.tokens_reused) == (57, 50)
    assert found.reused_share == pytest.approx(50 / 107)
    direct, cot = found.by_interface["direct"], found.by_interface["cot-prefix"]
    assert (direct.trials, direct.seconds_per_trial, direct.reused_share) == (2, 1.0, 0.5)
    assert (cot.trials, cot.tokens_reused, cot.reused_share) == (1, None, None)


def test_what_an_engine_does_not_report_is_unknown_not_zero(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q", chosen=0)
    tables = run.write()
    found = cost(tables, analysis_frame(tables))
    assert (found.seconds, found.seconds_per_trial, found.tokens_computed, found.reused_share) == (None,) * 4
