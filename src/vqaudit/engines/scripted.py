"""An engine whose replies a function writes: for tests, tutorials and your own experiments.

Knows requests. Knows no model. It answers `reply`, `forced-token` and `generation` events; score events need
probabilities, which a script does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from vqaudit.engines.base import (
    Event,
    ForcedToken,
    Generation,
    IDScores,
    OptionLikelihood,
    Outcome,
    RationaleScores,
    Reply,
    Request,
)
from vqaudit.errors import UnsupportedEvent

__all__ = ["ScriptedEngine"]


class ScriptedEngine:
    """Answers with what `script` returns for each request.

    Args:
        script: Takes a request, returns the reply; an exception becomes a failed trial.
        name: How the manifest names it.
        batch: Requests per batch.

    Example:
        >>> engine = ScriptedEngine(lambda request: request.option_ids[0], name="always-first")
        >>> engine.describe()
        {'kind': 'scripted', 'name': 'always-first'}
    """

    batch_sensitive = False

    def __init__(self, script: Callable[[Request], str], *, name: str = "scripted", batch: int = 64) -> None:
        self._script = script
        self._name = name
        self._batch = batch

    @property
    def name(self) -> str:
        """How the manifest names it."""
        return self._name

    def describe(self) -> Mapping[str, Any]:
        """Returns its kind and name."""
        return {"kind": "scripted", "name": self._name}

    def describe_ids(self, option_ids: Sequence[str]) -> Mapping[str, Any]:
        """Returns nothing: a script has no tokens."""
        return {}

    def check(self, events: Iterable[Event]) -> None:
        """Refuses score events.

        Raises:
            UnsupportedEvent: An event needs probabilities.
        """
        for event in events:
            if isinstance(event, IDScores | OptionLikelihood | RationaleScores):
                raise UnsupportedEvent(
                    f"a scripted engine has no probabilities, so it cannot score {type(event).__name__}; "
                    "use a local model or a simulated one"
                )

    def count_tokens(self, request: Request) -> int | None:
        """Returns None: a script has no tokens."""
        return None

    def batches(self, requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
        """Cuts the requests in order."""
        for start in range(0, len(requests), self._batch):
            yield requests[start : start + self._batch]

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        """Asks the script, request by request."""
        return [self._one(request) for request in batch]

    def close(self) -> None:
        """Does nothing."""

    def _one(self, request: Request) -> Outcome:
        try:
            reply = self._script(request)
        except Exception as error:
            # A failing script is a failing model: the trial is a record, the run goes on.
            return Outcome(trial=request.trial, error=f"the script raised {type(error).__name__}: {error}")
        if not isinstance(request.event, Reply | ForcedToken | Generation):
            return Outcome(trial=request.trial, error=f"a script cannot score {type(request.event).__name__}")
        return Outcome(trial=request.trial, reply=reply, prefixes=(reply,), finish_reason="stop")
