"""How long to wait before a request is sent again: back-off that honours `Retry-After`, shared by all requests.

Knows waits. Knows no server.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from vqaudit.engines.server.faults import Busy
from vqaudit.errors import EngineError

__all__ = ["Patience", "retry_after"]

T = TypeVar("T")

_LONGEST = 60.0
"""Seconds between two tries at most, unless the server asks for more."""
_TOO_LONG = 900.0
"""A server that asks for a longer pause ends the run, which can be resumed."""


def retry_after(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """Returns the seconds that a server asks to wait (RFC 9110, section 10.2.3), or None.

    Args:
        headers: Of its answer: `retry-after` in seconds or as a date, `retry-after-ms` in milliseconds.
        now: Unix time; the clock's where None.

    Example:
        >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "500"}), retry_after({})
        (2.0, 0.5, None)
    """
    try:
        if (value := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(value) / 1000)
    except ValueError:
        pass  # the plain header may still be right
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        return _until(value, time.time() if now is None else now)


def _until(date: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.fromtimestamp(now, UTC)).total_seconds())


class Patience:
    """Sends requests until they succeed or the tries are used up.

    Where one request is told how long to wait, none is sent before that time has passed.

    Args:
        retries: How often a request is sent again.
        first_wait: Seconds before the second try; doubled each time.
        sleep: How waiting is done.
    """

    def __init__(
        self, *, retries: int, first_wait: float, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._retries = retries
        self._first = first_wait
        self._sleep = sleep
        self._pause_ends = 0.0
        self._random = random.Random(0)  # spreads requests over time; no number of a run depends on it

    async def call(self, send: Callable[[], Awaitable[T]], *, count: Callable[[], None]) -> T:
        """Returns what `send` returns at last.

        Args:
            send: Sends the request once.
            count: Called before each try.

        Raises:
            Busy: The tries are used up; the last reason.
            EngineError: The server asks for a pause of more than a quarter of an hour.
        """
        from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt

        async def once() -> T:
            await self._wait_for_pause()
            count()
            return await send()

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._retries + 1),
            wait=self._wait,
            retry=retry_if_exception_type(Busy),
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(once)

    async def _wait_for_pause(self) -> None:
        while (left := self._pause_ends - time.monotonic()) > 0:
            await self._sleep(left)

    def _wait(self, state: object) -> float:
        """Seconds before the next try, for tenacity."""
        error = state.outcome.exception()  # type: ignore[attr-defined]
        backoff = min(_LONGEST, self._first * 2 ** (state.attempt_number - 1))  # type: ignore[attr-defined]
        backoff *= self._random.uniform(0.75, 1.25)
        asked = error.wait if isinstance(error, Busy) else None
        if asked is None:
            return backoff
        if asked > _TOO_LONG:
            raise EngineError(f"{error}; it asks to wait {asked:.0f} s, so run the same command again after that")
        self._pause_ends = max(self._pause_ends, time.monotonic() + asked)
        return max(asked, min(backoff, self._first))
