"""What an audit asks, as one value, and the plan that follows from it.

Knows designs, interfaces, formats and items. Asks nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vqaudit.asking.custom import load_formats
from vqaudit.asking.designs import DEFAULT_REFERENCE, Design, Grid, Randomised, Reference
from vqaudit.asking.formats import FORMATS, Format, find_format
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, Plan, make_plan
from vqaudit.engines.base import DEFAULT_MAX_TOKENS
from vqaudit.errors import PlanError
from vqaudit.items.item import Item
from vqaudit.run.requests import AskSpec

__all__ = ["AuditSpec", "chosen_formats", "make_audit_plan", "make_spec"]


class AuditSpec(BaseModel):
    """What is asked, how often and under which conditions. Every field has a default; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    design: tuple[str, ...] = ("randomised",)
    """`reference`, `grid`, `randomised`; several are united and their duplicates merged."""
    interface: tuple[str, ...] = ("direct",)
    """Names of interfaces; `NAME@DESIGN` runs one under a design of its own, as in `free-cot@reference`."""
    draws: int = Field(default=1, ge=1)
    """Randomised variants per item."""
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
    raise PlanError(f"no design {name!r}: choose from reference, grid, randomised")


def make_audit_plan(items: Sequence[Item], spec: AuditSpec) -> Plan:
    """Returns what an audit would ask: every interface under every design, or under its own (`NAME@DESIGN`)."""
    arms: list[Arm] = []
    for entry in spec.interface:
        name, _, own = entry.partition("@")
        interface = find_interface(name)
        arms += [Arm(interface=interface, design=_design(d, spec)) for d in ([own] if own else spec.design)]
    return make_plan(items, arms)
