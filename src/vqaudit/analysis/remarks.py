"""The sentences of a summary: what to beware of, and what the figures say.

Knows the summary alone, so that the terminal, the JSON and the page cannot disagree. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from vqaudit.analysis.designs import FORMAT_DESIGNS, IMPORTED, MOST_LOST
from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.interfaces import InterfaceRow
from vqaudit.analysis.schema import Summary

__all__ = ["findings", "warnings"]

FEW_ITEMS = 30
"""Independent items below which an interval spans about 34 pp around 50 % (Wilson 1927)."""
LOW_COVERAGE = 0.75
"""Of the run as a whole."""
LOW_LEVEL = 0.5
"""Of one ID set, delimiter or separator."""
_FACTOR_NAMES = {"id_set": "ID set"}
MANY = 8
"""Interfaces beyond which only those of `SPOKEN` get a sentence each."""
SPOKEN = ("direct", "bare-scores", "cot-prefix", "free-cot", "cot-then-scores")
NOTABLE = 0.05
"""An excess of a favourite position, in [0, 1], below which it is not worth a sentence."""


def warnings(summary: Summary) -> list[str]:
    """Returns what a reader must know before the figures, the gravest first."""
    return [*_fault_warnings(summary), *_lost_warnings(summary), *_data_warnings(summary), *_log_warnings(summary)]


def findings(summary: Summary) -> list[str]:
    """Returns what the figures say, in sentences that hold without the figures beside them."""
    return [
        *_accuracy_findings(summary),
        *_log_findings(summary),
        *([] if summary.stopping is None else [summary.stopping]),
        *_format_findings(summary),
        *_interface_findings(summary),
    ]


def _fault_warnings(summary: Summary) -> Iterator[str]:
    for fault in summary.measurement_faults:
        yield f"measurement fault: {fault.sentence}"
    # A log's replies are read in full: one that is more than an ID does not count as wrong.
    strict = summary.main_design != IMPORTED
    if strict and summary.coverage is not None and (summary.coverage.value or 0.0) < LOW_COVERAGE:
        yield (
            f"coverage is {summary.coverage}: the remaining replies count as wrong, so the accuracy tells how well "
            "the model follows the instruction as much as what it knows"
        )
    yield from _level_warnings(summary)


def _level_warnings(summary: Summary) -> Iterator[str]:
    faulty = {fault.name for fault in summary.measurement_faults}
    for factor, levels in summary.factors.items():
        known = [(level, level.coverage.exact) for level in levels if level.coverage is not None]
        low = [(level, exact) for level, exact in known if exact.value is not None and exact.value < LOW_LEVEL]
        # where all levels are low, it is none of theirs
        for level, exact in low if len(low) < len(levels) else ():
            if level.name in faulty:
                continue
            yield (
                f"coverage is {exact} with {_FACTOR_NAMES.get(factor, factor)} {level.name}: most replies there are no "
                "ID and count as wrong"
            )


def _lost_warnings(summary: Summary) -> Iterator[str]:
    counts = summary.counts
    if summary.status not in ("complete", "imported"):
        yield f"the run is {summary.status}, not complete: {counts.done} of {counts.planned} trials are done"
    if counts.failed or counts.missing:
        share = (counts.failed + counts.missing) / counts.planned
        again = "" if summary.main_design == IMPORTED else ", and the same command asks them again"
        grave = "" if share <= MOST_LOST else ", too many for figures that rest on all of them"
        yield (
            f"{counts.failed} of {counts.planned} trials failed and {counts.missing} are missing{grave}; failed "
            f"trials are out of every denominator{again}"
        )
    if counts.bad_input:
        yield f"{counts.bad_input} trials could not be put to the model (bad input) and count as wrong"


def _data_warnings(summary: Summary) -> Iterator[str]:
    counts = summary.counts
    if counts.items_without_answer:
        yield f"{counts.items_without_answer} of {counts.items} items have no known answer and are in no accuracy"
    if counts.clusters < FEW_ITEMS:
        yield f"only {counts.clusters} independent items: intervals are wide"
    if summary.screening.not_permuted:
        yield (
            f"{summary.screening.not_permuted} of {counts.items} items were asked in one order only, since "
            "permuting them would change their meaning; they are in no position figure"
        )
    if summary.main_design in FORMAT_DESIGNS and summary.main_interface != "direct":
        yield f"the accuracy is read through the interface {summary.main_interface}, not direct"
    if summary.common_ground.unit != "variant" and len(summary.interfaces) > 1:
        yield f"interfaces are compared with less in common than they should have: {summary.common_ground.sentence}"


def _log_warnings(summary: Summary) -> Iterator[str]:
    yield from summary.log_notes
    if summary.circular is not None and summary.circular.fewer_orders_than_options:
        yield summary.circular.sentence
    beside = summary.as_logged
    if beside is None:
        return
    if beside.hits_without_reading:
        yield (
            f"the log counts {beside.hits_without_reading} replies as right that stand for no option: refusals, "
            "several answers, or nothing that can be read"
        )
    if beside.misread_verbatim:
        yield (
            f"the log's scorer misreads {beside.misread_verbatim} replies that are an option's ID and text to the "
            f"character; with these put right it counts {beside.corrected}"
        )


def _log_findings(summary: Summary) -> Iterator[str]:
    if summary.as_logged is not None:
        yield summary.as_logged.sentence
    groups = summary.circular
    if groups is None or groups.standard_error_clustered is None or groups.standard_error_naive is None:
        return
    clustered, naive = 100 * groups.standard_error_clustered, 100 * groups.standard_error_naive
    yield (
        "rows of one question are not independent: the standard error of the mean over rows is "
        f"{clustered:.2f} pp with questions as clusters, {naive:.2f} pp as if they were"
    )


def _accuracy_findings(summary: Summary) -> Iterator[str]:
    accuracy, by_chance = summary.grid_accuracy, summary.baselines.chance
    if accuracy is None or by_chance is None:
        return
    yield (
        f"grid accuracy through {summary.main_interface} is {accuracy}, {_to_chance(accuracy, by_chance)} chance "
        f"({100 * by_chance:.1f} %)"
    )


def _format_findings(summary: Summary) -> Iterator[str]:
    best, worst, spread = summary.best_format, summary.worst_format, summary.spread
    if best is None or worst is None or spread is None or spread.value is None:
        return
    sentence = (
        f"best format {best.format} ({_percent(best.accuracy)}), worst {worst.format} ({_percent(worst.accuracy)}): "
        f"a spread of {100 * spread.value:.1f} pp"
    )
    if summary.two_stage is not None:
        bounds = (
            "" if spread.low is None or spread.high is None else f" [{100 * spread.low:.1f}, {100 * spread.high:.1f}]"
        )
        yield f"{sentence}{bounds} among confirmed formats: {summary.two_stage.sentence}"
    elif spread.low is None or spread.high is None:
        yield sentence
    elif spread.low == 0:
        yield f"{sentence} [0.0, {100 * spread.high:.1f}], no more than picking the extremes of noisy formats can make"
    else:
        bounds = f"[{100 * spread.low:.1f}, {100 * spread.high:.1f}]"
        yield f"{sentence} {bounds}, more than picking the extremes of noisy formats makes"


def _interface_findings(summary: Summary) -> Iterator[str]:
    if len(summary.interfaces) == 1 and summary.grid_accuracy is not None:
        # its accuracy has been told: on all trials of the only interface there is
        clauses = (_position_clause(row) for row in summary.interfaces.values())
        yield from (f"through {summary.main_interface}, {clause}" for clause in clauses if clause is not None)
        return
    many = len(summary.interfaces) > MANY
    mismatched = [name for name, row in summary.interfaces.items() if row.verdict == "mismatched"]
    if many:
        yield (
            f"{len(mismatched)} of {len(summary.interfaces)} interfaces are mismatched: their scores are not what the "
            f"model knows ({', '.join(mismatched) or 'none'})"
        )
    for name, row in summary.interfaces.items():
        sentence = row.sentence if name in mismatched else _interface_sentence(name, row)
        if sentence is not None and (not many or name in SPOKEN):
            yield sentence


def _interface_sentence(name: str, row: InterfaceRow) -> str | None:
    if row.accuracy.value is None or row.chance is None:
        return None
    parts = [f"{name}: accuracy {row.accuracy}, {_to_chance(row.accuracy, row.chance)} chance"]
    if (position := _position_clause(row)) is not None:
        parts.append(position)
    if row.gap is not None and row.gap.low is not None and row.gap.low > 0:
        parts.append(f"{100 * (row.gap.value or 0.0):.1f} pp below {row.best_aligned}")
    return "; ".join(parts)


def _position_clause(row: InterfaceRow) -> str | None:
    first = row.first_position_excess
    if first.low is not None and first.low > 0 and (first.value or 0.0) > NOTABLE:
        return (
            f"the first position is chosen in {_percent(row.first_position_rate)} of trials, where the right option "
            f"stands in {_percent(row.answer_first_rate)}"
        )
    liked = row.preference
    if liked is None or liked.excess.low is None or liked.excess.low <= 0 or (liked.excess.value or 0.0) <= NOTABLE:
        return None
    whose = {"format": "each format's", "id_set": "each ID set's", "run": "its"}[liked.level]
    return (
        f"{whose} favourite position is chosen in {_percent(liked.rate)} of trials, where the right option stands in "
        f"{_percent(liked.answer_rate)}"
    )


def _to_chance(accuracy: Estimate, by_chance: float) -> str:
    if accuracy.low is None or accuracy.high is None:
        return "against"
    if accuracy.low > by_chance:
        return "above"
    return "below" if accuracy.high < by_chance else "not to be told from"


def _percent(estimate: Estimate) -> str:
    return "unknown" if estimate.value is None else f"{100 * estimate.value:.1f} %"
