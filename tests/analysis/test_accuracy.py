from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from vqaudit.analysis.accuracy import (
    always_first,
    answered_accuracy,
    chance,
    grid_accuracy,
    lenient_accuracy,
    row_accuracy,
    scored_accuracy,
    strict_circular,
)
from vqaudit.analysis.breakdown import breakdown, factor_levels, format_rows
from vqaudit.analysis.frame import analysis_frame
from vqaudit.errors import AnalysisError

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "papers" / "format_grid.csv"


def _frame(run):
    return analysis_frame(run.write())


def test_grid_and_row_accuracy_are_means_over_items_and_over_rows(builder, formats, orders):
    run = builder()
    run.add_item("two", n_options=2, answer=0)
    run.add_item("four", n_options=4, answer=0)
    for fmt in formats[:3]:
        for order in orders(2):
            run.add_trial("two", fmt=fmt, order=order, chosen=0)
        for order in orders(4):
            run.add_trial("four", fmt=fmt, order=order, chosen=0 if order[0] == 0 else 1)
    frame = _frame(run)
    assert grid_accuracy(frame).value == pytest.approx((1 + 0.25) / 2)
    assert row_accuracy(frame).value == pytest.approx((6 + 3) / 18)
    assert row_accuracy(frame).trials == 18


def test_drawn_rows_weigh_as_in_the_grid(builder):
    run = builder()
    run.add_item("two", n_options=2, answer=0)
    run.add_item("four", n_options=4, answer=0)
    run.add_trial("two", order=(0, 1), chosen=0)
    for chosen in (0, 1):
        run.add_trial("four", chosen=chosen)
    assert row_accuracy(_frame(run), drawn=True).value == pytest.approx((2 * 1 + 4 * 0.5) / 6)


def test_failed_trials_leave_the_denominator_and_nothing_else_does(builder):
    run = builder()
    for number in range(10):
        run.add_item(f"q{number}", answer=0)
    kinds = [{"chosen": 0}] * 6 + [{"chosen": 1}] + [{"outcome": "empty"}] * 2 + [{"outcome": "failed"}]
    for number, kind in enumerate(kinds):
        run.add_trial(f"q{number}", **kind)
    frame = _frame(run)
    found = grid_accuracy(frame)
    assert (found.value, found.n) == (pytest.approx(6 / 9), 9)
    assert answered_accuracy(frame).value == pytest.approx(6 / 7)


def test_an_outage_is_no_accuracy(builder):
    run = builder()
    for number in range(8):
        run.add_item(f"q{number}", answer=number % 4)
        run.add_trial(f"q{number}", outcome="failed", error="HTTP 503")
    found = grid_accuracy(_frame(run))
    assert (found.value, found.low, found.n) == (None, None, 0)


def test_the_lenient_reading_stands_beside_the_exact_one(builder):
    run = builder()
    run.add_item("q", answer=0)
    run.add_item("r", answer=0)
    run.add_trial("q", reply="A.", lenient_outcome="chosen", lenient_chosen=0)
    run.add_trial("r", outcome="bad_input", lenient_outcome=None)
    frame = _frame(run)
    assert grid_accuracy(frame).value == 0
    assert lenient_accuracy(frame).value == pytest.approx(0.5)


def test_scores_alone_have_no_lenient_reading(builder):
    run = builder()
    run.add_item("q", answer=0)
    run.add_trial("q", event="id-scores", interface="direct-scores", chosen=0)
    found = lenient_accuracy(_frame(run))
    assert found.value is None
    assert "read leniently" in (found.reason or "")


def test_scores_beside_replies_have_an_accuracy_of_their_own(builder):
    run = builder()
    run.add_item("q", answer=0)
    for first in (-0.1, -5.0):
        scores = [{"option_id": "A", "logprob": first}, {"option_id": "B", "logprob": -1.0}]
        run.add_trial("q", reply="dunno", id_scores=scores)
    run.add_trial("q", reply="dunno")
    found = scored_accuracy(_frame(run))
    assert (found.value, found.trials) == (0.5, 2)


def test_strict_circular_asks_for_every_order(builder, formats, orders):
    run = builder()
    for name, wrong in (("always", ()), ("once", ((0, 2),)), ("never", tuple(product(range(2), range(4))))):
        run.add_item(name, answer=1)
        for f, fmt in enumerate(formats[:2]):
            for o, order in enumerate(orders(4)):
                run.add_trial(name, fmt=fmt, order=order, chosen=0 if (f, o) in wrong else 1)
    found = strict_circular(_frame(run))
    assert (found.value, found.n, found.trials) == (pytest.approx((1 + 0.5 + 0) / 3), 3, 24)


def test_strict_circular_leaves_out_what_did_not_come_back_whole(builder, orders):
    run = builder()
    run.add_item("whole", answer=1)
    run.add_item("part", answer=1)
    run.add_item("pinned", answer=1, n_orders=1)
    for number, order in enumerate(orders(4)):
        run.add_trial("whole", order=order, chosen=0)
        run.add_trial("part", order=order, chosen=1, **({"outcome": "failed"} if number == 0 else {}))
    run.add_trial("pinned", chosen=1)
    found = strict_circular(_frame(run))
    assert (found.value, found.n) == (0.5, 2)


def test_one_order_tells_no_strict_circular(builder):
    run = builder()
    run.add_item("q", answer=1)
    run.add_item("pinned", answer=1, n_orders=1)
    for name in ("q", "pinned"):
        run.add_trial(name, chosen=1)
    assert strict_circular(_frame(run)).value is None


def test_baselines_are_those_of_guessing_and_of_the_first_position(builder, orders):
    run = builder()
    run.add_item("two", n_options=2, answer=1)
    run.add_item("pinned", n_options=4, answer=0, n_orders=1)
    for order in orders(2):
        run.add_trial("two", order=order)
    run.add_trial("pinned")
    frame = _frame(run)
    assert chance(frame) == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert always_first(frame) == pytest.approx((1 / 2 + 1) / 2)
    assert chance(frame.clear()) is None
    assert always_first(frame.clear()) is None


def test_levels_formats_and_categories_are_means_of_their_trials(grid_run, formats):
    run = grid_run(lambda n, fmt, order: n % 4 if fmt[0] == "upper" or n == 0 else None, n_items=4)
    for number, item in enumerate(run.items):
        item["category"] = None if number == 3 else f"kind {number // 2}"
    frame = _frame(run)
    levels = {row.name: row for row in factor_levels(frame)["id_set"]}
    assert {name: row.accuracy.value for name, row in levels.items()} == {
        "upper": 1.0,
        "lower": 0.25,
        "number": 0.25,
        "roman": 0.25,
    }
    assert levels["upper"].accuracy.trials == 4 * 12 * 4
    assert levels["roman"].coverage.exact.value == pytest.approx(0.25)
    rows = format_rows(frame)
    assert [row.format for row in rows] == sorted("/".join(fmt) for fmt in formats)
    assert all(row.accuracy.value == (1.0 if row.id_set == "upper" else 0.25) for row in rows)
    assert all(row.scored_accuracy is None for row in rows)
    categories = breakdown(frame, "category")
    assert [row.name for row in categories] == ["kind 0", "kind 1", None]
    assert categories[0].accuracy.value == pytest.approx((1 + 0.25) / 2)


def test_a_breakdown_by_what_a_run_does_not_have_is_an_error(grid_run, formats):
    frame = _frame(grid_run(lambda n, fmt, order: 0, n_items=2, formats=formats[:1]))
    with pytest.raises(AnalysisError, match="'colour'; choose from category"):
        breakdown(frame, "colour")


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published cells of paper 1 are not here")
@pytest.mark.parametrize("model", ["LLaVA-1.5", "Qwen-2-VL"])
def test_published_cells_come_back(grid_run, formats, model):
    with PUBLISHED.open(encoding="utf-8") as handle:
        rows = [row for row in csv.DictReader(handle) if row["dataset"] == "V*Bench" and row["model"] == model]
    truth = {(row["option_ids"], row["delimiter"], row["separator"]): float(row["accuracy_pct"]) / 100 for row in rows}
    assert len(truth) == 48
    # 50 items x 4 orders: the closest share of 200 that a cell can show
    right = {fmt: round(200 * share) for fmt, share in truth.items()}
    run = grid_run(
        lambda n, fmt, order: n % 4 if 4 * n + order[0] < right[fmt] else (n + 1) % 4, n_items=50, formats=list(truth)
    )
    frame = _frame(run)
    for row in format_rows(frame):
        assert row.accuracy.value == pytest.approx(truth[row.id_set, row.delimiter, row.separator], abs=0.0026)
    assert grid_accuracy(frame).value == pytest.approx(np.mean(list(truth.values())), abs=0.0026)
    numbers = np.mean([share for fmt, share in truth.items() if fmt[0] == "number"])
    level = next(row for row in factor_levels(frame)["id_set"] if row.name == "number")
    assert level.accuracy.value == pytest.approx(numbers, abs=0.0026)


def test_a_randomised_design_estimates_the_grid(grid_run, rng):
    ease = rng.random(40)
    effect = dict.fromkeys(("upper", "lower"), 0.1) | dict.fromkeys(("number", "roman"), -0.2)
    table = {}

    def choose(n, fmt, order):
        share = np.clip(ease[n] + effect[fmt[0]], 0, 1)
        return table.setdefault((n, fmt, order[0]), n % 4 if rng.random() < share else (n + 1) % 4)

    frame = _frame(grid_run(choose, n_items=40))
    truth = grid_accuracy(frame).value
    draws = [
        grid_accuracy(
            frame.filter(pl.int_range(pl.len()).shuffle(seed=seed).rank("ordinal").over("item_code") <= 2)
        ).value
        for seed in range(60)
    ]
    error = np.std(draws) / np.sqrt(len(draws))
    assert abs(np.mean(draws) - truth) < 4 * error
