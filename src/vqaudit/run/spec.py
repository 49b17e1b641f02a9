"""What an audit asks, as one value, and the plan that follows from it.

Knows designs, interfaces, formats and items. Asks nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vqaudit.asking.custom import load_formats
from vqaudit.asking.designs import (
    DEFAULT_REFERENCE,
    SCREENING_DRAWS,
    Confirmed,
    Design,
    Grid,
    Randomised,
    Reference,
    ScrambledIDs,
)
from vqaudit.asking.formats import FORMATS, Format, find_format
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, Plan, make_plan
from vqaudit.engines.base import DEFAULT_MAX_TOKENS
from vqaudit.errors import PlanError
from vqaudit.items.item import Item
from vqaudit.run.requests import AskSpec

__all__ = [
    "TWO_STAGE",
    "AuditSpec",
    "Extremes",
    "chosen_formats",
    "confirmed_designs",
    "make_audit_plan",
    "make_spec",
    "two_stage_interfaces",
]

TWO_STAGE = "two-stage"
"""The design that screens formats with a few draws and asks the extreme ones anew."""


class AuditSpec(BaseModel):
    """What is asked, how often and under which conditions. Every field has a default; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    design: tuple[str, ...] = ("randomised",)
    """`reference`, `grid`, `randomised`, `two-stage`, `scrambled-ids`; several are united, duplicates merged."""
    interface: tuple[str, ...] = ("direct",)
    """Names of interfaces; `NAME@DESIGN` runs one under a design of its own, as in `free-cot@reference`."""
    draws: int = Field(default=1, ge=1)
    """Randomised variants per item; at least 2 in the first stage of `two-stage`."""
    until: str | None = None
    """Draw again and again until `half-width=0.01` (this dataset) or `items-half-width=0.05` (items like these)."""
    max_draws: int = Field(default=16, ge=1)
    """Most draws per item where `until` is given."""
    confirm_orders: int = Field(default=1, ge=1)
    """Orders per item under each format that the second stage of `two-stage` asks."""
    seed: int = Field(default=0, ge=0)
    reference: str | None = None
    """The reference format; `upper/dot/line_break` unless the formats are your own, then their first."""
    formats: Path | None = None
    """A JSON file with ID sets, delimiters and separators of your own; see `asking.custom`."""
    orders: Literal["circular", "dataset"] = "circular"
    """Whether `grid` and `reference` show every rotation or the dataset's order alone."""
    system: str | None = None
    image_max_pixels: int | None = Field(default=None, ge=1)
    budget: Literal["emitted", "paper"] | int = "emitted"
    max_tokens: int = Field(default=DEFAULT_MAX_TOKENS, ge=1)
    watch: tuple[str, ...] = ()

    @property
    def asking(self) -> AskSpec:
        """The part that is the same in every request."""
        return AskSpec(
            system=self.system,
            image_max_pixels=self.image_max_pixels,
            budget=self.budget,
            max_tokens=self.max_tokens,
            watch=self.watch,
        )


def make_spec(settings: Mapping[str, Any]) -> AuditSpec:
    """Returns the spec; a single design or interface may be given as a string.

    Raises:
        PlanError: A setting is unknown or out of range.
    """
    listed: dict[str, Any] = {
        name: (value,) if name in ("design", "interface") and isinstance(value, str) else value
        for name, value in settings.items()
    }
    try:
        return AuditSpec(**listed)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise PlanError(f"setting {place!r}: {first['msg']}") from error


def chosen_formats(spec: AuditSpec) -> tuple[tuple[Format, ...], Format]:
    """Returns the formats of the grid and the reference format among them.

    Raises:
        VariantError: The file of formats is wrong, or the reference is not among them.
    """
    formats = FORMATS if spec.formats is None else load_formats(spec.formats)
    if spec.reference is not None:
        return formats, find_format(spec.reference, formats)
    names = [format.name for format in formats]
    return formats, formats[names.index(DEFAULT_REFERENCE) if DEFAULT_REFERENCE in names else 0]


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
    raise PlanError(f"no design {name!r}: choose from reference, grid, randomised, {TWO_STAGE}, scrambled-ids")


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
        interface = find_interface(name)
        arms += [Arm(interface=interface, design=_design(d, spec)) for d in ([own] if own else spec.design)]
    if confirm is not None:
        for name in two_stage_interfaces(spec):
            arms += [Arm(interface=find_interface(name), design=design) for design in confirmed_designs(spec, confirm)]
    return make_plan(items, arms)


def confirmed_designs(spec: AuditSpec, confirm: Extremes) -> tuple[Confirmed, Confirmed]:
    """Returns the designs of the second stage."""
    formats, _ = chosen_formats(spec)
    worst, best = (tuple(find_format(name, formats) for name in names) for names in confirm)
    return (
        Confirmed(formats=worst, name="confirm-worst", orders=spec.confirm_orders, seed=spec.seed),
        Confirmed(formats=best, name="confirm-best", orders=spec.confirm_orders, seed=spec.seed),
    )
