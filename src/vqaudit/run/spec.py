"""What an audit asks, as one value, and the formats and interfaces that its names stand for.

Knows names, formats and interfaces. Knows no item and asks nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vqaudit.asking.custom import load_endings, load_formats
from vqaudit.asking.designs import DEFAULT_REFERENCE
from vqaudit.asking.formats import FORMATS, Format, find_format
from vqaudit.asking.interfaces import DEFAULT_WATCH, Interface, find_interface
from vqaudit.engines.base import DEFAULT_MAX_TOKENS, Depth
from vqaudit.errors import PlanError
from vqaudit.run.presets import with_preset
from vqaudit.run.requests import AskSpec

__all__ = ["AuditSpec", "chosen_formats", "chosen_interface", "make_spec"]


class AuditSpec(BaseModel):
    """What is asked, how often and under which conditions. Every field has a default; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    design: tuple[str, ...] = ("randomised",)
    """`reference`, `grid`, `randomised`, `two-stage`, `permuted`, `scrambled-ids`, `whose-a`; several are united,
    duplicates merged."""
    interface: tuple[str, ...] = ("direct",)
    """Names of interfaces, or combinations `EVENT:ENDING[/PLACE]`; `NAME@DESIGN` runs one under a design of its own,
    as in `free-cot@reference`."""
    endings: Path | None = None
    """A JSON file with endings of your own; see `asking.custom`."""
    permutations: int = Field(default=5, ge=1)
    """Seeded permutations of the contents in the design `permuted`."""
    answer_cue: str | None = None
    """What follows a generated rationale before IDs are scored; None = `asking.interfaces.ANSWER_CUE`."""
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
    watch: tuple[str, ...] = DEFAULT_WATCH
    """Words whose next-token mass is recorded beside ID scores (paper 2, Eq. 8); empty for none."""
    noise_floor: int | None = Field(default=None, ge=0)
    """Trials asked twice, to tell how often an answer changes by itself; None = 100 where the engine is a server or
    another that may answer differently the next time, else none."""
    keep_states: Depth | None = None
    """Whose hidden states are kept beside ID scores, for `vqaudit internals`: `last` or `all` layers'."""

    @property
    def asking(self) -> AskSpec:
        """The part that is the same in every request."""
        return AskSpec(
            system=self.system,
            image_max_pixels=self.image_max_pixels,
            budget=self.budget,
            max_tokens=self.max_tokens,
            watch=self.watch,
            states=self.keep_states,
        )


def make_spec(settings: Mapping[str, Any]) -> AuditSpec:
    """Returns the spec; a single design or interface may be given as a string, and `preset` names many at once.

    Raises:
        PlanError: A setting is unknown or out of range.
    """
    listed: dict[str, Any] = {
        name: (value,) if name in ("design", "interface") and isinstance(value, str) else value
        for name, value in with_preset(settings).items()
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


def chosen_interface(name: str, spec: AuditSpec) -> Interface:
    """Returns the interface of that name, with the endings and the answer cue that the spec chose.

    Raises:
        VariantError: There is no such interface, or the file of endings is wrong.
    """
    found = find_interface(name) if spec.endings is None else find_interface(name, endings=load_endings(spec.endings))
    if found.cue is not None and spec.answer_cue is not None:
        return replace(found, cue=spec.answer_cue)
    return found
