"""This process asks, group after group in the plan's order.

Knows one engine.
"""

from __future__ import annotations

import os
import socket
import time

from vqaudit.engines.base import Engine
from vqaudit.records import PartWriter, WorkerState
from vqaudit.run.asker import Asker
from vqaudit.run.executors.base import Desk

__all__ = ["Here"]


class Here:
    """Asks in this process.

    Args:
        engine: Who answers.
        worker: The name in the names of the parts.
        made: Whether the engine was made for this executor, which then closes it.
    """

    def __init__(self, engine: Engine, *, worker: str = "w0", made: bool = False) -> None:
        self._engine = engine
        self._made = made
        self._worker = worker

    @property
    def engine(self) -> Engine:
        """Who answers."""
        return self._engine

    def ask(self, desk: Desk) -> None:
        """Asks every waiting group; see `Executor`."""
        told = WorkerState(name=self._worker, host=socket.gethostname(), pid=os.getpid(), state="asking")
        answered = time.monotonic()

        def advance(asked: int, failed: int) -> None:
            nonlocal answered
            answered = time.monotonic()
            desk.count(asked, failed)

        def workers() -> list[WorkerState]:
            return [told.model_copy(update={"trials": desk.asked, "silent": time.monotonic() - answered})]

        desk.workers = workers
        asker = Asker(
            engine=self._engine,
            spec=desk.spec,
            writer=PartWriter(desk.out, worker=self._worker),
            worker=self._worker,
            advance=advance,
            stop=desk.stop,
        )
        for waiting in desk.waiting:
            asker.ask(desk.group(waiting))

    def close(self) -> None:
        """Closes the engine where it was made for this executor."""
        if self._made:
            self._engine.close()
