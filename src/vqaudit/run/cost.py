"""What a plan would cost, before anything is written.

Knows plans and engines. Counts are exact; tokens and time are scaled up from a sample and say so.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vqaudit.asking.plan import Plan, Trial
from vqaudit.asking.prompts import render
from vqaudit.engines.base import Engine, Request
from vqaudit.errors import DatasetError
from vqaudit.run.requests import AskSpec, Pictures, make_request

__all__ = ["CostEstimate", "estimate_cost"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CostEstimate:
    """What a plan would cost."""

    trials: int
    items: int
    images: int
    """Distinct pictures."""
    trials_by_interface: dict[str, int]
    prompt_tokens: int | None
    """Over all trials, image tokens included; None where the engine cannot count without asking."""
    seconds: float | None
    """Expected wall-clock time of this engine here; None where nothing was timed."""
    sampled: int
    """Trials that the two figures above are scaled up from."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the same as JSON values."""
        return asdict(self)


def _sample(trials: Sequence[Trial], number: int) -> list[Trial]:
    step = max(1, len(trials) // number)
    return list(trials[::step][:number])


def _requests(plan: Plan, trials: Sequence[Trial], spec: AskSpec) -> list[Request]:
    pictures = Pictures(max_pixels=spec.image_max_pixels)
    requests: list[Request] = []
    for trial in trials:
        item = plan.items[trial.item]
        try:
            requests.append(make_request(plan, trial, render(item, trial.variant), pictures.of(item), spec))
        except DatasetError:
            continue  # such a trial costs nothing: it is recorded as bad input
    return requests


def _timed(engine: Engine, requests: Sequence[Request]) -> float:
    """Seconds per request, after one batch to warm up."""
    batches = list(engine.batches(requests))
    engine.answer(batches[0][:1])
    started = time.perf_counter()
    for batch in batches:
        engine.answer(batch)
    return (time.perf_counter() - started) / len(requests)


def estimate_cost(plan: Plan, engine: Engine, *, spec: AskSpec, sample: int = 24, timed: bool = False) -> CostEstimate:
    """Counts what a plan asks for, and scales tokens and time up from a sample of each interface.

    Args:
        plan: The plan.
        engine: Who would answer.
        spec: What is the same in every request.
        sample: Trials per interface that are counted and timed.
        timed: Whether to answer the sample and time it; its answers are thrown away.
    """
    by_interface: dict[str, list[Trial]] = {}
    for trial in plan.trials:
        by_interface.setdefault(trial.variant.interface.name, []).append(trial)
    tokens: float | None = 0.0
    seconds: float | None = 0.0 if timed else None
    sampled = 0
    for trials in by_interface.values():
        requests = _requests(plan, _sample(trials, sample), spec)
        if not requests:
            continue
        sampled += len(requests)
        counts = [engine.count_tokens(request) for request in requests]
        known = [count for count in counts if count is not None]
        tokens = None if tokens is None or not known else tokens + sum(known) / len(known) * len(trials)
        if seconds is not None:
            seconds += _timed(engine, requests) * len(trials)
    sources = {source for item in plan.items for source in item.images}
    return CostEstimate(
        trials=len(plan),
        items=len(plan.items),
        images=len(sources),
        trials_by_interface=dict(Counter(trial.variant.interface.name for trial in plan.trials)),
        prompt_tokens=None if tokens is None else round(tokens),
        seconds=seconds,
        sampled=sampled,
    )
