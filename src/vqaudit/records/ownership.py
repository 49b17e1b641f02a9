"""Who writes a run: one process at a time, on any machine that sees the directory.

Knows processes and a lock. Knows no record.

Two signs, since neither is enough alone. The kernel's lock on `.driver.lock` ends with its process, so that a kill
leaves nothing behind; some network file systems do not carry it from machine to machine. So the owner also writes its
name into `session.json` every few seconds, and a foreign owner that wrote lately is believed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from vqaudit.errors import RecordError, RunConflict
from vqaudit.records.clock import utc_now
from vqaudit.records.session import SESSION_FILE, SessionState, read_session, write_session

__all__ = ["SILENT_SECONDS", "Owner", "own_run"]

_LOCK_FILE = ".driver.lock"
_BEAT_SECONDS = 2.0
"""The owner tells of itself so often."""
SILENT_SECONDS = 60.0
"""An owner on another machine that has not written for so long is gone."""


class Owner:
    """The process that may write into a run, and what it tells of itself. Made by `own_run`."""

    def __init__(self, run: Path, state: SessionState) -> None:
        self.run = run
        self._state = state
        self._guard = threading.RLock()
        self._over = threading.Event()
        self._report: Callable[[], Mapping[str, object]] = dict

    @property
    def state(self) -> SessionState:
        """What the next sign of life will tell."""
        return self._state

    def tell(self, **changes: object) -> None:
        """Writes `session.json` now.

        Raises:
            RecordError: The disk is full or not writable.
        """
        with self._guard:
            changes = {**self._report(), **changes, "beat": time.time()}
            self._state = self._state.model_copy(update=changes)
            write_session(self.run, self._state)

    @contextmanager
    def reporting(self, report: Callable[[], Mapping[str, object]]) -> Iterator[None]:
        """Within the block every sign of life, and a last one, tells what `report` returns."""
        self._report = report
        try:
            yield
        finally:
            with suppress(RecordError):  # a full disk: what ended the block matters more
                self.tell()
            self._report = dict

    def _live(self) -> None:
        while not self._over.wait(_BEAT_SECONDS):
            with suppress(RecordError):  # the records meet the same full disk, and what they say of it stops the run
                self.tell()

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Tells every few seconds, from a thread, while the block runs."""
        teller = threading.Thread(target=self._live, name="vqaudit-session", daemon=True)
        teller.start()
        try:
            yield
        finally:
            self._over.set()
            teller.join()


@contextmanager
def own_run(run: Path) -> Iterator[Owner]:
    """Makes this process the only writer of a run directory while the block runs.

    A directory that was made for it and stays empty is removed again.

    Raises:
        RunConflict: Another process is writing here; the message names it.
        RecordError: The directory is not writable.
    """
    made = not run.exists()
    try:
        run.mkdir(parents=True, exist_ok=True)
        handle = (run / _LOCK_FILE).open("a", encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{run} cannot be written ({error.strerror or error})") from error
    with handle:
        _lock(handle, run)
        owner = Owner(run, _next_session(run))
        owner.tell()
        try:
            with owner.alive():
                yield owner
        finally:
            with suppress(RecordError):  # a full disk: what ended the session matters more
                owner.tell(ended=utc_now())
            if made:
                _remove_if_empty(run)


def _lock(handle: IO[str], run: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise RunConflict(_refusal(run, read_session(run))) from error
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise RecordError(f"{run} cannot be locked ({error.strerror or error})") from error
    before = read_session(run)
    if before is None or before.ended is not None or before.host == socket.gethostname():
        return
    if before.silent < SILENT_SECONDS:
        raise RunConflict(_refusal(run, before))


def _refusal(run: Path, owner: SessionState | None) -> str:
    who = "" if owner is None else f" (process {owner.pid} on {owner.host}, since {owner.started})"
    return f"{run} is being written by another process{who}; wait for it or choose another --out"


def _next_session(run: Path) -> SessionState:
    before = read_session(run)
    attempts = 0 if before is None else before.next_attempts_from
    return SessionState(
        number=0 if before is None else before.number + 1,
        pid=os.getpid(),
        host=socket.gethostname(),
        started=utc_now(),
        beat=time.time(),
        attempts_from=attempts,
        next_attempts_from=attempts,
    )


def _remove_if_empty(run: Path) -> None:
    """Removes a directory that holds nothing but the signs of its owner."""
    with suppress(OSError):
        if {path.name for path in run.iterdir()} <= {_LOCK_FILE, SESSION_FILE}:
            (run / SESSION_FILE).unlink(missing_ok=True)
            (run / _LOCK_FILE).unlink(missing_ok=True)
            run.rmdir()
