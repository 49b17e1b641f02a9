"""One session of a run: what is pending is asked, what comes back is written.

Knows plans, engines and the run directory. Every planned trial ends in exactly one visible record, whatever is
killed and however often it is resumed.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vqaudit.asking.plan import Plan, Trial
from vqaudit.asking.prompts import Prompt, render
from vqaudit.engines.base import Engine, Outcome, Request
from vqaudit.errors import DatasetError, EngineError, EngineReplyError, RunConflict
from vqaudit.progress import Advance, no_progress
from vqaudit.records import PartWriter, missing_trials, read_trials, visible
from vqaudit.run.outcomes import make_record
from vqaudit.run.requests import AskSpec, Pictures, make_request

__all__ = ["Session", "run_plan"]

FLUSH_RECORDS = 512
FLUSH_SECONDS = 1.0
GIVE_UP_BATCHES = 3
"""So many batches with an unexpected error while nothing was answered: the engine is broken, not the trials."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """What one call of `run_plan` did."""

    planned: int
    asked: int
    failed: int
    seconds: float


@contextmanager
def _only_driver(out: Path) -> Iterator[None]:
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".driver.lock").open("w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise RunConflict(
                f"{out} is being written by another process; wait for it or choose another --out"
            ) from error
        yield


@dataclass(kw_only=True, slots=True)
class _Driver:
    """One session: what is pending, and the records that are not on disk yet."""

    plan: Plan
    engine: Engine
    spec: AskSpec
    writer: PartWriter
    worker: str
    pending: set[str]
    attempts: Mapping[str, int]
    advance: Advance
    buffer: list[dict[str, Any]] = field(default_factory=list)
    flushed: float = field(default_factory=time.monotonic)
    asked: int = 0
    failed: int = 0
    broken: int = 0

    def flush(self) -> None:
        self.writer.write(self.buffer)
        self.buffer.clear()
        self.flushed = time.monotonic()

    def keep(self, trial: Trial, prompt: Prompt, outcome: Outcome) -> None:
        attempt = self.attempts.get(trial.id, -1) + 1
        record = make_record(self.plan, trial, prompt, outcome, attempt=attempt, worker=self.worker)
        self.buffer.append(record)
        self.asked += 1
        failed = record["outcome"] == "failed"
        self.failed += failed
        self.advance(1, int(failed))
        if len(self.buffer) >= FLUSH_RECORDS or time.monotonic() - self.flushed > FLUSH_SECONDS:
            self.flush()

    def window(self, trials: Sequence[Trial]) -> None:
        if not any(trial.id in self.pending for trial in trials):
            return
        by_id = {trial.id: trial for trial in trials}
        prompts = {trial.id: render(self.plan.items[trial.item], trial.variant) for trial in trials}
        for batch in self.engine.batches(self.requests(trials, prompts)):
            wanted = [request for request in batch if request.trial in self.pending]
            if not wanted:
                continue
            asked = list(batch) if self.engine.batch_sensitive else wanted
            for outcome in self.outcomes(asked):
                if outcome.trial in self.pending:
                    self.keep(by_id[outcome.trial], prompts[outcome.trial], outcome)

    def requests(self, trials: Sequence[Trial], prompts: Mapping[str, Prompt]) -> list[Request]:
        """The window's requests; a trial whose picture cannot be decoded is recorded and not asked."""
        pictures = Pictures(max_pixels=self.spec.image_max_pixels)
        requests: list[Request] = []
        for trial in trials:
            prompt = prompts[trial.id]
            try:
                images = pictures.of(self.plan.items[trial.item])
            except DatasetError as error:
                if trial.id in self.pending:
                    self.keep(trial, prompt, Outcome(trial=trial.id, error=str(error), bad_input=True))
                continue
            requests.append(make_request(self.plan, trial, prompt, images, self.spec))
        return requests

    def outcomes(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        try:
            found = self.engine.answer(batch)
        except EngineError:
            raise
        except Exception as error:
            self.broken += 1
            why = f"{type(error).__name__}: {error}"
            if self.broken >= GIVE_UP_BATCHES and self.asked == self.failed:
                raise EngineError(f"{self.engine.name} failed {self.broken} times, answering nothing: {why}") from error
            return [Outcome(trial=r.trial, error=why) for r in batch]
        return _complete(batch, found)


def _complete(batch: Sequence[Request], found: Sequence[Outcome]) -> list[Outcome]:
    """Exactly one outcome per request: none is lost, none is doubled, none is a stranger's."""
    by_trial = {outcome.trial: outcome for outcome in found}
    strangers = by_trial.keys() - {request.trial for request in batch}
    if strangers or len(by_trial) != len(found):
        raise EngineReplyError(
            f"the engine answered {len(found)} outcomes for {len(batch)} requests, with doubles or strangers"
        )
    missing = "the engine returned no outcome"
    return [by_trial.get(r.trial) or Outcome(trial=r.trial, error=missing) for r in batch]


def run_plan(
    plan: Plan,
    engine: Engine,
    *,
    out: Path,
    spec: AskSpec,
    worker: str = "w0",
    advance: Advance = no_progress,
) -> Session:
    """Asks what the plan asks for and the run directory does not hold yet; writes records as they come.

    Records reach the disk at least once a second, each part whole; a kill loses only the batch in flight.

    Raises:
        EngineError: The engine is broken; what was answered is on disk.
        RunConflict: Another process is writing here.
        RecordError: The disk is full or not writable; what was written before is whole.
        KeyboardInterrupt: Passed on after the buffer was written.
    """
    started = time.monotonic()
    with _only_driver(out):
        known = visible(read_trials(out))
        pending = missing_trials((trial.id for trial in plan.trials), known)
        driver = _Driver(
            plan=plan,
            engine=engine,
            spec=spec,
            writer=PartWriter(out, worker=worker),
            worker=worker,
            pending=pending,
            attempts=dict(known.select("trial", "attempt").iter_rows()),
            advance=advance,
        )
        try:
            for window in plan.windows():
                driver.window(window)
        finally:
            driver.flush()
    return Session(planned=len(plan), asked=driver.asked, failed=driver.failed, seconds=time.monotonic() - started)
