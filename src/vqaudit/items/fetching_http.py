"""One picture from one URL: checked addresses, few redirects, a deadline, a limit of bytes, nothing sent along.

Knows HTTP. Knows no item and no picture, and keeps nothing. No cookie, no credential and no proxy of the environment is
used; whatever the server sends, it is read as it comes and unpacked by nobody.
"""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from urllib.parse import quote, urljoin, urlsplit

from vqaudit.errors import ImageError
from vqaudit.items.fetching_connection import PORTS, CheckedConnection, Clock, Wire

__all__ = ["MAX_BYTES", "Download", "Unanswered", "download"]

MAX_BYTES = 32 * 2**20
"""Bytes of the largest picture that is fetched."""
_REDIRECTS = 3
_TRIES = 3
_FIRST_WAIT = 1.0
"""Seconds before the second try; twice as long before the third."""
_CHUNK = 1 << 16
_MOVED = (301, 302, 303, 307, 308)
_BUSY = (408, 425, 429)
"""Answers, beside all from 500, that may be others a little later."""


class Unanswered(ImageError):
    """The host could not be reached or had no answer in time; it may have one later."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    """What came back."""

    data: bytes
    origins: tuple[str, ...]
    """Scheme and host of every server that was asked on the way, in order."""


def download(url: str, *, wire: Wire | None = None, count: Callable[[int], None] | None = None) -> Download:
    """Fetches a URL; tries again, three times in all, where the server had no answer.

    Args:
        url: `https`, or `http` where the data say so; a redirect never leads from `https` to `http`.
        wire: For tests.
        count: Is told of bytes as they come, of those of refused answers too; may raise `ImageError`.

    Raises:
        ImageError: The URL, its host, the way there or the answer is refused; the message says why.
        Unanswered: The last of the tries had no answer.
    """
    wire = wire or Wire()
    wait = _FIRST_WAIT
    for left in reversed(range(_TRIES)):
        try:
            return _follow(url, wire, count or (lambda size: None))
        except Unanswered as error:
            if not left:
                raise Unanswered(f"{error.message} ({_TRIES} tries)") from error
        wire.sleep(wait)
        wait *= 2
    raise AssertionError("unreachable: the last try returns or raises")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Target:
    """A URL that may be asked for, taken apart."""

    url: str
    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, url: str) -> _Target:
        try:
            parts = urlsplit(url.strip())
            port = parts.port
        except ValueError as error:
            raise ImageError(f"not a usable URL ({error})") from None
        if parts.scheme not in PORTS:
            raise ImageError(f"only https and http are fetched, not {parts.scheme!r}")
        if "@" in parts.netloc:
            raise ImageError("the URL carries a user name or a password")
        if not parts.hostname:
            raise ImageError("the URL names no host")
        path = quote(parts.path or "/", safe="/%!$&'()*+,;=:@~")
        query = quote(parts.query, safe="/%!$&'()*+,;=:@~?")
        return cls(
            url=url,
            scheme=parts.scheme,
            host=parts.hostname,
            port=PORTS[parts.scheme] if port is None else port,
            path=f"{path}?{query}" if query else path,
        )

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}"

    def moved(self, location: str) -> _Target:
        target = _Target.of(urljoin(self.url, location))
        if self.scheme == "https" and target.scheme == "http":
            raise ImageError(f"{self.host} redirects from https to http")
        return target


def _follow(url: str, wire: Wire, count: Callable[[int], None]) -> Download:
    clock = Clock(wire.seconds)
    target = _Target.of(url)
    origins: list[str] = []
    for _ in range(1 + _REDIRECTS):
        origins.append(target.origin)
        answer = _get(target, wire, clock, count)
        if isinstance(answer, bytes):
            return Download(data=answer, origins=tuple(dict.fromkeys(origins)))
        target = target.moved(answer)
    raise ImageError(f"more than {_REDIRECTS} redirects")


def _get(target: _Target, wire: Wire, clock: Clock, count: Callable[[int], None]) -> bytes | str:
    """Returns a body, or where the server says that it is."""
    headers = {
        "Accept": "image/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "User-Agent": f"vqaudit/{version('vqaudit')}",
    }
    try:
        with closing(CheckedConnection(target.scheme, target.host, target.port, wire=wire, clock=clock)) as connection:
            connection.request("GET", target.path, headers=headers)
            with closing(connection.getresponse()) as response:
                return _answer(response, target.host, count)
    except ssl.SSLCertVerificationError as error:
        raise ImageError(f"the certificate of {target.host} does not hold ({error.verify_message})") from error
    except TimeoutError as error:
        raise Unanswered(f"{target.host} had no whole answer in time") from error
    except http.client.InvalidURL as error:
        raise ImageError(f"not a usable URL ({error})") from error
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise Unanswered(f"{target.host} cannot be reached or broke off ({why})") from error


def _answer(response: http.client.HTTPResponse, host: str, count: Callable[[int], None]) -> bytes | str:
    if response.status in _MOVED:
        if not (location := response.getheader("Location")):
            raise ImageError(f"{host} redirects (status {response.status}) without saying where to")
        return location
    if response.status in _BUSY or response.status >= 500:
        raise Unanswered(f"{host} answered with status {response.status}")
    if response.status != 200:
        raise ImageError(f"{host} answered with status {response.status}")
    encoding = response.getheader("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise ImageError(f"{host} sent the picture packed ({encoding}), which was not asked for; nothing is unpacked")
    return _body(response, host, count)


def _body(response: http.client.HTTPResponse, host: str, count: Callable[[int], None]) -> bytes:
    declared = response.length
    _refuse_size(declared or 0)
    body = bytearray()
    # A server may leave the connection open behind the last byte, so a declared length ends the reading.
    while declared is None or len(body) < declared:
        chunk = response.read1(_CHUNK)
        if not chunk:
            break
        body += chunk
        count(len(chunk))
        _refuse_size(len(body))
    if declared is not None and len(body) < declared:
        raise Unanswered(f"{host} broke off after {len(body):,} of {declared:,} bytes")
    return bytes(body)


def _refuse_size(size: int) -> None:
    if size > MAX_BYTES:
        raise ImageError(f"the picture has more than {MAX_BYTES >> 20} MiB, the most that is fetched")
