"""What a summary tells on request: effects, remedies, confidence groups, position apart from ID.

Knows which of them a run allows, and the reason where it does not. Computes none itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from vqaudit.analysis.confidence import ConfidenceGroups, confidence_groups
from vqaudit.analysis.designs import FORMAT_DESIGNS
from vqaudit.analysis.effects import Effects, trial_effects
from vqaudit.analysis.figures import Row
from vqaudit.analysis.mitigation import Calibration, Material, Mitigations, mitigations
from vqaudit.analysis.position_and_id import PositionAndID, position_and_id
from vqaudit.analysis.whose_a import WhoseA, whose_a
from vqaudit.errors import AnalysisError

T = TypeVar("T", bound=Row)

__all__ = ["DETAILS", "NOT_ASKED", "Details", "details", "without_details"]

DETAILS = ("effects", "mitigations", "confidence_groups", "position_and_id", "whose_a", "interface_details")
"""Keys of a summary that cost seconds on a large grid, so that they can be left out."""
NOT_ASKED = "details were not asked for"


class Details(NamedTuple):
    """The keys of `DETAILS` that could be told, and why for those that could not."""

    effects: Effects | None
    mitigations: Mitigations | None
    confidence_groups: ConfidenceGroups | None
    position_and_id: PositionAndID | None
    whose_a: WhoseA | None
    reasons: dict[str, str]


def details(material: Material, *, calibration: Calibration | None = None) -> Details:
    """Returns what the records of a run allow.

    Args:
        material: The run.
        calibration: Where PriDe's prior comes from; a tenth of the items where None.
    """
    reasons: dict[str, str] = {}
    return Details(
        effects=_try("effects", lambda: run_effects(material), reasons),
        mitigations=_try("mitigations", lambda: mitigations(material, calibration=calibration), reasons),
        confidence_groups=_try("confidence_groups", lambda: confidence_groups(material), reasons),
        position_and_id=_try("position_and_id", lambda: position_and_id(material), reasons),
        whose_a=_try("whose_a", lambda: whose_a(material), reasons),
        reasons=reasons,
    )


def without_details() -> Details:
    """Returns nothing, with the reason that nothing was asked for."""
    return Details(None, None, None, None, None, dict.fromkeys(DETAILS, NOT_ASKED))


def run_effects(material: Material) -> Effects:
    """Returns the question-level model of a run's main trials.

    Raises:
        AnalysisError: No grid and no randomised design, or too many of its trials are lost.
    """
    main = material.main
    if main.design not in FORMAT_DESIGNS:
        raise AnalysisError(f"effects of format need the design grid or randomised; this run holds {main.design} only")
    if main.completeness.complaint is not None:
        raise AnalysisError(main.completeness.complaint)
    return trial_effects(main.done, grid=main.design == "grid")


def _try(key: str, make: Callable[[], T], reasons: dict[str, str]) -> T | None:
    try:
        return make()
    except AnalysisError as error:
        reasons[key] = str(error)
        return None
