"""How a run is asked to stop: at once, or when the batch in hand is finished.

Knows signals. Knows no engine and no record.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Stop", "Terminated"]


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived; where a batch was in hand, it was finished and written first."""


class Stop:
    """Whether somebody asked the run to end, and whether it may take its time.

    While a batch is in hand (`patient`), the first SIGTERM only leaves word, and the run ends when the batch is
    finished and written; a second one, or Ctrl-C, ends it at once. At any other time SIGTERM ends it at once.

    Example:
        >>> stop = Stop()
        >>> stop.asked
        False
        >>> stop.ask()
        >>> stop.asked
        True
    """

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._patient = 0

    @property
    def asked(self) -> bool:
        """Whether the run should end at the next occasion."""
        return self._asked.is_set()

    def ask(self) -> None:
        """Leaves word that the run should end at the next occasion."""
        self._asked.set()

    def check(self) -> None:
        """Ends the run if somebody asked for it.

        Raises:
            Terminated: Somebody did.
        """
        if self.asked:
            raise Terminated

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Within the block SIGTERM waits for the next `check`."""
        self._patient += 1
        try:
            yield
        finally:
            self._patient -= 1

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Within the block SIGTERM comes here. For the main thread alone."""
        before = signal.signal(signal.SIGTERM, self._receive)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    def _receive(self, signum: int, frame: object) -> None:
        again = self.asked
        self.ask()
        if again or not self._patient:
            raise Terminated
