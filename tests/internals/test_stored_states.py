"""What `states/` holds is exact, is there for every record, and survives whatever is killed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import vqaudit as va
from vqaudit.engines.base import HiddenStates, Outcome, Readout, Request
from vqaudit.engines.scripted import ScriptedEngine
from vqaudit.errors import PlanError, RecordError, RunConflict, UnsupportedEvent
from vqaudit.items import demo_items
from vqaudit.records import parts as record_parts
from vqaudit.records import read_trials, records_digest, visible
from vqaudit.records.states import StateStore, write_states

WIDTH, LAYERS = 8, 2


def row(trial: str, values: np.ndarray, attempt: int = 0) -> dict:
    return {"trial": trial, "attempt": attempt, "states": {"values": values}}


def store(run: Path, depth: str = "all") -> StateStore:
    from vqaudit.records.states import ReadoutTable, write_readout

    table = ReadoutTable(
        depth=depth,
        layers=LAYERS,
        width=WIDTH,
        id_sets={"upper": {"A": (1,)}},
        token_ids=np.array([1]),
        rows=np.ones((1, WIDTH), dtype=np.float32),
        biases=np.zeros(1, dtype=np.float32),
        softcap=30.0,
    )
    write_readout(run, table)
    return StateStore(run)


def keys(*trials: tuple[str, int]) -> pl.DataFrame:
    schema = {"trial": pl.String, "attempt": pl.Int32}
    return pl.DataFrame(list(trials), schema=schema, orient="row")


def test_states_come_back_bit_for_bit_in_the_order_asked_for(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = (rng.normal(size=(5, LAYERS + 1, WIDTH)) * 10.0 ** rng.integers(-30, 30, (5, LAYERS + 1, WIDTH))).astype(
        np.float32
    )
    write_states(tmp_path, "w0-000000.parquet", [row(f"t{k}", values[k]) for k in range(3)])
    write_states(tmp_path, "w0-000001.parquet", [row(f"t{k}", values[k]) for k in range(3, 5)])
    kept = store(tmp_path)
    assert kept.layers == [0, 1, 2]
    assert kept.readout.softcap == 30.0
    for layer in kept.layers:
        found = kept.read(keys(("t4", 0), ("t0", 0), ("none", 0), ("t2", 0)), layer)
        assert found.found.tolist() == [True, True, False, True]
        np.testing.assert_array_equal(found.values, values[[4, 0, 2], layer])


def test_the_attempt_on_record_is_the_one_that_is_read(tmp_path: Path) -> None:
    write_states(
        tmp_path, "w0-000000.parquet", [row("t", np.full((1, WIDTH), 1.0)), row("t", np.full((1, WIDTH), 2.0), 1)]
    )
    kept = store(tmp_path, "last")
    assert kept.layers == [LAYERS]
    assert kept.read(keys(("t", 1)), LAYERS).values[0, 0] == 2.0
    assert kept.read(keys(("t", 0)), LAYERS).values[0, 0] == 1.0
    assert not kept.read(keys(("t", 2)), LAYERS).found.any()


def test_states_of_half_precision_take_about_two_bytes_a_value(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    full = rng.normal(size=(200, 1, 512)).astype(np.float32)
    halved = (full.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)  # as bfloat16 has them
    sizes = []
    for name, values in (("full", full), ("half", halved)):
        write_states(tmp_path / name, "w0-000000.parquet", [row(f"t{k}", v) for k, v in enumerate(values)])
        sizes.append((tmp_path / name / "states" / "w0-000000.parquet").stat().st_size / values.size)
    assert sizes[0] < 4.1
    assert sizes[1] < 2.1


def test_nothing_is_written_where_nothing_is_kept(tmp_path: Path) -> None:
    write_states(tmp_path, "w0-000000.parquet", [{"trial": "t", "attempt": 0, "states": None}, {"trial": "u"}])
    assert not (tmp_path / "states").exists()


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    kept = store(tmp_path)
    (tmp_path / "states" / "w0-000000.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(RecordError, match=r"w0-000000\.parquet is not a readable part of states"):
        StateStore(tmp_path).read(keys(("t", 0)), 2)
    assert kept.read(keys(("t", 0)), 2).found.tolist() == [False]


class Scorer(ScriptedEngine):
    """A scripted engine that may score."""

    def check(self, events: object) -> None:
        pass


class Keeper(Scorer):
    """The same with states: a function of the trial alone."""

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        from dataclasses import replace

        return [replace(o, states=HiddenStates(values=states_of(o.trial))) for o in super().answer(batch)]

    def readout(self, option_ids: Sequence[str]) -> Readout:
        rows = {n: np.ones(WIDTH, dtype=np.float32) for n in range(len(option_ids))}
        return Readout(
            token_ids={name: (n,) for n, name in enumerate(option_ids)},
            rows=rows,
            biases=dict.fromkeys(rows, 0.0),
            layers=LAYERS,
            width=WIDTH,
        )

    def check_depth(self, depth: str) -> None:
        assert depth in ("last", "all")


def states_of(trial: str) -> np.ndarray:
    return np.random.default_rng(int(trial, 16)).normal(size=(LAYERS + 1, WIDTH)).astype(np.float32)


def keeper() -> Keeper:
    from vqaudit.engines.base import IDScore

    def scores(request: Request) -> Outcome:
        found = tuple(IDScore(option_id=name, logprob=-1.0 - n) for n, name in enumerate(request.option_ids))
        return Outcome(trial=request.trial, id_scores=found, id_mass=0.9)

    return Keeper(scores, batch=4)


SETTINGS = {"design": "reference", "orders": "dataset", "interface": ("bare-scores", "cot-prefix"), "progress": False}


def check_complete(out: Path, planned: int) -> None:
    records = visible(read_trials(out))
    assert records.height == planned
    found = StateStore(out).read(records, 1)
    assert found.found.all()
    np.testing.assert_array_equal(found.values, np.stack([states_of(trial)[1] for trial in records["trial"]]))
    stored = pl.concat([pl.read_parquet(p, columns=["trial", "attempt"]) for p in (out / "states").glob("w*.parquet")])
    assert not stored.is_duplicated().any()


def test_whatever_is_killed_every_record_has_its_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the states and the records of a part, then resumed: as if nothing had been."""
    data = demo_items(limit=20)
    whole = tmp_path / "whole"
    va.audit(keeper(), data, out=whole, keep_states="all", **SETTINGS)
    check_complete(whole, 40)
    broken = tmp_path / "broken"
    true_write, calls = record_parts.write_table, [0]

    def killed(*args):
        calls[0] += 1
        if calls[0] == 1:
            raise KeyboardInterrupt
        true_write(*args)

    monkeypatch.setattr(record_parts, "write_table", killed)
    with pytest.raises(KeyboardInterrupt):
        va.audit(keeper(), data, out=broken, keep_states="all", **SETTINGS)
    assert list((broken / "states").glob("w*.parquet"))
    va.audit(keeper(), data, out=broken, keep_states="all", **SETTINGS)
    check_complete(broken, 40)
    assert records_digest(read_trials(broken)) == records_digest(read_trials(whole))


def test_an_engine_without_states_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedEvent, match="shows no hidden states; --keep-states needs a model that runs here"):
        va.audit(Scorer("A"), demo_items(limit=4), out=tmp_path / "run", keep_states="last", **SETTINGS)
    assert not (tmp_path / "run" / "trials").exists()


def test_states_of_replies_alone_are_refused(tmp_path: Path) -> None:
    asked = SETTINGS | {"interface": ("direct",)}
    with pytest.raises(PlanError, match="states are kept beside ID scores, and direct scores none"):
        va.audit(keeper(), demo_items(limit=4), out=tmp_path / "run", keep_states="last", **asked)


def test_a_run_cannot_begin_to_keep_states_half_way(tmp_path: Path) -> None:
    va.audit(keeper(), demo_items(limit=4), out=tmp_path / "run", **SETTINGS)
    with pytest.raises(RunConflict, match="kept states is None, now it is 'all'"):
        va.audit(keeper(), demo_items(limit=4), out=tmp_path / "run", keep_states="all", **SETTINGS)
