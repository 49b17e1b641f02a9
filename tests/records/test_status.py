"""How far a run is, told from its directory alone."""

import os
import socket
import time
from pathlib import Path

import pytest

from vqaudit.errors import RecordError
from vqaudit.records import (
    PLAN_SCHEMA,
    Manifest,
    PartWriter,
    StatusReader,
    WorkerState,
    compact,
    own_run,
    read_status,
    write_manifest,
    write_table,
)
from vqaudit.records.session import SessionState, write_session


def record(trial: str, outcome: str = "chosen", attempt: int = 0) -> dict:
    return {"trial": trial, "item": "i", "outcome": outcome, "attempt": attempt}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Five trials under a design, one of them under a second one too; one has failed twice, one was mended."""
    write_manifest(tmp_path, Manifest(vqaudit_version="0", reader_version="1", model="m", status="interrupted"))
    rows = [{"trial": t, "item": "i", "design": "grid", "draw": 0, "interface": "direct"} for t in "abcde"]
    rows += [rows[0] | {"design": "randomised", "draw": draw} for draw in (0, 1)]
    write_table(tmp_path / "plan.parquet", rows, PLAN_SCHEMA)
    writer = PartWriter(tmp_path, worker="w0")
    writer.write([record("a"), record("b", "failed"), record("c", "failed")])
    writer.write([record("b", "failed", 1), record("c", "chosen", 1)])
    return tmp_path


def session(run: Path, **changes) -> None:
    told = {
        "number": 0,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "started": "2026-01-01T00:00:00+00:00",
        "beat": time.time(),
        "rate": 0.5,
        "workers": [WorkerState(name="s0w0r0", state="asking"), WorkerState(name="s0w1r0", state="asking", silent=99)],
    }
    write_session(run, SessionState(**(told | changes)))


def test_every_trial_counts_once_and_every_design_adds_up(run: Path) -> None:
    status = read_status(run)
    assert (status.planned, status.done, status.failed, status.missing) == (5, 2, 1, 2)
    assert (status.attempts, status.parts, status.state) == (5, 2, "interrupted")
    shown = {each.design: (each.planned, each.done, each.failed, each.missing) for each in status.designs}
    assert shown == {"grid": (5, 2, 1, 2), "randomised": (1, 1, 0, 0)}
    for each in status.designs:
        assert each.done + each.failed + each.missing == each.planned
    assert status.last_part_seconds is not None
    assert (status.rate, status.seconds_left, status.workers_alive) == (None, None, None)


def test_a_running_session_tells_rate_time_left_and_who_is_alive(run: Path) -> None:
    session(run)
    status = read_status(run)
    assert status.state == "running"
    assert status.seconds_left == pytest.approx(3 / 0.5)
    assert status.workers_alive == 1


def test_a_session_whose_process_is_gone_is_said_to_be(run: Path) -> None:
    session(run, pid=2**22 + 1)
    assert read_status(run).state == "gone"
    session(run, host="another", beat=time.time() - 3600)
    assert read_status(run).state == "gone"
    session(run, host="another")
    assert read_status(run).state == "running"
    session(run, ended="2026-01-01T00:00:09+00:00")
    assert read_status(run).state == "interrupted"


def test_parts_that_were_read_are_not_read_again(run: Path, monkeypatch) -> None:
    reader = StatusReader(run)
    before = reader.read()
    monkeypatch.setattr("vqaudit.records.status._read_keys", lambda path: pytest.fail(f"{path} was read again"))
    after = reader.read()
    assert (after.done, after.attempts) == (before.done, before.attempts)
    monkeypatch.undo()
    PartWriter(run, worker="w0").write([record("d")])
    assert reader.read().done == 3
    compact(run)
    assert reader.read().done == 3


def test_an_owned_run_is_running_and_says_so_as_json(run: Path) -> None:
    with own_run(run) as owner:
        owner.tell(planned=5, workers=[WorkerState(name="w0", state="asking")])
        told = read_status(run).to_dict()
    assert told["state"] == "running"
    assert told["workers"][0]["name"] == "w0"
    assert told["session"]["planned"] == 5


def test_no_run_and_a_damaged_part_are_said(run: Path, tmp_path_factory) -> None:
    with pytest.raises(RecordError, match="no run directory"):
        read_status(tmp_path_factory.mktemp("empty"))
    (run / "trials" / "w0-000001.parquet").write_bytes(b"PAR1")
    with pytest.raises(RecordError, match="w0-000001"):
        read_status(run)
