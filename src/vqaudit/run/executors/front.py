"""An engine that is in another process, as whoever plans and describes a run sees it.

Knows what the other process said of itself. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from vqaudit.engines.base import Depth, Engine, Event, Outcome, Readout, Request
from vqaudit.run.executors.worker import Hello

__all__ = ["Call", "front_engine"]

Call = Callable[..., Any]
"""Takes the name of a method and its arguments, returns what it returns there, raises what it raises there."""


class _Front:
    def __init__(self, hello: Hello, call: Call) -> None:
        self._hello = hello
        self._call = call

    @property
    def name(self) -> str:
        return self._hello.engine

    @property
    def batch_sensitive(self) -> bool:
        return self._hello.batch_sensitive

    @property
    def unsteady(self) -> bool:
        return self._hello.unsteady

    def describe(self) -> Mapping[str, Any]:
        return self._hello.description

    def describe_ids(self, option_ids: Sequence[str]) -> Mapping[str, Any]:
        return self._call("describe_ids", tuple(option_ids))

    def check(self, events: Iterable[Event]) -> None:
        self._call("check", list(events))

    def count_tokens(self, request: Request) -> int | None:
        return self._call("count_tokens", request)

    def batches(self, requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
        yield from self._call("batches", list(requests))

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        return self._call("answer", batch)

    def close(self) -> None:
        """Does nothing: the process goes with its executor."""


class _StateFront(_Front):
    def readout(self, option_ids: Sequence[str]) -> Readout:
        return self._call("readout", tuple(option_ids))

    def check_depth(self, depth: Depth) -> None:
        self._call("check_depth", depth)


def front_engine(hello: Hello, call: Call) -> Engine:
    """Returns the engine of a worker as if it were here; one that keeps hidden states says so."""
    return (_StateFront if hello.keeps_states else _Front)(hello, call)
