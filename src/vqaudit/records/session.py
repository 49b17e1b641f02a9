"""What the process that writes a run tells of itself, for whoever looks on: `session.json`.

Knows counts and workers. Nothing that is computed from records depends on it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vqaudit.records.files import write_text

__all__ = ["SESSION_FILE", "SessionState", "WorkerState", "read_session", "write_session"]

SESSION_FILE = "session.json"


class WorkerState(BaseModel):
    """One worker of a session."""

    model_config = ConfigDict(extra="ignore")

    name: str
    """As in the names of its parts."""
    host: str | None = None
    pid: int | None = None
    state: Literal["starting", "asking", "idle"] = "starting"
    trials: int = 0
    """Trials that it asked in this session."""
    silent: float = 0.0
    """Seconds since it last answered anything, when the session was told."""
    replaced: int = 0
    """Workers in this place that died or hung before it."""


class SessionState(BaseModel):
    """One session: from the start of a process that asks to its end."""

    model_config = ConfigDict(extra="ignore")

    number: int
    """Counts the sessions of a run, from 0."""
    pid: int
    host: str
    started: str
    """UTC, ISO 8601."""
    beat: float
    """When the process last wrote this, in seconds since the epoch."""
    ended: str | None = None
    """UTC; None while it runs, and where it was killed."""
    executor: str = "here"
    attempts_from: int = 0
    """Attempts of this session have at least this number: whatever a lost worker of an earlier one still writes is
    older than what this session writes, and stays invisible."""
    next_attempts_from: int = 0
    """The same for the next session."""
    planned: int = 0
    pending: int = 0
    """Trials that had no answer when this round of the session began."""
    asked: int = 0
    failed: int = 0
    rate: float | None = None
    """Trials per second over the last minute; None before anything was asked."""
    deaths: int = 0
    """Workers that died or hung and were replaced."""
    workers: list[WorkerState] = Field(default_factory=list)

    @property
    def silent(self) -> float:
        """Seconds since the process last wrote."""
        return max(0.0, time.time() - self.beat)


def write_session(run: Path, state: SessionState) -> None:
    """Writes `session.json` atomically."""
    write_text(run / SESSION_FILE, state.model_dump_json(indent=1) + "\n")


def read_session(run: Path) -> SessionState | None:
    """Returns what the last session told; None where there is none or it cannot be read."""
    try:
        return SessionState.model_validate(json.loads((run / SESSION_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError):
        return None
