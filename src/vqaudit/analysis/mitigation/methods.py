"""Every remedy on one run: its accuracy, how far that is from the grid's, what it costs, or why it does not apply.

Knows the methods beside it. Source: paper 1, Tab. 2 and Tab. 7.
"""

from __future__ import annotations

from collections.abc import Callable

from vqaudit.analysis.accuracy import grid_accuracy
from vqaudit.analysis.figures import Figure, Row, known
from vqaudit.analysis.mitigation.applied import Applied, MitigationRow, PridePrior
from vqaudit.analysis.mitigation.calibrated import pride
from vqaudit.analysis.mitigation.material import Calibration, Material
from vqaudit.analysis.mitigation.plain import (
    circular,
    circular_majority,
    circular_strict,
    cp_ln,
    randomised,
    vanilla,
)
from vqaudit.analysis.mitigation.positional import pia
from vqaudit.errors import AnalysisError

__all__ = ["METHODS", "MitigationRow", "Mitigations", "PridePrior", "apply_methods", "mitigations"]

_PLAIN: dict[str, Callable[[Material], Applied]] = {
    "vanilla": vanilla,
    "circular": circular,
    "circular_majority": circular_majority,
    "circular_strict": circular_strict,
    "pia": pia,
    "cp_ln": cp_ln,
    "randomised": randomised,
}
METHODS = ("vanilla", "circular", "circular_majority", "circular_strict", "pia", "pride", "cp_ln", "randomised")
"""In the order of the paper's tables, the randomised design last."""


class Mitigations(Row):
    """Remedies on one run, held against its grid accuracy."""

    gold: Figure | None
    """The grid accuracy; None where the run has neither a grid nor a randomised design."""
    gold_design: str | None
    """`grid`, or `randomised` where the grid accuracy is itself an estimate."""
    gold_passes: int | None
    methods: dict[str, MitigationRow]
    """Those of `METHODS` that apply."""
    not_applicable: dict[str, str]
    """Method -> why not."""
    pride_priors: list[PridePrior]
    """One per number of options; empty where PriDe does not apply."""
    pia_by_all: float | None
    """PIA with N = all trials, as paper 1's Eq. 7 is printed: a perfect model scores 1 / options."""


def apply_methods(material: Material, calibration: Calibration) -> tuple[dict[str, Applied], dict[str, str]]:
    """Returns what every method gave, and for those that do not apply, why."""
    found: dict[str, Applied] = {}
    missing: dict[str, str] = {}
    for name in METHODS:
        try:
            found[name] = pride(material, calibration) if name == "pride" else _PLAIN[name](material)
        except AnalysisError as error:
            missing[name] = str(error)
    return found, missing


def mitigations(material: Material, *, calibration: Calibration | None = None) -> Mitigations:
    """Applies every method that the records of a run allow.

    Args:
        material: From `material_of`.
        calibration: Where PriDe's prior comes from; a tenth of the items where None.

    Raises:
        AnalysisError: No method applies.
    """
    found, missing = apply_methods(material, calibration or Calibration())
    if not found:
        raise AnalysisError(f"no method applies: {missing['vanilla']}")
    gold = material.gold
    return Mitigations(
        gold=None if gold is None else known(grid_accuracy(gold)),
        gold_design=None if gold is None else material.main.design,
        gold_passes=None if gold is None else material.main.completeness.done,
        methods={name: applied.row() for name, applied in found.items()},
        not_applicable=missing,
        pride_priors=list(found["pride"].priors) if "pride" in found else [],
        pia_by_all=found["pia"].by_all if "pia" in found else None,
    )
