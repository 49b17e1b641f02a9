"""Trials that are asked a second time, to tell how often a greedy answer changes by itself.

Knows plans, engines and the run directory. The second answers stand in `repeats/` of the run, where no other figure
sees them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from vqaudit.asking.plan import Plan, Trial
from vqaudit.engines.base import Engine, Unsteady
from vqaudit.progress import Advance, no_progress
from vqaudit.records import REPEATS, missing_trials, own_run, read_trials, visible
from vqaudit.run.driver import Session, ask_plan
from vqaudit.run.executors import Executor
from vqaudit.run.requests import AskSpec
from vqaudit.run.stopping import Stop

__all__ = ["ask_repeats", "choose_repeats", "open_repeats", "repeats_wanted"]

_DEFAULT_REPEATS = 100
"""Trials asked twice where nothing else is said: a change in none of them means fewer than 3.7 % (Wilson, 95 %)."""


def repeats_wanted(engine: Engine, asked: int | None) -> int:
    """Returns how many trials are asked twice: as many as a person says, else 100 where the engine is unsteady.

    Args:
        engine: Who answers.
        asked: What the person said; None = nothing.
    """
    if asked is not None:
        return asked
    return _DEFAULT_REPEATS if isinstance(engine, Unsteady) and engine.unsteady else 0


def choose_repeats(plan: Plan, number: int, *, seed: int) -> tuple[Trial, ...]:
    """Returns the trials to ask twice, in the plan's order: as many of each interface as the number allows.

    Within an interface, those whose names hash lowest: a plan that grows keeps most of them.

    Args:
        plan: The whole plan.
        number: How many, at most.
        seed: Chooses others.
    """
    by_interface: dict[str, list[Trial]] = {}
    for trial in plan.trials:
        by_interface.setdefault(trial.variant.interface.name, []).append(trial)
    chosen: set[str] = set()
    left, groups = number, sorted(by_interface.values(), key=len)
    for place, trials in enumerate(groups):
        share = left // (len(groups) - place)
        ordered = sorted(trials, key=lambda trial: hashlib.sha256(f"{seed}|{trial.id}".encode()).digest())
        chosen.update(trial.id for trial in ordered[:share])
        left -= min(share, len(trials))
    return tuple(trial for trial in plan.trials if trial.id in chosen)


def open_repeats(out: Path, trials: Sequence[Trial]) -> bool:
    """Returns whether any of the trials has no second answer yet."""
    return bool(missing_trials((trial.id for trial in trials), visible(read_trials(out / REPEATS))))


def ask_repeats(
    plan: Plan,
    executor: Executor,
    *,
    out: Path,
    spec: AskSpec,
    advance: Advance = no_progress,
    stop: Stop | None = None,
) -> Session:
    """Asks trials a second time, those that have no second answer yet.

    Args:
        plan: These trials alone.
        executor: Who asks.
        out: The run directory.
        spec: What is the same in every request.
        advance: Is told of every trial.
        stop: How it is asked to stop.

    Raises:
        EngineError: The engine is broken; what was answered is on disk.
        RecordError: The disk is full or not writable.
    """
    with own_run(out / REPEATS) as owner:
        return ask_plan(plan, executor, owner=owner, spec=spec, bar=lambda *_: nullcontext(advance), stop=stop)
