"""The plan that follows from what an audit asks.

Knows specs, designs and items. Asks nobody.
"""

from __future__ import annotations

from collections.abc import Sequence

from vqaudit.asking.collisions import collision_formats
from vqaudit.asking.designs import (
    SCREENING_DRAWS,
    Design,
    Grid,
    Permuted,
    Randomised,
    Reference,
    ScrambledIDs,
    WhoseA,
)
from vqaudit.asking.plan import Arm, Plan, make_plan
from vqaudit.errors import PlanError
from vqaudit.items import Item
from vqaudit.run.spec import AuditSpec, chosen_formats, chosen_interface
from vqaudit.run.two_stage import TWO_STAGE, Extremes, confirmed_designs, two_stage_interfaces

__all__ = ["make_audit_plan"]


def make_audit_plan(items: Sequence[Item], spec: AuditSpec, *, confirm: Extremes | None = None) -> Plan:
    """Returns what an audit would ask: every interface under every design, or under its own (`NAME@DESIGN`).

    Args:
        items: The items.
        spec: What is asked.
        confirm: Formats of the second stage of `two-stage`; where None, the plan has its first stage alone.
    """
    arms: list[Arm] = []
    for entry in spec.interface:
        name, _, own = entry.partition("@")
        interface = chosen_interface(name, spec)
        arms += [Arm(interface=interface, design=_design(d, spec)) for d in ([own] if own else spec.design)]
    if confirm is not None:
        for name in two_stage_interfaces(spec):
            interface = chosen_interface(name, spec)
            arms += [Arm(interface=interface, design=design) for design in confirmed_designs(spec, confirm)]
    return make_plan(items, arms)


def _design(name: str, spec: AuditSpec) -> Design:
    formats, reference = chosen_formats(spec)
    if name == "reference":
        return Reference(format=reference, orders=spec.orders)
    if name == "grid":
        return Grid(formats=formats, orders=spec.orders)
    if name == "randomised":
        return Randomised(draws=spec.draws, seed=spec.seed, formats=formats)
    if name == TWO_STAGE:
        return Randomised(draws=max(SCREENING_DRAWS, spec.draws), seed=spec.seed, formats=formats)
    if name == "scrambled-ids":
        return ScrambledIDs(formats=(reference,))
    if name == "permuted":
        return Permuted(formats=(reference,), draws=spec.permutations, seed=spec.seed)
    if name == "whose-a":
        return WhoseA(formats=collision_formats(reference))
    known = f"reference, grid, randomised, {TWO_STAGE}, permuted, scrambled-ids, whose-a"
    raise PlanError(f"no design {name!r}: choose from {known}")
