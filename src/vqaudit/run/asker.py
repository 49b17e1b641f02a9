"""Asks one group of trials: requests out, outcomes read, records written.

Knows plans, engines and parts. Knows neither who else asks nor which group comes next.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vqaudit.asking.plan import Plan, Trial
from vqaudit.asking.prompts import Prompt, render
from vqaudit.engines.base import Engine, Outcome, Request, StreamingEngine
from vqaudit.errors import DatasetError, EngineError, EngineReplyError
from vqaudit.progress import Advance, no_progress
from vqaudit.records import PartWriter, write_text
from vqaudit.run.groups import Group
from vqaudit.run.outcomes import make_record
from vqaudit.run.requests import AskSpec, Pictures, make_request
from vqaudit.run.stopping import Stop

__all__ = ["Asker"]

_FLUSH_RECORDS, _FLUSH_STATES = 4096, 256
"""Records that are held back at most; fewer where each carries hidden states."""
_FLUSH_SECONDS = 1.0
"""So long at most is an answer in memory alone."""
_GIVE_UP_BATCHES = 3
"""So many batches with an unexpected error while nothing was answered: the engine is broken, not the trials."""


@dataclass(kw_only=True, slots=True)
class Asker:
    """Who asks an engine and writes what comes back, under one worker's name."""

    engine: Engine
    spec: AskSpec
    writer: PartWriter
    worker: str
    advance: Advance = no_progress
    stop: Stop = field(default_factory=Stop)
    hand: Path | None = None
    """Where it notes the trials in hand, when a group is asked carefully."""
    asked: int = 0
    failed: int = 0
    _buffer: list[dict[str, Any]] = field(default_factory=list)
    _flushed: float = field(default_factory=time.monotonic)
    _broken: int = 0
    _streams: bool = field(init=False)

    def __post_init__(self) -> None:
        self._streams = isinstance(self.engine, StreamingEngine)

    def flush(self) -> None:
        """Writes what was answered and is not on the disk yet."""
        self.writer.write(self._buffer)
        self._buffer.clear()
        self._flushed = time.monotonic()

    def ask(self, group: Group) -> None:
        """Asks what is pending in a group; records reach the disk about once a second, and all of them at the end.

        Raises:
            EngineError: The engine is broken; what was answered is on disk.
            RecordError: The disk is full or not writable.
            Terminated: Somebody asked to stop; the batch in hand was finished and written.
        """
        try:
            # What is open at a server can be dropped, and may take minutes; what was answered is kept as it came.
            with nullcontext() if self._streams else self.stop.patient():
                self._ask(group)
        finally:
            self.flush()

    def _ask(self, group: Group) -> None:
        plan = group.plan
        by_id = {trial.id: trial for trial in plan.trials}
        prompts = {trial.id: render(plan.items[trial.item], trial.variant) for trial in plan.trials}
        for batch in self.engine.batches(self._requests(group, prompts)):
            self.stop.check()
            wanted = [request for request in batch if request.trial in group.pending]
            if not wanted:
                continue
            asked = list(batch) if self.engine.batch_sensitive else wanted
            if group.careful and self.hand is not None:
                self.flush()
                write_text(self.hand, json.dumps([request.trial for request in wanted]))
            for outcome in self._outcomes(asked):
                if outcome.trial in group.pending:
                    self._keep(group, by_id[outcome.trial], prompts[outcome.trial], outcome)
                if self._streams:
                    self.stop.check()
        self.stop.check()

    def _requests(self, group: Group, prompts: Mapping[str, Prompt]) -> list[Request]:
        """The group's requests; a trial whose picture cannot be decoded is recorded and not asked."""
        plan: Plan = group.plan
        pictures = Pictures(max_pixels=self.spec.image_max_pixels)
        requests: list[Request] = []
        for trial in plan.trials:
            prompt = prompts[trial.id]
            try:
                images = pictures.of(plan.items[trial.item])
            except DatasetError as error:
                if trial.id in group.pending:
                    self._keep(group, trial, prompt, Outcome(trial=trial.id, error=str(error), bad_input=True))
                continue
            requests.append(make_request(plan, trial, prompt, images, self.spec))
        return requests

    def _outcomes(self, batch: Sequence[Request]) -> Iterator[Outcome]:
        """One outcome per request, as they come; what an engine cannot answer fails, and a broken engine raises."""
        open_requests = {request.trial: request for request in batch}
        try:
            for outcome in self._answers(batch):
                if open_requests.pop(outcome.trial, None) is None:
                    what = f"doubles or strangers, as {outcome.trial!r}"
                    raise EngineReplyError(f"{self.engine.name} answered {len(batch)} requests with {what}")
                yield outcome
            why = "the engine returned no outcome"
        except EngineError:
            raise
        except Exception as error:
            self._broken += 1
            why = f"{type(error).__name__}: {error}"
            if self._broken >= _GIVE_UP_BATCHES and self.asked == self.failed:
                raise EngineError(
                    f"{self.engine.name} failed {self._broken} times, answering nothing: {why}"
                ) from error
        for trial in open_requests:
            yield Outcome(trial=trial, error=why)

    def _answers(self, batch: Sequence[Request]) -> Iterable[Outcome]:
        return self.engine.stream(batch) if isinstance(self.engine, StreamingEngine) else self.engine.answer(batch)

    def _keep(self, group: Group, trial: Trial, prompt: Prompt, outcome: Outcome) -> None:
        attempt = group.attempts.get(trial.id, group.attempts_from)
        record = make_record(group.plan, trial, prompt, outcome, attempt=attempt, worker=self.worker)
        self._buffer.append(record)
        self.asked += 1
        failed = record["outcome"] == "failed"
        self.failed += failed
        self.advance(1, int(failed))
        most = _FLUSH_RECORDS if record.get("states") is None else _FLUSH_STATES
        if len(self._buffer) >= most or time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self.flush()
