"""One session of a run: what is pending is asked, what comes back is written.

Knows plans, the run directory and who asks. Every planned trial ends in exactly one visible record, whatever is
killed and however often it is resumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from vqaudit.asking.plan import Plan
from vqaudit.engines.base import Engine
from vqaudit.progress import Advance, no_progress
from vqaudit.records import Owner, Quarantined, missing_trials, own_run, read_sound_trials, visible
from vqaudit.run.executors import Desk, Executor, Here
from vqaudit.run.groups import cut_groups
from vqaudit.run.requests import AskSpec
from vqaudit.run.stopping import Stop

__all__ = ["Session", "ask_plan", "run_plan"]

_Bar = Callable[[int, int], AbstractContextManager[Advance]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """What one call of `run_plan` did."""

    planned: int
    asked: int
    failed: int
    seconds: float
    quarantined: tuple[Quarantined, ...] = field(default=())
    """Damaged parts that were taken out; their trials were asked again."""


def run_plan(plan: Plan, engine: Engine, *, out: Path, spec: AskSpec) -> Session:
    """Asks, in this process, what the plan asks for and the run directory does not hold yet.

    Records reach the disk at least once a second, each part whole; a kill loses only the batch in flight.

    Raises:
        EngineError: The engine is broken; what was answered is on disk.
        RunConflict: Another process is writing here.
        RecordError: The disk is full or not writable; what was written before is whole.
        KeyboardInterrupt: Passed on after the buffer was written.
    """
    with own_run(out) as owner:
        return ask_plan(plan, Here(engine), owner=owner, spec=spec)


def ask_plan(
    plan: Plan,
    executor: Executor,
    *,
    owner: Owner,
    spec: AskSpec,
    bar: _Bar | None = None,
    stop: Stop | None = None,
) -> Session:
    """Asks what the plan asks for and the owned run directory does not hold yet; see `run_plan`.

    Args:
        plan: What is asked.
        executor: Who asks.
        owner: The right to write into the run directory; see `records.own_run`.
        spec: What is the same in every request.
        bar: Shows how far it is, given the trials planned and those done before.
        stop: How it is asked to stop; None = by exceptions alone.
    """
    started = time.monotonic()
    records, taken = read_sound_trials(owner.run)
    known = visible(records)
    pending = missing_trials((trial.id for trial in plan.trials), known)
    desk = Desk(
        plan=plan,
        spec=spec,
        owner=owner,
        waiting=list(cut_groups(plan, pending, spec)),
        attempts=_newest_attempts(records, pending),
        stop=stop or Stop(),
    )
    owner.tell(planned=len(plan), pending=len(pending))
    shown = nullcontext(no_progress) if bar is None else bar(len(plan), len(plan) - len(pending))
    with owner.reporting(desk.report), shown as desk.advance:
        executor.ask(desk)
    return Session(
        planned=len(plan),
        asked=desk.asked,
        failed=desk.failed,
        seconds=time.monotonic() - started,
        quarantined=tuple(taken),
    )


def _newest_attempts(records: pl.DataFrame, pending: set[str]) -> dict[str, int]:
    """Number of the newest attempt of every pending trial that was asked before."""
    asked = records.filter(pl.col("trial").is_in(list(pending))) if records.height and pending else records.clear()
    return dict(asked.group_by("trial").agg(pl.col("attempt").max()).iter_rows())
