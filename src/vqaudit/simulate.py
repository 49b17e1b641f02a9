"""Worlds for the simulated engine: laws of outcomes made from items and a plan, with a known truth.

Knows items, plans and laws. The engine sees the laws alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from vqaudit.asking.orders import inverse
from vqaudit.asking.plan import Plan, Trial
from vqaudit.engines.simulated import Law

__all__ = ["WorldSpec", "make_world", "true_accuracy"]


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldSpec:
    """What the simulated model is like. Effects are in logits."""

    ability: float = 1.0
    """Logit of knowing an item of mean difficulty."""
    difficulty_sd: float = 1.0
    """Spread of item difficulties."""
    format_effects: Mapping[str, float] = field(default_factory=dict)
    """Logits that a level (`upper`, `dot`, `comma`) or a whole format adds."""
    interface_effects: Mapping[str, float] = field(default_factory=dict)
    first_position: float = 0.0
    """Share of trials that choose position 0 whatever stands there."""
    coverage: Mapping[str, float] = field(default_factory=dict)
    """Coverage of a level or a whole format; the product where several apply."""
    seed: int = 0


def _levels(trial: Trial) -> tuple[str, ...]:
    format = trial.variant.format
    if format is None:
        return ()
    return (format.id_set.name, format.delimiter.name, format.separator.name, format.name)


def _law(trial: Trial, answer: int, difficulty: float, spec: WorldSpec) -> Law:
    levels = _levels(trial)
    logit = spec.ability - difficulty + sum(spec.format_effects.get(level, 0.0) for level in levels)
    logit += spec.interface_effects.get(trial.variant.interface.name, 0.0)
    knows = 1.0 / (1.0 + np.exp(-logit))
    count = len(trial.variant.order)
    positions = np.full(count, (1.0 - knows) / count)
    positions[inverse(trial.variant.order)[answer]] += knows
    positions *= 1.0 - spec.first_position
    positions[0] += spec.first_position
    coverage = float(np.prod([spec.coverage.get(level, 1.0) for level in levels]))
    return Law(positions=tuple(float(p) for p in positions / positions.sum()), coverage=coverage)


def make_world(plan: Plan, spec: WorldSpec) -> dict[str, Law]:
    """Returns the law of every trial of a plan.

    An item is known with probability logistic(ability - difficulty + effects); an unknown one is guessed evenly.
    """
    generator = np.random.default_rng(spec.seed)
    difficulty = generator.normal(0.0, spec.difficulty_sd, size=len(plan.items))
    return {
        trial.id: _law(trial, plan.items[trial.item].answer, float(difficulty[trial.item]), spec)
        for trial in plan.trials
    }


def true_accuracy(plan: Plan, world: Mapping[str, Law]) -> dict[str, float]:
    """Returns trial -> probability of a right and covered answer: what estimates are held against."""
    return {
        trial.id: world[trial.id].coverage
        * world[trial.id].positions[inverse(trial.variant.order)[plan.items[trial.item].answer]]
        for trial in plan.trials
    }
