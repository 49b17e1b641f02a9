"""The design of two stages: which interfaces have it, which formats its second stage confirms, and under which designs.

Knows specs and the stored plan. Asks nobody, and chooses no format: what the first stage found decides that.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from vqaudit.asking.designs import Confirmed
from vqaudit.asking.formats import find_format
from vqaudit.asking.plan import Arm, make_plan
from vqaudit.items import Item
from vqaudit.records import PLAN_SCHEMA, read_table
from vqaudit.run.spec import AuditSpec, chosen_formats, chosen_interface

__all__ = ["TWO_STAGE", "Extremes", "confirmed_before", "confirmed_designs", "two_stage_interfaces"]

TWO_STAGE = "two-stage"
"""The design that screens formats with a few draws and asks the extreme ones anew."""


class Extremes(NamedTuple):
    """Formats that the second stage of `two-stage` confirms."""

    worst: tuple[str, ...]
    best: tuple[str, ...]


def two_stage_interfaces(spec: AuditSpec) -> list[str]:
    """Returns the interfaces that are asked under the design `two-stage`."""
    found = []
    for entry in spec.interface:
        name, _, own = entry.partition("@")
        if TWO_STAGE in ([own] if own else spec.design):
            found.append(name)
    return found


def confirmed_designs(spec: AuditSpec, confirm: Extremes) -> tuple[Confirmed, Confirmed]:
    """Returns the designs of the second stage."""
    formats, _ = chosen_formats(spec)
    worst, best = (tuple(find_format(name, formats) for name in names) for names in confirm)
    return (
        Confirmed(formats=worst, name="confirm-worst", orders=spec.confirm_orders, seed=spec.seed),
        Confirmed(formats=best, name="confirm-best", orders=spec.confirm_orders, seed=spec.seed),
    )


def confirmed_before(run: Path, item: Item, spec: AuditSpec) -> Extremes | None:
    """Returns the formats whose trials the stored plan holds for the second stage; None where it holds none.

    A run that goes on confirms these: a retried failure of the first stage must not move the choice.

    Args:
        run: The run directory.
        item: Any item of the run: every one is asked under every confirmed format.
        spec: What is asked.
    """
    plan = read_table(run / "plan.parquet", PLAN_SCHEMA)
    stored = {name: set(plan.filter(plan["design"] == name)["trial"]) for name in ("confirm-worst", "confirm-best")}
    if not all(stored.values()):
        return None
    interface = chosen_interface(two_stage_interfaces(spec)[0], spec)
    found: list[tuple[str, ...]] = []
    for place, trials in enumerate(stored.values()):
        names = []
        for format in chosen_formats(spec)[0]:
            alone = Extremes((format.name,), (format.name,))
            one = make_plan([item], [Arm(interface=interface, design=confirmed_designs(spec, alone)[place])])
            if trials.issuperset(trial.id for trial in one.trials):
                names.append(format.name)
        found.append(tuple(names))
    return Extremes(*found)
