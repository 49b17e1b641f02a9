"""Table 1: one row per run, over whatever items."""

from __future__ import annotations

import pytest

from vqaudit.analysis.interfaces.across import across_runs
from vqaudit.errors import AnalysisError


@pytest.fixture
def ask(builder):
    def make(fallen, *, interfaces=("bare-scores", "cot-prefix"), n_items=60, model="m"):
        run = builder(model)
        for number in range(n_items):
            place = number % 4
            run.add_item(f"{model}{number}", answer=place)
            for interface in interfaces:
                chosen = 0 if interface == "cot-prefix" and number < fallen else place
                run.add_trial(
                    f"{model}{number}", interface=interface, event="id-scores", chosen=chosen,
                    designs=[("reference", 0)],
                )  # fmt: skip
        return run.write(dataset={"name": f"data of {model}"})

    return make


def test_runs_over_different_items_stand_below_each_other(ask):
    found = across_runs([ask(40, model="a"), ask(0, model="b")])
    fallen, kept = found.rows
    assert (fallen.model, fallen.dataset, fallen.items) == ("a", "data of a", 60)
    assert fallen.drop.value == pytest.approx(30 / 60)
    assert fallen.prefix_first_rate.value == pytest.approx(45 / 60)
    assert fallen.answer_first_rate.value == pytest.approx(0.25)
    assert fallen.lost_to_first.value == 1.0
    assert (fallen.verdict, kept.verdict) == ("mismatched", "undecided")
    assert kept.lost_to_first is None
    assert "below in 1 of 2 runs" in found.sentences[0]


def test_a_run_that_lacks_an_interface_says_so_and_stays(ask):
    found = across_runs([ask(40, model="a"), ask(0, interfaces=("bare-scores",), model="b")])
    assert found.rows[1].reason == "it has no trials of cot-prefix"
    assert found.rows[1].drop is None


def test_runs_without_any_such_pair_are_refused(ask):
    with pytest.raises(AnalysisError, match="none of 1 runs has both"):
        across_runs([ask(0, interfaces=("direct",))])
