"""Rounds: what came back decides what is asked next, and a stopped run goes on to the same end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import vqaudit as va
from vqaudit.analysis.two_stage import SCREENING_DRAWS as TOLD
from vqaudit.asking.designs import SCREENING_DRAWS as ASKED
from vqaudit.asking.designs import Confirmed, Grid, draws
from vqaudit.asking.formats import FORMATS
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.orders import circular_orders
from vqaudit.asking.plan import Arm, make_plan
from vqaudit.engines.simulated import SimulatedEngine
from vqaudit.errors import AnalysisError, PlanError
from vqaudit.items import Columns, Dataset
from vqaudit.items.item import Item
from vqaudit.ranking import audit_ranking
from vqaudit.records import records_digest
from vqaudit.simulate import WorldSpec, make_world

ITEMS = tuple(
    Item(id=f"i{k}", question=f"Question {k}?", options=("red", "green", "blue", "grey"), answer=k % 4)
    for k in range(96)
)
DATA = Dataset(
    name="test",
    path=Path("test.jsonl"),
    items=ITEMS,
    skipped=(),
    columns=Columns(),
    answers="index0",
    warnings=(),
    digest="d",
)
GRID = make_plan(ITEMS, [Arm(interface=find_interface("direct"), design=Grid())])


def model(ability: float = 1.0, name: str = "simulated", **effects: float) -> SimulatedEngine:
    world = make_world(GRID, WorldSpec(ability=ability, difficulty_sd=1.0, format_effects=effects))
    return SimulatedEngine(world, seed=len(name), name=name)


class Stopped:
    """Passes on to an engine until so many batches are answered."""

    def __init__(self, inner: SimulatedEngine, batches: int) -> None:
        self.inner, self.left = inner, batches

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def answer(self, batch):
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        return self.inner.answer(batch)


def test_both_halves_screen_with_as_many_draws() -> None:
    assert ASKED == TOLD


def test_a_second_stage_asks_every_item_anew_in_blocks_of_rotations() -> None:
    design = Confirmed(formats=FORMATS[:2], name="confirm-worst", orders=2, seed=3)
    cells = list(draws(design, [4] * 8, [True] * 8))
    assert Counter((cell.item, cell.format.name) for cell in cells) == {
        (item, format.name): 2 for item in range(8) for format in FORMATS[:2]
    }
    for start in (0, 4):
        first = {c.order for c in cells if c.item in range(start, start + 4) and c.draw == 0 and c.format == FORMATS[0]}
        assert first == set(circular_orders(4))
    assert all(len({c.order for c in cells if c.item == i and c.format == FORMATS[0]}) == 2 for i in range(8))


def test_two_stages_find_the_worst_formats_and_their_spread(tmp_path: Path) -> None:
    engine = model(ability=3.0, roman=-6.0)
    run = va.audit(engine, DATA, out=tmp_path / "run", design="two-stage", progress=False)
    found = run.summary()
    assert found.main_design == "randomised"
    assert found.two_stage is not None
    assert all(name.startswith("roman/") for name in found.two_stage.worst)
    assert len(found.two_stage.worst) == 5
    assert found.two_stage.passes == pytest.approx(10, abs=0.2)
    grid = va.audit(engine, DATA, out=tmp_path / "grid", design="grid", progress=False).summary()
    assert found.spread.low <= grid.spread.value <= found.spread.high + 0.05
    assert found.spread.value == pytest.approx(grid.spread.value, abs=0.1)
    assert found.worst_format.id_set == "roman"
    assert found.recommended.highest in found.two_stage.best + found.two_stage.worst
    assert found.recommended.representative is None
    assert grid.recommended.representative is not None
    assert grid.recommended.highest == grid.best_format.format
    gaps = {row.format: row.accuracy.value - grid.grid_accuracy.value for row in grid.formats}
    nearest = min(gaps, key=lambda name: abs(gaps[name]))
    assert grid.recommended.distance.value == pytest.approx(gaps[nearest])
    assert grid.recommended.distance.low <= grid.recommended.distance.value <= grid.recommended.distance.high
    assert "cells need the grid" in found.reasons["formats"]


def test_figures_of_a_second_stage_rest_on_fresh_trials_alone(tmp_path: Path) -> None:
    run = va.audit(model(ability=1.0), DATA, out=tmp_path, design="two-stage", progress=False)
    plan = run.tables().plan
    screened = set(plan.filter(pl.col("design") == "randomised")["trial"])
    second = set(plan.filter(pl.col("design") != "randomised")["trial"])
    assert screened & second
    assert run.summary().two_stage.confirming_trials == len(second - screened)


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_two_stages_resume_to_the_same_records(tmp_path: Path, batches: int) -> None:
    engine = model(ability=1.0, roman=-1.0)
    engine._batch = 200
    whole = va.audit(engine, DATA, out=tmp_path / "whole", design="two-stage", progress=False)
    with pytest.raises(KeyboardInterrupt):
        va.audit(Stopped(engine, batches), DATA, out=tmp_path / "cut", design="two-stage", progress=False)
    cut = va.audit(engine, DATA, out=tmp_path / "cut", design="two-stage", progress=False)
    again = va.audit(Stopped(engine, 0), DATA, out=tmp_path / "cut", design="two-stage", progress=False)
    assert records_digest(whole.tables().trials) == records_digest(cut.tables().trials)
    assert sorted(whole.tables().plan.iter_rows()) == sorted(again.tables().plan.iter_rows())


def test_a_target_is_drawn_for_until_it_is_reached(tmp_path: Path) -> None:
    engine = model(ability=2.0)
    run = va.audit(engine, DATA, out=tmp_path, until="half-width=0.05", progress=False)
    stopping = run.tables().manifest.stopping
    found = run.summary()
    assert stopping["reached"]
    assert 1 < stopping["draws"] < 16
    assert found.this_dataset.grid_accuracy.high - found.this_dataset.grid_accuracy.low <= 0.1
    assert stopping["sentence"] in found.stopping
    assert stopping["saved"] == pytest.approx(1 - stopping["trials"] / (96 * 192))
    again = va.audit(Stopped(engine, 0), DATA, out=tmp_path, until="half-width=0.05", progress=False)
    assert again.tables().manifest.stopping == stopping


def test_what_a_target_saved_is_told_against_the_runs_own_formats(tmp_path: Path) -> None:
    own = tmp_path / "formats.json"
    own.write_text('{"id_sets": [{"name": "upper", "ids": ["A", "B", "C", "D"]}]}', encoding="utf-8")
    run = va.audit(model(), DATA, out=tmp_path / "run", until="half-width=0.2", formats=own, progress=False)
    assert run.tables().manifest.stopping["grid_trials"] == 12 * 4 * 96


def test_a_target_stops_at_the_most_draws(tmp_path: Path) -> None:
    run = va.audit(model(), DATA, out=tmp_path, until="half-width=0.001", max_draws=2, progress=False)
    assert not run.tables().manifest.stopping["reached"]
    assert run.tables().plan["draw"].n_unique() == 2
    assert "most draws" in run.summary().stopping


def test_what_items_cannot_tell_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"floor is about 7\.1 pp"):
        va.audit(Stopped(model(), 0), DATA, out=tmp_path / "run", until="items-half-width=0.01", progress=False)
    with pytest.raises(PlanError, match="needs the design randomised"):
        va.audit(Stopped(model(), 0), DATA, out=tmp_path / "run", until="half-width=0.1", design="grid", progress=False)
    assert not (tmp_path / "run").exists()


def test_too_few_items_for_two_stages_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    few = replace(DATA, items=ITEMS[:3])
    with pytest.raises(PlanError, match=r"shows \d formats to 3 items, fewer than the 8 that the second confirms"):
        va.audit(Stopped(model(), 0), few, out=tmp_path / "run", design="two-stage", progress=False)
    assert not (tmp_path / "run").exists()


def test_a_ranking_is_drawn_for_until_it_is_settled(tmp_path: Path) -> None:
    models = {"good": model(4.0, "good"), "bad": model(-1.0, "bad"), "fair": model(1.5, "fair")}
    found = audit_ranking(models, DATA, out=tmp_path, progress=False)
    states = {(row["a"], row["b"]): row["state"] for row in found.verdicts}
    assert states == {("good", "bad"): "better", ("good", "fair"): "better", ("bad", "fair"): "worse"}
    assert found.settled
    assert found.saved > 0.9
    closed = {name: Stopped(engine, 0) for name, engine in models.items()}
    assert audit_ranking(closed, DATA, out=tmp_path, progress=False) == found


def test_a_settled_model_is_not_asked_again(tmp_path: Path) -> None:
    models = {"a": model(1.0, "a"), "b": model(1.0, "bb"), "worst": model(-4.0, "worst")}
    found = audit_ranking(models, DATA, out=tmp_path, rule={"max_draws": 4, "margin": 0.0}, progress=False)
    assert found.draws["worst"] < found.draws["a"] == found.draws["b"] == 4
    assert not found.settled
    assert "open" in {row["state"] for row in found.verdicts}


def test_a_ranking_holds_one_model_at_a_time_and_loads_no_more_than_it_must(tmp_path: Path) -> None:
    loads: list[str] = []
    held: list[str] = []

    class Held(SimulatedEngine):
        def close(self) -> None:
            held.remove(self.name)

    def load(name: str, ability: float) -> SimulatedEngine:
        loads.append(name)
        held.append(name)
        assert held == [name]
        return Held(make_world(GRID, WorldSpec(ability=ability)), seed=len(name), name=name)

    models = {name: partial(load, name, 1.0) for name in ("a", "bb")}
    found = audit_ranking(models, DATA, out=tmp_path, rule={"max_draws": 4, "margin": 0.0}, progress=False)
    assert found.draws == {"a": 4, "bb": 4}
    assert loads == ["a", "bb", "a", "bb"]
    assert held == []


def test_a_ranking_decides_on_its_draws_itself(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="draws"):
        audit_ranking({"a": model(), "b": model()}, DATA, out=tmp_path, draws=3)
    with pytest.raises(PlanError, match="not 1"):
        audit_ranking({"a": model()}, DATA, out=tmp_path)
