"""Everything that paper 2 tells of interfaces, from one run's records.

Knows which table needs which trials, and the reason where a run lacks them. Computes none itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from pydantic import Field

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import Row
from vqaudit.analysis.interfaces.comparison import Interfaces
from vqaudit.analysis.interfaces.endings import EndingRow, ending_table
from vqaudit.analysis.interfaces.flips import Agreement, Flips, agreement, flips
from vqaudit.analysis.interfaces.permutations import PermutationRow, permutations
from vqaudit.analysis.interfaces.probabilities import RightProbability, p_right, right_probability
from vqaudit.analysis.interfaces.slices import SliceRow, slices
from vqaudit.analysis.interfaces.vocabulary import VocabularyRow, vocabulary_row
from vqaudit.analysis.internals import Internals
from vqaudit.records import RunTables

__all__ = ["InterfaceDetails", "interface_details", "probe_accuracies"]

DIRECT = "bare-scores"
"""Paper 2's Direct: ID scores after the options, without any ending."""

_REASONS = {
    "endings": "the run does not say which endings its interfaces have",
    "probabilities": "no interface scores all shown IDs",
    "vocabulary": "no interface tells the probability of the shown IDs over the whole vocabulary",
    "flips": "there is no second interface on the same items, formats and orders",
    "agreement": "no interface with one forced token has ID scores of the same prompt beside it",
    "slices": "all items have as many options, and all or none have a picture",
    "permutations": "the contents were not permuted by seed: -i bare-scores@permuted -i cot-prefix@permuted",
}


class InterfaceDetails(Row):
    """What a run tells of its interfaces beyond their accuracies."""

    baseline: str | None
    """The interface that others are compared with here: paper 2's Direct (`bare-scores`) where it was asked, else the
    best aligned one; None where there is neither."""
    endings: list[EndingRow]
    probabilities: dict[str, RightProbability]
    """By interface, where all shown IDs are scored."""
    vocabulary: dict[str, VocabularyRow]
    flips: list[Flips]
    """From the baseline to every other interface."""
    agreement: list[Agreement]
    """One forced token beside the ID scores of the same prompt."""
    slices: list[SliceRow]
    permutations: list[PermutationRow]
    reasons: dict[str, str] = Field(default_factory=dict)
    """Key -> why the run cannot tell it."""


def interface_details(
    tables: RunTables,
    found: Interfaces,
    *,
    frame: pl.DataFrame,
    plan: pl.DataFrame,
    internals: Internals | None = None,
    seed: int = 0,
) -> InterfaceDetails:
    """Returns what the records allow.

    Args:
        tables: The run.
        found: Its interfaces on their common ground.
        frame: From `analysis_frame`.
        plan: From `planned_trials`.
        internals: What probes found, where they were fitted.
        seed: Of the resampling of clusters.
    """
    baseline = _baseline(found)
    probe = None if internals is None else internals.probe
    first = {} if probe is None else {name: row.probe_first for name, row in probe.conditions.items()}
    parts: dict[str, object] = {
        "endings": ending_table(found, probes=probe_accuracies(internals), probe_first_rates=first),
        "probabilities": _probabilities(tables, found.parts, baseline),
        "vocabulary": _vocabulary(tables, found.parts, seed),
        "flips": _flips(found.parts, baseline),
        "agreement": _agreement(found),
        "slices": slices(tables, found.parts, baseline=baseline),
        "permutations": permutations(frame, plan),
    }
    reasons = {key: why for key, why in _REASONS.items() if not parts.get(key)}
    if probe is None:
        reasons["probe"] = "no probe was fitted: vqaudit internals does so from stored states"
    return InterfaceDetails(baseline=baseline, reasons=reasons, **parts)  # type: ignore[arg-type]


def probe_accuracies(internals: Internals | None) -> dict[str, Estimate]:
    """Returns the accuracy of the probe of each interface's state; empty where none was fitted."""
    if internals is None or internals.probe is None:
        return {}
    return {name: row.probe for name, row in internals.probe.conditions.items()}


def _baseline(found: Interfaces) -> str | None:
    if DIRECT in found.rows:
        return DIRECT
    best = {row.best_aligned for row in found.rows.values() if row.best_aligned is not None}
    return min(best, default=None)


def _probabilities(
    tables: RunTables, parts: Mapping[str, pl.DataFrame], baseline: str | None
) -> dict[str, RightProbability]:
    scored = {name: p_right(tables, part.filter("options_shown")) for name, part in parts.items()}
    base = scored.get(baseline) if baseline is not None else None
    rows = {name: right_probability(part, None if name == baseline else base) for name, part in scored.items()}
    return {name: row for name, row in rows.items() if row is not None}


def _vocabulary(tables: RunTables, parts: Mapping[str, pl.DataFrame], seed: int) -> dict[str, VocabularyRow]:
    rows = {name: vocabulary_row(tables, part, seed=seed) for name, part in parts.items()}
    return {name: row for name, row in rows.items() if row is not None}


def _flips(parts: Mapping[str, pl.DataFrame], baseline: str | None) -> list[Flips]:
    if baseline is None:
        return []
    shown = {name: part for name, part in parts.items() if part["options_shown"].any()}
    if baseline not in shown:
        return []
    rows = [flips(shown[baseline], part) for name, part in shown.items() if name != baseline]
    return [row for row in rows if row is not None]


def _agreement(found: Interfaces) -> list[Agreement]:
    rows = []
    for one in found.described.values():
        for other in found.described.values():
            same = one.ending is not None and (one.ending, one.place) == (other.ending, other.place)
            if same and (one.event, other.event) == ("forced-token", "id-scores"):
                rows.append(agreement(found.parts[one.name], found.parts[other.name]))
    return [row for row in rows if row is not None]
