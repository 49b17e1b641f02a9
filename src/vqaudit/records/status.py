"""How far a run is: read from its directory, by any process, while it is being written or after.

Knows parts, the plan and what the writing process tells of itself. Computes no statistic.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from vqaudit.errors import RecordError
from vqaudit.records.files import as_frame, read_table
from vqaudit.records.manifest import Manifest, read_manifest
from vqaudit.records.ownership import SILENT_SECONDS
from vqaudit.records.parts import read_parts, trial_parts
from vqaudit.records.quarantine import QUARANTINE
from vqaudit.records.schemas import PLAN_SCHEMA
from vqaudit.records.session import SessionState, WorkerState, read_session
from vqaudit.records.trials import visible

__all__ = ["DesignProgress", "RunStatus", "StatusReader", "read_status"]

State = Literal["running", "complete", "interrupted", "failed", "gone", "imported"]
"""How a run stands. `gone`: the process that wrote it ended without a word; the same command goes on."""

_KEYS = ["trial", "outcome", "attempt"]


@dataclass(frozen=True, kw_only=True, slots=True)
class DesignProgress:
    """How far one design of one interface is. done + failed + missing = planned."""

    interface: str
    design: str
    planned: int
    done: int
    """Trials with an answer, whatever it is read as."""
    failed: int
    """Trials whose newest attempts failed; a resumed run asks them again."""
    missing: int
    """Trials without a record."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStatus:
    """How far a run is."""

    run: str
    model: str
    state: State
    planned: int
    done: int
    failed: int
    missing: int
    designs: tuple[DesignProgress, ...]
    attempts: int
    """Records on the disk, superseded attempts included."""
    parts: int
    last_part_seconds: float | None
    """Age of the newest part; None where there is none."""
    quarantined: int
    """Damaged parts that were taken out."""
    rate: float | None
    """Trials per second over the last minute; None unless it is running."""
    seconds_left: float | None
    """(failed + missing) / rate; None unless it is running and something was asked."""
    session: SessionState | None
    workers_alive: int | None
    """Workers heard within a minute; None unless it is running."""
    workers: tuple[WorkerState, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Returns the same as JSON values."""
        shown = asdict(self) | {"workers": [worker.model_dump(mode="json") for worker in self.workers]}
        return shown | {"session": None if self.session is None else self.session.model_dump(mode="json")}


class StatusReader:
    """Reads the status of one run again and again; parts that were read before are not read again.

    Args:
        run: The run directory.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._known: dict[str, pl.DataFrame] = {}

    def read(self) -> RunStatus:
        """Returns how far the run is now.

        Raises:
            RecordError: There is no run, or a part of it is damaged.
        """
        manifest, session = read_manifest(self._run), read_session(self._run)
        keys = read_parts(self._run, self._keys)
        plan, seen = read_table(self._run / "plan.parquet", PLAN_SCHEMA), visible(keys)
        whole = _whole(plan, seen)
        state = _state(manifest, session)
        live = session if state == "running" else None
        rate = None if live is None else live.rate
        left = whole["failed"] + whole["missing"]
        return RunStatus(
            run=str(self._run),
            model=manifest.model,
            state=state,
            **whole,
            designs=_by_design(plan, seen),
            attempts=keys.height,
            parts=len(trial_parts(self._run)),
            last_part_seconds=_age(self._run),
            quarantined=len(list((self._run / QUARANTINE).glob("*.json"))),
            rate=rate,
            seconds_left=left / rate if rate else None,
            session=session,
            workers_alive=None if live is None else _alive(live),
            workers=() if session is None else tuple(session.workers),
        )

    def _keys(self, parts: Iterable[Path]) -> pl.DataFrame:
        known = {path.name: self._known[path.name] if path.name in self._known else _read_keys(path) for path in parts}
        self._known = known
        return pl.concat(known.values()) if known else _EMPTY


_EMPTY = pl.DataFrame(schema={"trial": pl.String, "outcome": pl.String, "attempt": pl.Int32})


def read_status(run: str | Path) -> RunStatus:
    """Returns how far a run is, also while another process writes it.

    Raises:
        RecordError: There is no run, or a part of it is damaged.
    """
    return StatusReader(Path(run)).read()


def _read_keys(path: Path) -> pl.DataFrame:
    try:
        with path.open("rb") as handle, pq.ParquetFile(handle, page_checksum_verification=True) as file:
            return as_frame(file.read(columns=_KEYS))
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise RecordError(f"{path} is not a readable part of a run: {error}") from error


_COUNTS = (
    pl.len().alias("planned"),
    (pl.col("outcome") != "failed").sum().alias("done"),
    (pl.col("outcome") == "failed").sum().alias("failed"),
    pl.col("outcome").is_null().sum().alias("missing"),
)


def _by_design(plan: pl.DataFrame, seen: pl.DataFrame) -> tuple[DesignProgress, ...]:
    once = plan.unique(["trial", "interface", "design"], maintain_order=True)
    counted = (
        once.join(seen.select("trial", "outcome"), on="trial", how="left")
        .group_by("interface", "design", maintain_order=True)
        .agg(*_COUNTS)
    )
    return tuple(DesignProgress(**row) for row in counted.iter_rows(named=True))


def _whole(plan: pl.DataFrame, seen: pl.DataFrame) -> dict[str, int]:
    """Every trial once, whatever number of designs asked for it; a run without a plan has what it has."""
    trials = plan.select("trial").unique() if plan.height else seen.select("trial")
    return trials.join(seen.select("trial", "outcome"), on="trial", how="left").select(*_COUNTS).row(0, named=True)


def _state(manifest: Manifest, session: SessionState | None) -> State:
    if session is not None and session.ended is None:
        return "running" if _lives(session) else "gone"
    return "gone" if manifest.status == "started" else manifest.status


def _lives(session: SessionState) -> bool:
    """Whether the process is there: on this machine its number tells, elsewhere its last sign."""
    if session.host == socket.gethostname():
        try:
            os.kill(session.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
    return session.silent < SILENT_SECONDS


def _alive(session: SessionState) -> int:
    return sum(w.state != "starting" and w.silent < SILENT_SECONDS for w in session.workers)


def _age(run: Path) -> float | None:
    ages = []
    for path in trial_parts(run):
        try:
            ages.append(time.time() - path.stat().st_mtime)
        except FileNotFoundError:
            continue
    return max(0.0, min(ages)) if ages else None
