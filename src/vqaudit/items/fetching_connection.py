"""A connection to an address that was checked, with a deadline that no drip of bytes outlasts.

Knows sockets and TLS. Knows no URL and reads no answer.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from vqaudit.items.fetching_addresses import Resolve, public_addresses, system_addresses

__all__ = ["PORTS", "CheckedConnection", "Clock", "Wire"]

PORTS = {"https": 443, "http": 80}
"""Scheme -> the port of a URL that names none."""
_CONNECT_SECONDS = 10.0
_ADDRESSES = 3
"""Of the addresses of one host so many are tried."""


@cache
def _system_tls() -> ssl.SSLContext:
    return ssl.create_default_context()


@dataclass(frozen=True, kw_only=True, slots=True)
class Wire:
    """How addresses, connections and pauses are had. Only tests give others than the system's."""

    resolve: Resolve = system_addresses
    connect: Callable[[tuple[str, int], float], socket.socket] = socket.create_connection
    """Opens a connection to an address, not to a name, within so many seconds."""
    tls: Callable[[], ssl.SSLContext] = _system_tls
    sleep: Callable[[float], None] = time.sleep
    seconds: float = 60.0
    """Within so many seconds a try must have ended, from the first name to the last byte."""


class Clock:
    """The deadline of one try."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Returns the seconds that are left.

        Raises:
            TimeoutError: None are.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _Reader(io.RawIOBase):
    """What comes from a socket: every single read ends at the deadline, so that no drip of bytes outlasts it."""

    def __init__(self, connected: socket.socket, clock: Clock) -> None:
        self._socket, self._clock = connected, clock
        self._raw = connected.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(self._clock.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedSocket:
    """What `http.client` needs of a socket, with a deadline."""

    def __init__(self, connected: socket.socket, clock: Clock) -> None:
        self._socket, self._clock = connected, clock

    def sendall(self, data: Any) -> None:
        self._socket.settimeout(self._clock.left())
        self._socket.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._socket, self._clock))

    def close(self) -> None:
        self._socket.close()


class CheckedConnection(http.client.HTTPConnection):
    """A connection to an address that was checked, whatever the name's address is by then."""

    def __init__(self, scheme: str, host: str, port: int, *, wire: Wire, clock: Clock) -> None:
        super().__init__(host, port)
        self.default_port = PORTS[scheme]  # a header `Host` without the port that is the scheme's own
        self._wire, self._clock = wire, clock

    def connect(self) -> None:
        """Resolves the name once, checks what it is, and connects to just that.

        Raises:
            ImageError: One of the host's addresses is not public.
            OSError: None of them answers; TLS fails.
        """
        connected = self._first(public_addresses(self.host, self.port, resolve=self._wire.resolve))
        if self.default_port == PORTS["https"]:
            connected = self._wrapped(connected)
        timed: Any = _TimedSocket(connected, self._clock)
        self.sock = timed

    def _wrapped(self, connected: socket.socket) -> socket.socket:
        try:
            connected.settimeout(self._clock.left())
            return self._wire.tls().wrap_socket(connected, server_hostname=self.host)
        except BaseException:
            connected.close()
            raise

    def _first(self, addresses: tuple[str, ...]) -> socket.socket:
        """Connects to the first address that answers."""
        trouble: OSError | None = None
        for address in addresses[:_ADDRESSES]:
            try:
                return self._wire.connect((address, self.port), min(_CONNECT_SECONDS, self._clock.left()))
            except OSError as error:
                trouble = error
        raise trouble or OSError("no address")
