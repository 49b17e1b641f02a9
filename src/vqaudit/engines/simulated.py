"""An engine that draws outcomes from a stated law: benchmarks whose truth is known.

Knows trial IDs and laws. Knows no item and no answer: the World that it is given was made from items and plan by
`vqaudit.simulate`, and says only how often each shown position is chosen.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vqaudit.engines.base import (
    Event,
    Generation,
    IDScore,
    IDScores,
    OptionLikelihood,
    OptionScore,
    Outcome,
    RationaleScores,
    Request,
)

__all__ = ["Law", "SimulatedEngine"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Law:
    """The law of one trial's outcome."""

    positions: tuple[float, ...]
    """Probability that each shown position is chosen, given that the reply is an ID; sums to 1."""
    coverage: float = 1.0
    """Probability that the reply is exactly a shown ID."""


class SimulatedEngine:
    """Draws each trial's outcome from its law, with a generator of its own: order and batches change nothing.

    Args:
        world: Trial ID -> law.
        seed: Seed of all draws.
        name: How the manifest names it.
        batch: Requests per batch.
    """

    batch_sensitive = False

    def __init__(self, world: Mapping[str, Law], *, seed: int = 0, name: str = "simulated", batch: int = 1024) -> None:
        self._world = world
        self._seed = seed
        self._name = name
        self._batch = batch

    @property
    def name(self) -> str:
        """How the manifest names it."""
        return self._name

    def describe(self) -> Mapping[str, Any]:
        """Returns its kind, name and seed."""
        return {"kind": "simulated", "name": self._name, "seed": self._seed}

    def describe_ids(self, option_ids: Sequence[str]) -> Mapping[str, Any]:
        """Returns nothing: a simulation has no tokens."""
        return {}

    def check(self, events: Iterable[Event]) -> None:
        """Accepts every event."""

    def count_tokens(self, request: Request) -> int | None:
        """Returns None: a simulation has no tokens."""
        return None

    def batches(self, requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
        """Cuts the requests in order."""
        for start in range(0, len(requests), self._batch):
            yield requests[start : start + self._batch]

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        """Draws one outcome per request."""
        return [self._one(request) for request in batch]

    def close(self) -> None:
        """Does nothing."""

    def _generator(self, trial: str) -> np.random.Generator:
        digest = hashlib.sha256(f"{self._seed}\x1f{trial}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "big"))

    def _one(self, request: Request) -> Outcome:
        law = self._world.get(request.trial)
        if law is None:
            return Outcome(trial=request.trial, error="the simulated world has no law for this trial")
        generator = self._generator(request.trial)
        position = int(generator.choice(len(law.positions), p=law.positions))
        covered = bool(generator.random() < law.coverage)
        if isinstance(request.event, IDScores):
            return Outcome(trial=request.trial, id_scores=_scores(request, law, position), id_mass=law.coverage)
        if isinstance(request.event, RationaleScores):
            scores = _scores(request, law, position)
            said = "It can be told."
            return Outcome(
                trial=request.trial, reply=said, finish_reason="stop", id_scores=scores, id_mass=law.coverage
            )
        if isinstance(request.event, OptionLikelihood):
            return Outcome(trial=request.trial, option_scores=_likelihoods(law, position))
        shown = request.option_ids[position] if request.option_ids else "?"
        if isinstance(request.event, Generation):
            reply = f"The answer is {shown}." if covered else "It is hard to say which one it is."
        else:
            reply = shown if covered else f"Option {shown}"
        return Outcome(trial=request.trial, reply=reply, prefixes=(reply,), finish_reason="stop")


def _lifted(law: Law, position: int) -> list[float]:
    """Log-probabilities whose largest is at the position drawn: half of the mass goes there."""
    share = [0.5 * p + (0.5 if i == position else 0.0) for i, p in enumerate(law.positions)]
    return [math.log(max(p * law.coverage, 1e-12)) for p in share]


def _scores(request: Request, law: Law, position: int) -> tuple[IDScore, ...]:
    pairs = zip(request.option_ids, _lifted(law, position), strict=True)
    return tuple(IDScore(option_id=i, logprob=logprob) for i, logprob in pairs)


def _likelihoods(law: Law, position: int) -> tuple[OptionScore, ...]:
    return tuple(OptionScore(logprob=logprob, tokens=1, characters=1) for logprob in _lifted(law, position))
