"""What an executor is given and what it must do.

Knows groups and the owner of a run. Knows no engine by name.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from vqaudit.asking.plan import Plan
from vqaudit.engines.base import Engine
from vqaudit.progress import Advance, no_progress
from vqaudit.records import Owner, WorkerState
from vqaudit.run.groups import Group, Waiting
from vqaudit.run.requests import AskSpec
from vqaudit.run.stopping import Stop

__all__ = ["Desk", "Executor"]

_RATE_SECONDS = 60.0
"""Rates are of the last minute."""


@dataclass(kw_only=True, slots=True)
class Desk:
    """One round of a session: what is waiting, and whom to tell."""

    plan: Plan
    spec: AskSpec
    owner: Owner
    waiting: list[Waiting]
    attempts: Mapping[str, int]
    """Number of the newest attempt of trials that were asked before."""
    advance: Advance = no_progress
    stop: Stop = field(default_factory=Stop)
    asked: int = 0
    failed: int = 0
    deaths: int = 0
    """Workers that were lost and replaced."""
    executor: str = "here"
    """What the session tells of who asks."""
    workers: Callable[[], list[WorkerState]] = list
    """What the executor says of its workers now."""
    _seen: deque[tuple[float, int]] = field(default_factory=deque)
    """(time, trials asked until then) over the last minute."""

    @property
    def out(self) -> Path:
        """The run directory."""
        return self.owner.run

    def group(self, waiting: Waiting) -> Group:
        """Returns a group as a worker gets it."""
        return waiting.group(self.plan, self.attempts, attempts_from=self.owner.state.attempts_from)

    def count(self, asked: int, failed: int) -> None:
        """Counts trials that were asked, of which some failed."""
        self.asked += asked
        self.failed += failed
        self.advance(asked, failed)

    def report(self) -> dict[str, object]:
        """Returns what the session's next sign of life tells; see `records.SessionState`."""
        now = time.monotonic()
        self._seen.append((now, self.asked))
        while now - self._seen[0][0] > _RATE_SECONDS and len(self._seen) > 2:
            self._seen.popleft()
        since, before = self._seen[0]
        rate = (self.asked - before) / (now - since) if now > since and self.asked else None
        return {
            "executor": self.executor,
            "asked": self.asked,
            "failed": self.failed,
            "deaths": self.deaths,
            "rate": rate,
            "workers": self.workers(),
        }


class Executor(Protocol):
    """Who asks groups."""

    @property
    def engine(self) -> Engine:
        """Who describes the model; it need not be in this process."""
        ...

    def ask(self, desk: Desk) -> None:
        """Asks every waiting group; returns when each has its records on the disk.

        Raises:
            EngineError: Nothing can be answered any more; what was answered is on disk.
            RecordError: The disk is full or not writable.
            KeyboardInterrupt: Somebody stopped the run; what was answered is on disk.
        """
        ...

    def close(self) -> None:
        """Frees what was started for it."""
        ...
