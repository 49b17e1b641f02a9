"""A server on this machine whose answers are written byte by byte, and a wire that leads every public address to it."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from vqaudit.items.fetching_connection import Wire

PUBLIC = "93.184.215.14"


def answer(body: bytes = b"", *, status: str = "200 OK", **headers: object) -> bytes:
    """An HTTP answer; header names with `_` for `-`."""
    sent = {"Content-Length": len(body)} | {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


@dataclass
class Site:
    """What the server answers to a path: bytes, or what writes to the connection."""

    pages: dict[str, bytes | Callable[[socket.socket], None]]
    port: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    heads: list[str] = field(default_factory=list)
    connections: list[tuple[str, int]] = field(default_factory=list)
    """Addresses to which a client asked to be connected."""
    slept: list[float] = field(default_factory=list)

    def connect(self, address: tuple[str, int], timeout: float) -> socket.socket:
        self.connections.append(address)
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def wire(self, **changes) -> Wire:
        usual = {"resolve": lambda host, port: [PUBLIC], "connect": self.connect, "sleep": self.slept.append}
        return Wire(**(usual | {"seconds": 5.0} | changes))


@contextmanager
def serve(pages, *, tls=None) -> Iterator[Site]:
    """Serves until the block ends; with TLS where a context is given."""
    site = Site(pages)
    listener = socket.create_server(("127.0.0.1", 0))
    site.port = listener.getsockname()[1]
    over = threading.Event()

    def accept() -> None:
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_talk, args=(site, connection, tls), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _talk(site: Site, connection: socket.socket, tls) -> None:
    try:
        with connection if tls is None else tls.wrap_socket(connection, server_side=True) as line:
            head = b""
            while b"\r\n\r\n" not in head:
                if not (got := line.recv(4096)):
                    return
                head += got
            path = head.split(b" ")[1].decode()
            site.asked[path] += 1
            site.heads.append(head.decode())
            page = site.pages.get(path, answer(b"no such page", status="404 Not Found"))
            if callable(page):
                page(line)
            else:
                line.sendall(page)
    except OSError:
        pass  # the client left, as it should where it refuses


def drip(data: bytes, *, seconds: float = 0.05) -> Callable[[socket.socket], None]:
    """Writes byte after byte."""

    def write(line: socket.socket) -> None:
        for byte in data:
            line.sendall(bytes([byte]))
            time.sleep(seconds)

    return write
