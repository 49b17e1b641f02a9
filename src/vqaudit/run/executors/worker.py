"""What runs in a worker process: an engine of its own, and groups that are asked and written.

Knows engines and parts. Knows no other worker and no scheduler. Errors that a person should read are returned and
not raised, since not every exception survives the way between processes.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vqaudit.engines.base import Engine, StateKeeper, Unsteady
from vqaudit.errors import EngineError, VqauditError
from vqaudit.records import PartWriter, read_session
from vqaudit.run.asker import Asker
from vqaudit.run.groups import Group
from vqaudit.run.requests import AskSpec
from vqaudit.run.stopping import Stop, Terminated

__all__ = ["Answered", "Hello", "Job", "Trouble", "Worker", "hand_file"]

_SEEN_WITHIN = 10.0
"""Seconds that a network file system may take to show what the driver wrote."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What a worker must know before its first group."""

    name: str
    """In the names of its parts; never given twice in a run."""
    out: str
    """The run directory, absolute."""
    folder: str
    """Where relative paths of models and pictures begin."""
    session: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Trouble:
    """An error, as it travels between processes."""

    kind: str
    """Name of its class."""
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Hello:
    """A worker that has its engine."""

    host: str
    pid: int
    engine: str
    batch_sensitive: bool
    keeps_states: bool
    unsteady: bool
    description: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """How far a worker is. Counts are of its whole life."""

    asked: int
    failed: int
    stopped: bool = False
    """It was told to stop before the group was finished."""
    trouble: Trouble | None = None


def hand_file(out: Path, worker: str) -> Path:
    """Returns where a worker that asks carefully notes which trials it has in hand."""
    return out / "trials" / f".{worker}.hand"


@dataclass(slots=True)
class _Loaded:
    engine: Engine
    asker: Asker | None = field(default=None)
    out: Path | None = field(default=None)
    """Where the asker writes."""


class Worker:
    """One worker. Its methods are called one after the other, but for `sign` and `stop`, which come from aside.

    Args:
        job: What it must know.
        make: Makes the engine.
    """

    def __init__(self, job: Job, make: Callable[[], Engine]) -> None:
        self._job = job
        self._make = make
        self._stop = Stop()
        self._loaded: _Loaded | None = None

    def load(self) -> Hello | Trouble:
        """Makes the engine and says who is there."""
        try:
            if Path(self._job.folder).is_dir():
                os.chdir(self._job.folder)
            self._check_directory()
            engine = self._make()
            self._loaded = _Loaded(engine)
            return Hello(
                host=socket.gethostname(),
                pid=os.getpid(),
                engine=engine.name,
                batch_sensitive=engine.batch_sensitive,
                keeps_states=isinstance(engine, StateKeeper),
                unsteady=isinstance(engine, Unsteady) and engine.unsteady,
                description=dict(engine.describe()),
            )
        except VqauditError as error:
            return _trouble(error)

    def _check_directory(self) -> None:
        """Refuses a directory of the same name that is not the driver's own."""
        deadline = time.monotonic() + _SEEN_WITHIN
        while True:
            session = read_session(Path(self._job.out))
            if session is not None and session.number == self._job.session:
                return
            if time.monotonic() > deadline:
                raise EngineError(
                    f"the worker on {socket.gethostname()} does not see the run directory {self._job.out}; "
                    "it must stand on a file system that all machines share"
                )
            time.sleep(0.2)

    def engine_call(self, method: str, *arguments: Any) -> Any:
        """Returns what a method of the engine returns, or the trouble that it raised."""
        assert self._loaded is not None
        try:
            found = getattr(self._loaded.engine, method)(*arguments)
            return list(found) if method == "batches" else found
        except VqauditError as error:
            return _trouble(error)

    def ask(self, group: Group, spec: AskSpec, out: str) -> Answered:
        """Asks a group and writes its records.

        Args:
            group: What is asked.
            spec: What is the same in every request.
            out: Where the records go, absolute: the run directory, or that of its second answers.
        """
        trouble, stopped = None, False
        try:
            self._asker(spec, Path(out)).ask(group)
        except VqauditError as error:
            trouble = _trouble(error)
        except Terminated:
            stopped = True
        answered = self.sign()
        return Answered(asked=answered.asked, failed=answered.failed, stopped=stopped, trouble=trouble)

    def _asker(self, spec: AskSpec, out: Path) -> Asker:
        assert self._loaded is not None
        asker = self._loaded.asker
        if asker is None or self._loaded.out != out:
            so_far = self.sign()
            asker = Asker(
                engine=self._loaded.engine,
                spec=spec,
                writer=PartWriter(out, worker=self._job.name),
                worker=self._job.name,
                hand=hand_file(out, self._job.name),
                stop=self._stop,
                asked=so_far.asked,
                failed=so_far.failed,
            )
            self._loaded.asker, self._loaded.out = asker, out
        asker.spec = spec
        return asker

    def sign(self) -> Answered:
        """Returns how far it is, also in the middle of a group."""
        asker = None if self._loaded is None else self._loaded.asker
        return Answered(asked=asker.asked, failed=asker.failed) if asker is not None else Answered(asked=0, failed=0)

    def stop(self) -> None:
        """Makes it stop after the batch in hand."""
        self._stop.ask()


def _trouble(error: Exception) -> Trouble:
    return Trouble(kind=type(error).__name__, message=str(error))
