"""Whether a run meets the limits that someone set, by the bounds of intervals: passes, fails, or cannot be told.

Knows a summary and a comparison. Knows no formula and prints nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import Field

from vqaudit.analysis.comparison import compare
from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.schema import Summary
from vqaudit.analysis.summary import summarise
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables

__all__ = ["EXIT_CODES", "Check", "Drop", "Gate", "Limits", "check_run", "decide", "paired_drop"]

GATE_VERSION = 1
Verdict = Literal["passes", "fails", "cannot tell"]
EXIT_CODES: dict[str, int] = {"passes": 0, "fails": 1, "cannot tell": 3}
"""Verdict -> exit code of `vqaudit check`; 2 stays that of wrong usage."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a run must meet; None = not asked. All are shares in [0, 1], also those of distances.

    Raises:
        AnalysisError: No limit is set, or one lies outside [0, 1].
    """

    min_accuracy: float | None = None
    """Of the grid accuracy."""
    min_worst: float | None = None
    """Of the accuracy in the worst format."""
    min_coverage: float | None = None
    """Of the share of replies that are exactly a shown ID."""
    max_spread: float | None = None
    """Of best minus worst format accuracy."""
    max_drop: float | None = None
    """Of the baseline's accuracy minus the run's, paired by item."""

    def __post_init__(self) -> None:
        known = {name: getattr(self, name) for name in self.__slots__}
        if all(limit is None for limit in known.values()):
            raise AnalysisError(f"a gate needs a limit; set one of {', '.join(known)}")
        for name, limit in known.items():
            if limit is not None and not 0 <= limit <= 1:
                raise AnalysisError(f"{name} is {limit!r}; a limit is a share in [0, 1], such as 0.6 for 60 %")


class Check(Row):
    """One limit and what the run says of it."""

    name: str
    """`accuracy`, `worst`, `coverage`, `spread` or `drop`."""
    at_least: bool
    """Whether the figure must not lie below the limit; else it must not lie above."""
    limit: float
    figure: Figure | None
    """None where the run cannot tell it."""
    verdict: Verdict
    reason: str
    """Where the interval lies, or why nothing can be told."""


class Gate(Row):
    """All limits together."""

    version: int = GATE_VERSION
    model: str
    dataset: str | None
    against: str | None = None
    """Model of the baseline; None where there is none."""
    verdict: Verdict
    """`fails` where one check does, else `cannot tell` where one does, else `passes`."""
    checks: list[Check]
    notes: list[str] = Field(default_factory=list)
    """What to beware of in the run and in the comparison."""

    @property
    def exit_code(self) -> int:
        """0 passes, 1 fails, 3 cannot tell."""
        return EXIT_CODES[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON values."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """Returns JSON without NaN."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


class Drop(NamedTuple):
    """How far a run lies below a baseline, or why that cannot be told."""

    against: str
    """Model of the baseline."""
    figure: Estimate | None
    """Baseline minus run, in [-1, 1], paired by item."""
    reason: str = ""
    notes: tuple[str, ...] = ()


def check_run(tables: RunTables, limits: Limits, *, against: RunTables | None = None, seed: int = 0) -> Gate:
    """Decides on a run directory.

    Args:
        tables: Of the run.
        limits: What it must meet.
        against: The baseline of `max_drop`.
        seed: Of the analysis.

    Raises:
        AnalysisError: The run holds nothing, or `max_drop` has no baseline.
    """
    summary = summarise(tables, seed=seed, details=False)
    return decide(summary, limits, drop=None if against is None else paired_drop(tables, against, seed=seed))


def paired_drop(run: RunTables, baseline: RunTables, *, seed: int = 0) -> Drop:
    """Returns baseline minus run on the items that both hold, paired item by item (`comparison.compare`).

    Runs that cannot be compared, and runs read through different interfaces, tell no drop.
    """
    name = baseline.manifest.model
    try:
        found = compare([baseline, run], names=("baseline", "run"), seed=seed)
    except AnalysisError as error:
        return Drop(name, None, str(error))
    interfaces = {entry.name: entry.interface for entry in found.runs}
    if len(set(interfaces.values())) > 1:
        reason = (
            f"the baseline was read through {interfaces['baseline']}, the run through {interfaces['run']}: a "
            "difference would be that of the interfaces too"
        )
        return Drop(name, None, reason, tuple(found.warnings))
    return Drop(name, found.pairs[0].difference, "", tuple(found.warnings))


def decide(summary: Summary, limits: Limits, *, drop: Drop | None = None) -> Gate:
    """Decides by bounds: a check passes where the whole interval meets its limit, fails where none of it does.

    Every interval has the level of the summary (95 %) by itself; several checks are not adjusted for one another.

    Args:
        summary: Of the run.
        limits: What it must meet.
        drop: From `paired_drop`.

    Raises:
        AnalysisError: `max_drop` is set, and there is no `drop`.

    Example:
        >>> found = decide(summary, Limits(min_accuracy=0.6))  # doctest: +SKIP
        >>> found.verdict, found.exit_code  # doctest: +SKIP
        ('cannot tell', 3)
    """
    if limits.max_drop is not None and drop is None:
        raise AnalysisError("max_drop needs a baseline to drop from; name one with --against")
    figures = {
        "accuracy": (True, limits.min_accuracy, summary.grid_accuracy, summary.reasons.get("grid_accuracy", "")),
        "worst": (True, limits.min_worst, summary.worst_case, summary.reasons.get("worst_case", "")),
        "coverage": (True, limits.min_coverage, summary.coverage, summary.reasons.get("coverage", "")),
        "spread": (False, limits.max_spread, summary.spread, summary.reasons.get("spread", "")),
        "drop": (False, limits.max_drop, drop and drop.figure, "" if drop is None else drop.reason),
    }
    checks = [
        _check(name, at_least, limit, figure, why)
        for name, (at_least, limit, figure, why) in figures.items()
        if limit is not None
    ]
    return Gate(
        model=summary.model,
        dataset=summary.dataset,
        against=None if drop is None else drop.against,
        verdict=_together([check.verdict for check in checks]),
        checks=checks,
        notes=[
            *summary.warnings,
            *([] if summary.two_stage is None else [summary.two_stage.sentence]),
            *(() if drop is None else drop.notes),
        ],
    )


def _check(name: str, at_least: bool, limit: float, figure: Estimate | None, why: str) -> Check:
    verdict, reason = _judged(at_least, limit, figure, why)
    return Check(name=name, at_least=at_least, limit=limit, figure=figure, verdict=verdict, reason=reason)


def _judged(at_least: bool, limit: float, figure: Estimate | None, why: str) -> tuple[Verdict, str]:
    if figure is None or figure.value is None:
        return "cannot tell", why or (figure.reason if figure is not None else None) or "the run does not tell it"
    if figure.low is None or figure.high is None:
        return "cannot tell", figure.reason or "there is no interval"
    below, above = figure.high < limit, figure.low > limit
    within = figure.low >= limit if at_least else figure.high <= limit
    if within:
        return "passes", f"the whole interval is {'at or above' if at_least else 'at or below'} the limit"
    if below if at_least else above:
        return "fails", f"the whole interval is {'below' if at_least else 'above'} the limit"
    return "cannot tell", "the limit lies within the interval: more items or draws would narrow it"


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    for verdict in ("fails", "cannot tell"):
        if verdict in verdicts:
            return verdict
    return "passes"
