"""An event loop on a thread of its own, so that a caller need not be asynchronous, notebooks included.

Knows coroutines. Knows no server.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["Background"]

T = TypeVar("T")
_LAST_WORDS = 5.0
"""Seconds that cancelled requests have to let go."""


class Background:
    """Runs coroutines; Ctrl-C in the caller cancels what it waits for."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="vqaudit-server", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Returns what the coroutine returns; raises what it raises."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        finally:
            _let_go(future)

    def stream(self, work: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]]) -> Iterator[T]:
        """Yields what the work puts, as it comes; then raises what it raised.

        Closing the iterator, or an exception in the caller such as Ctrl-C, cancels the work.

        Args:
            work: Takes a function to put values with, returns the coroutine to run.
        """
        found: queue.SimpleQueue[T | _End] = queue.SimpleQueue()
        future = asyncio.run_coroutine_threadsafe(work(found.put), self._loop)
        future.add_done_callback(lambda _: found.put(_END))
        try:
            while not isinstance(value := found.get(), _End):
                yield value
            future.result()
        finally:
            _let_go(future)

    def close(self) -> None:
        """Stops the loop."""
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_LAST_WORDS)
        if not self._thread.is_alive() and not self._loop.is_closed():
            self._loop.close()


class _End:
    """Nothing more comes."""


_END = _End()


def _let_go(future: Future[Any]) -> None:
    if not future.done():
        future.cancel()
        with suppress(CancelledError, TimeoutError, Exception):
            future.result(_LAST_WORDS)
