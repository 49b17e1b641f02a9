"""What `summary.json` holds: names, numbers and reasons. Documented key by key in `docs/summary-schema.md`.

Knows the rows of the modules beside it. Computes nothing.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field

from vqaudit.analysis.as_logged import AsLogged
from vqaudit.analysis.breakdown import FormatRow, Group
from vqaudit.analysis.circular import Circular
from vqaudit.analysis.computation import ComputationRow
from vqaudit.analysis.confidence import ConfidenceGroups
from vqaudit.analysis.cost import Cost
from vqaudit.analysis.coverage import Coverage, Fault
from vqaudit.analysis.effects import Effects
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.interfaces import CommonGround, InterfaceDetails, InterfaceRow
from vqaudit.analysis.mitigation import Mitigations
from vqaudit.analysis.noise import NoiseFloor
from vqaudit.analysis.position_and_id import PositionAndID
from vqaudit.analysis.recommended import Recommended
from vqaudit.analysis.selection import FirstPosition, PositionRow, Preference
from vqaudit.analysis.this_dataset import ThisDataset
from vqaudit.analysis.two_stage import TwoStage
from vqaudit.analysis.whose_a import WhoseA

__all__ = [
    "Baselines",
    "BestOrWorst",
    "Counts",
    "DesignRow",
    "Screening",
    "Selection",
    "Summary",
]

SUMMARY_VERSION = 1


class Counts(Row):
    """How many of what."""

    planned: int
    done: int
    failed: int
    missing: int
    bad_input: int
    """Trials whose input the model could not take: they stay in n, as wrong."""
    items: int
    clusters: int
    """Independent items: the n of intervals."""
    items_without_answer: int


class DesignRow(Row):
    """One design that the run holds."""

    interface: str
    """Whose trials make its accuracy."""
    items: int
    trials: int
    """Done."""
    planned: int
    failed: int
    missing: int
    draws: int
    """Draws per item of a randomised design; 1 otherwise."""
    grid_accuracy: Figure | None
    """None for designs that do not estimate it, and above 1 % failed or missing trials."""
    accuracy: Figure
    """Mean over items of the trials that are there, whatever the design."""


class BestOrWorst(FormatRow):
    """The best or the worst format; its own interval does not know that it was chosen."""


class Baselines(Row):
    """What a model without eyes gets."""

    chance: float | None
    """Mean over items of 1 / number of options."""
    always_first: float | None
    """Grid accuracy of always choosing the first position."""


class Selection(Row):
    """Which positions are chosen."""

    positions: list[PositionRow]
    by_factor: dict[str, dict[str, list[PositionRow]]]
    """Factor -> level -> positions."""
    first_position: FirstPosition
    preference: Preference | None


class Screening(Row):
    """What screening found before anything was permuted."""

    items: int
    not_permuted: int
    """Items that were asked in one order only; they leave position figures."""
    notes: dict[str, int]
    """Note -> items that carry it."""


class Summary(Row):
    """What one run says. A key that is None has its reason in `reasons`."""

    version: int = SUMMARY_VERSION
    model: str
    dataset: str | None
    status: str
    seed: int
    """Of the analysis: halvings that find favourite positions and bound the spread."""
    main_design: str
    main_interface: str
    """The trials of this design and interface are what every figure is taken over that does not say otherwise."""
    warnings: list[str] = Field(default_factory=list)
    findings: list[str] = Field(default_factory=list)
    """What the figures say, in sentences."""
    reasons: dict[str, str] = Field(default_factory=dict)
    """Key -> why the run cannot tell it."""
    counts: Counts
    measurement_faults: list[Fault]
    grid_accuracy: Figure | None
    """Its interval is for items like these."""
    this_dataset: ThisDataset | None = None
    row_accuracy: Figure | None
    lenient_accuracy: Figure | None
    scored_accuracy: Figure | None
    answered_accuracy: Figure | None
    reference_accuracy: Figure | None
    strict_circular: Figure | None
    plain_accuracy: Figure | None = None
    """Of an imported log: in the first order that it holds of each question."""
    circular_accuracy: Figure | None = None
    """Of an imported log with questions in several orders: mean over rows, every order counts once."""
    strict_circular_accuracy: Figure | None = None
    """Of the same: share of questions that are right in every order that the log holds of them."""
    circular: Circular | None = None
    """The questions in several orders, and what clustering them changes."""
    as_logged: AsLogged | None = None
    """The log's own scoring beside ours, with what changed item by item."""
    log_notes: list[str] = Field(default_factory=list)
    """What the importer had to say of the log: rows left out, filters, scorers that draw by lot."""
    baselines: Baselines
    coverage: Figure | None
    coverage_parts: Coverage | None
    spread: Figure | None
    spread_without_faults: Figure | None
    best_format: BestOrWorst | None
    worst_format: BestOrWorst | None
    worst_case: Figure | None = None
    """Accuracy in the worst format; unlike that of `worst_format`, its interval knows that the format was chosen."""
    two_stage: TwoStage | None = None
    """Where the spread comes from screened and confirmed formats."""
    recommended: Recommended | None = None
    stopping: str | None = None
    """Why a run that drew until a target stopped, and what it saved."""
    formats: list[FormatRow] | None
    factors: dict[str, list[Group]]
    designs: dict[str, DesignRow]
    interfaces: dict[str, InterfaceRow]
    common_ground: CommonGround
    selection: Selection
    categories: list[Group] | None
    by: str | None
    groups: list[Group] | None
    outcomes: dict[str, dict[str, int]]
    """Interface -> outcome -> trials."""
    screening: Screening
    cost: Cost
    computation: list[ComputationRow]
    """By design and interface."""
    noise_floor: NoiseFloor | None = None
    """How often the same question, asked twice in the same way, was answered otherwise."""
    effects: Effects | None = None
    """What factor levels and the right option's position change; this and the next three only with details."""
    mitigations: Mitigations | None = None
    confidence_groups: ConfidenceGroups | None = None
    position_and_id: PositionAndID | None = None
    interface_details: InterfaceDetails | None = None
    """What paper 2 tells of interfaces; this and the next only with details too."""
    whose_a: WhoseA | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON values."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """Returns `summary.json`, without NaN."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
