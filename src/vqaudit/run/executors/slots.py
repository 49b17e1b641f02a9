"""The place of one worker: who stands in it now, what it has in hand, and when it was last heard.

Knows groups and names. Knows neither Ray nor an engine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vqaudit.records import WorkerState, worker_trials
from vqaudit.run.executors.worker import Answered, Hello, hand_file
from vqaudit.run.groups import Waiting

__all__ = ["Slot", "left_behind"]


@dataclass(kw_only=True, slots=True)
class Slot:
    """One worker's place. Whoever is lost is replaced by another under a new name."""

    number: int
    session: int
    lives: int = 0
    """Workers that stood here before."""
    actor: Any = None
    hello: Hello | None = None
    """None until the worker has its engine."""
    waiting: Waiting | None = None
    """The group that it has in hand."""
    answer: Any = None
    """What will hold the answer to what was asked last: to load, or to ask a group."""
    sign: Any = None
    """What will hold the next sign of life."""
    heard: float = field(default_factory=time.monotonic)
    counted: tuple[int, int] = (0, 0)
    """Trials asked and failed in this worker's life, as far as they were counted."""
    before: int = 0
    """Trials that it had asked when it got its group."""

    @property
    def name(self) -> str:
        """The name in the names of its parts: session, place, life."""
        return f"s{self.session}w{self.number}r{self.lives}"

    @property
    def free(self) -> bool:
        """Whether it can take a group."""
        return self.hello is not None and self.waiting is None

    @property
    def silent(self) -> float:
        """Seconds since it was last heard to have answered something."""
        return time.monotonic() - self.heard

    def settle(self, actor: Any) -> None:
        """Puts a new worker here."""
        self.actor, self.hello, self.waiting = actor, None, None
        self.answer = self.sign = None
        self.counted, self.before = (0, 0), 0
        self.heard = time.monotonic()

    def take(self, waiting: Waiting) -> None:
        """Notes the group that it has in hand from now on."""
        self.waiting, self.before = waiting, self.counted[0]
        self.heard = time.monotonic()

    def hear(self, answered: Answered) -> tuple[int, int]:
        """Notes a sign of life; returns the trials asked and failed since the last one."""
        fresh = answered.asked - self.counted[0], answered.failed - self.counted[1]
        if fresh[0]:
            self.heard = time.monotonic()
        self.counted = answered.asked, answered.failed
        return fresh

    def state(self) -> WorkerState:
        """Returns what the session tells of it."""
        hello = self.hello
        return WorkerState(
            name=self.name,
            host=None if hello is None else hello.host,
            pid=None if hello is None else hello.pid,
            state="starting" if hello is None else "asking" if self.waiting is not None else "idle",
            trials=self.counted[0],
            silent=self.silent,
            replaced=self.lives,
        )


def left_behind(out: Path, name: str, waiting: Waiting) -> Waiting:
    """Returns what is left of a group after its worker was lost: what is not on the disk under its name.

    Args:
        out: The run directory.
        name: The lost worker's name.
        waiting: The group as the worker got it.
    """
    pending = waiting.pending - worker_trials(out, name)
    return waiting.again(pending, frozenset(_in_hand(hand_file(out, name))) & pending)


def _in_hand(path: Path) -> Sequence[str]:
    """The trials of the batch that a careful worker was about to ask; none where it did not get that far."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    finally:
        path.unlink(missing_ok=True)
