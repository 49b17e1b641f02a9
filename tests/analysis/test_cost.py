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


PRICES = {"in": 2.0, "cached": 0.5, "out": 8.0, "currency": "USD", "per": 1_000_000}


def test_money_counts_prompt_cached_and_written_tokens_at_their_prices(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q", chosen=0, tokens_computed=1100, tokens_reused=400, tokens_written=100, tries=2)
    run.add_trial("q", interface="free-cot", chosen=0, tokens_computed=600, tokens_written=500, tries=1)
    tables = run.write(engine={"prices": PRICES})
    found = cost(tables, analysis_frame(tables))
    assert found.by_interface["direct"].money == pytest.approx((1000 * 2 + 400 * 0.5 + 100 * 8) / 1e6)
    assert found.money == pytest.approx((1100 * 2 + 400 * 0.5 + 600 * 8) / 1e6)
    assert (found.currency, found.tries, found.tokens_written) == ("USD", 3, 600)


def test_cached_tokens_without_a_price_of_their_own_cost_what_others_do(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q", chosen=0, tokens_computed=11, tokens_reused=5, tokens_written=1)
    tables = run.write(engine={"prices": PRICES | {"cached": None}})
    assert cost(tables, analysis_frame(tables)).money == pytest.approx((15 * 2 + 8) / 1e6)


@pytest.mark.parametrize(
    ("prices", "tokens"),
    [
        (None, {"tokens_computed": 5, "tokens_written": 1}),
        ({**PRICES, "out": None}, {"tokens_computed": 5, "tokens_written": 1}),
        (PRICES, {}),
    ],
)
def test_without_prices_or_counts_there_is_no_money(builder, prices, tokens):
    run = builder()
    run.add_item("q")
    run.add_trial("q", chosen=0, **tokens)
    tables = run.write(engine={"prices": prices})
    assert cost(tables, analysis_frame(tables)).money is None
