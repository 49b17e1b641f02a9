"""What a plan would cost, before anything is written.

Knows plans and engines. Counts are exact; tokens and time are scaled up from a sample and say so.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

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
    tokens_computed: int | None
    """Prompt and new tokens that pass the model; None where nothing was timed or the engine does not say."""
    tokens_reused: int | None
    """Prompt tokens that do not, since an earlier trial's beginning serves."""
    sampled: int
    """Trials that these figures are scaled up from."""

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


def _neighbours(trials: Sequence[Trial], number: int) -> list[Trial]:
    """All trials of a few items: what they share is computed once, and that must show in the time."""
    by_item: dict[int, list[Trial]] = {}
    for trial in trials:
        by_item.setdefault(trial.item, []).append(trial)
    groups = list(by_item.values())
    wanted = max(1, min(len(groups), number // len(groups[0])))
    return [trial for group in groups[:: len(groups) // wanted][:wanted] for trial in group]


class _Spent(NamedTuple):
    """What some trials took, per trial."""

    seconds: float
    computed: float | None
    reused: float | None


def _timed(engine: Engine, requests: Sequence[Request]) -> _Spent:
    """What each request takes, after one to warm up."""
    batches = list(engine.batches(requests))
    engine.answer(batches[0][:1])
    started = time.perf_counter()
    outcomes = [outcome for batch in batches for outcome in engine.answer(batch)]
    seconds = time.perf_counter() - started
    computed, reused = ([getattr(o, f"tokens_{what}") for o in outcomes] for what in ("computed", "reused"))
    return _Spent(seconds / len(requests), _mean(computed), _mean(reused))


def _mean(numbers: Sequence[int | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if known else None


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
    totals: list[float | None] = [0.0, 0.0, 0.0] if timed else [None, None, None]
    sampled = 0
    for trials in by_interface.values():
        requests = _requests(plan, _sample(trials, sample), spec)
        if not requests:
            continue
        sampled += len(requests)
        mean = _mean([engine.count_tokens(request) for request in requests])
        tokens = None if tokens is None or mean is None else tokens + mean * len(trials)
        if timed:
            spent = _timed(engine, _requests(plan, _neighbours(trials, sample), spec) or requests)
            totals = [
                None if total is None or each is None else total + each * len(trials)
                for total, each in zip(totals, spent, strict=True)
            ]
    sources = {source for item in plan.items for source in item.images}
    return CostEstimate(
        trials=len(plan),
        items=len(plan.items),
        images=len(sources),
        trials_by_interface=dict(Counter(trial.variant.interface.name for trial in plan.trials)),
        prompt_tokens=None if tokens is None else round(tokens),
        seconds=totals[0],
        tokens_computed=None if totals[1] is None else round(totals[1]),
        tokens_reused=None if totals[2] is None else round(totals[2]),
        sampled=sampled,
    )
