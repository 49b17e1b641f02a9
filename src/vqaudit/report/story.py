"""What a summary says, in the order and the words that the terminal and the page share.

Knows the summary. Computes nothing but shares of counts, prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vqaudit.analysis.breakdown import Group
from vqaudit.analysis.coverage import Coverage
from vqaudit.analysis.designs import FORMAT_DESIGNS, IMPORTED, MOST_LOST
from vqaudit.analysis.details import DETAILS, NOT_ASKED
from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.imported import IMPORTED_KEYS
from vqaudit.analysis.interfaces import InterfaceRow
from vqaudit.analysis.recommended import Recommended
from vqaudit.analysis.schema import DesignRow, Summary
from vqaudit.analysis.selection import PositionRow
from vqaudit.report.digits import bounds, count, difference, interval, pct, points

__all__ = [
    "Headline",
    "KeyFigure",
    "PositionShares",
    "Unknown",
    "accuracies",
    "as_sentence",
    "baselines",
    "cautions",
    "coverage_alone",
    "coverage_parts",
    "factor_parts",
    "headline",
    "in_grid_order",
    "interface_sentences",
    "meaning",
    "outcome_counts",
    "position_shares",
    "recommendations",
    "screening_rows",
    "spread_text",
    "this_dataset_line",
    "unknowns",
]

_ACCURACIES = (
    ("grid_accuracy", "grid accuracy", "mean over all formats and orders"),
    ("plain_accuracy", "plain", "in the first order of every question"),
    ("circular_accuracy", "circular, by row", "every order of a question counts once"),
    ("strict_circular_accuracy", "strict circular", "right in every order that was logged"),
    ("row_accuracy", "by row", "every order of an item counts once"),
    ("reference_accuracy", "reference format", "in the run's reference format alone"),
    ("strict_circular", "strict circular", "right in every order of a format"),
    ("lenient_accuracy", "lenient reading", "an answer anywhere in the reply counts"),
    ("answered_accuracy", "of answered", "trials that chose an option, no others"),
    ("scored_accuracy", "by ID scores", "the right ID has the highest probability"),
)
_LABELS = {key: label for key, label, _ in _ACCURACIES} | {
    "spread": "spread",
    "this_dataset": "the interval for this dataset",
    "recommended": "recommended format",
    "spread_without_faults": "spread without measurement faults",
    "best_format": "best format",
    "worst_format": "worst format",
    "worst_case": "accuracy in the worst format",
    "formats": "accuracy by format",
    "coverage": "coverage",
    "coverage_parts": "coverage in its parts",
    "categories": "categories",
    "circular": "questions in several orders",
    "as_logged": "the log's own scoring",
    "noise_floor": "noise between two askings",
    "effects": "effects of format",
    "mitigations": "remedies",
    "confidence_groups": "confidence groups",
    "position_and_id": "position apart from ID",
    "whose_a": "whose A it is",
    "interface_details": "details of interfaces",
}
_NOT_ASKED = ("groups", "stopping", "two_stage", *DETAILS)
_GRID_ORDER = (
    *("upper", "lower", "number", "roman"),
    *("colon", "dot", "bracket", "double_brackets"),
    *("line_break", "comma", "semicolon"),
)
_VERDICTS = {
    "mismatched": "mismatched, its score is not what the model knows",
    "aligned": "aligned, it reads as much",
    "undecided": "undecided, these items cannot tell",
}
_FAULT = "measurement fault: "


@dataclass(frozen=True, kw_only=True, slots=True)
class Headline:
    """The first sentence of a summary."""

    name: str
    """What is measured: `Grid accuracy`."""
    figure: str
    """`41.3 % [38.0, 44.7]`, or `unknown`."""
    conditions: str
    """What it was measured on, or why there is none."""

    def __str__(self) -> str:
        return f"{self.name} {self.figure}, {self.conditions}"


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyFigure:
    """One line of figures."""

    label: str
    estimate: Estimate
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionShares:
    """One position, as shares of the trials that show it."""

    name: str
    """Counted from 0."""
    shown: int
    chosen: float | None
    """Share of them that chose it, in [0, 1]."""
    answers: float | None
    """Share of them whose right option stands there."""
    frequency: float | None
    """Selection frequency, normalised over positions (paper 1, Eq. 12)."""
    right: float | None
    """Share that is right where the right option stands there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unknown:
    """Figures that the run cannot tell, for one reason."""

    names: str
    reason: str


def headline(summary: Summary) -> Headline:
    """Returns the headline; where the run has none, why."""
    row = summary.designs[summary.main_design]
    if summary.grid_accuracy is not None:
        return Headline(
            name="Grid accuracy", figure=interval(summary.grid_accuracy), conditions=_conditions(summary, row)
        )
    name = "Grid accuracy" if summary.main_design in FORMAT_DESIGNS else f"Accuracy ({summary.main_design} trials)"
    if summary.main_design in FORMAT_DESIGNS or row.failed + row.missing > MOST_LOST * row.planned:
        return Headline(name=name, figure="unknown", conditions=_why_none(summary, row))
    if row.accuracy.value is None:
        return Headline(name=name, figure="unknown", conditions=row.accuracy.reason or "no data")
    return Headline(name=name, figure=interval(row.accuracy), conditions=_conditions(summary, row))


def this_dataset_line(summary: Summary) -> str:
    """Returns the interval of another draw over the same items, in one line; empty where there is none."""
    found = summary.this_dataset
    if found is None:
        return ""
    return f"this dataset {bounds(found.grid_accuracy)}{' (conservative)' if found.conservative else ''}"


def recommendations(found: Recommended) -> list[tuple[str, str, str]]:
    """Returns what to ask the model in: label, format, and how sure that is."""
    others = len(found.as_good) - 1
    rows = [("highest", found.highest, f"{others} more cannot be told from it")]
    if found.representative is not None and found.distance is not None:
        gap = f"{difference(found.distance)} from the grid"
        rows.append(("nearest", found.representative, gap))
    return rows


def _why_none(summary: Summary, row: DesignRow) -> str:
    if summary.main_design in FORMAT_DESIGNS:
        return summary.reasons.get("grid_accuracy", "no data")
    return f"{count(row.failed)} of {count(row.planned)} trials failed and {count(row.missing)} are missing"


def _conditions(summary: Summary, row: DesignRow) -> str:
    asked = {
        "grid": f"{len(summary.formats or ())} formats x {_orders(summary, row)}",
        "randomised": f"{row.draws} of the grid's variants drawn for each"
        if row.draws > 1
        else "one of the grid's variants drawn for each",
        "reference": f"one format, {'circular orders' if row.trials > row.items else 'one order'}",
    }.get(summary.main_design, f"{count(row.trials)} trials as they were logged")
    return f"{count(row.items)} items, {asked}"


def _orders(summary: Summary, row: DesignRow) -> str:
    return "circular orders" if row.trials > row.items * len(summary.formats or ()) else "one order"


def meaning(summary: Summary) -> list[str]:
    """Returns what the headline means and what moves it, in sentences for readers who do not know the words."""
    found = []
    accuracy, chance = summary.grid_accuracy, summary.baselines.chance
    if accuracy is not None:
        against = "" if chance is None else f"; guessing would be right in {pct(chance)}"
        found.append(
            f"Averaged over the formats and orders of the grid, the model is right in {pct(accuracy.value)} of items "
            f"like these{against}."
        )
        if accuracy.low is not None:
            others = "items and other draws" if summary.main_design == "randomised" else "items of the same kind"
            found.append(
                f"Other {others} could move that to anything from {pct(accuracy.low)} to "
                f"{pct(accuracy.high)} (95 % interval over {count(accuracy.n)} independent items)."
            )
    if (moved := _moved_by_format(summary)) is not None:
        found.append(moved)
    return found


def _moved_by_format(summary: Summary) -> str | None:
    best, worst, spread = summary.best_format, summary.worst_format, summary.spread
    if best is None or worst is None or spread is None:
        return None
    ends = f"from {pct(worst.accuracy.value)} ({worst.format}) to {pct(best.accuracy.value)} ({best.format})"
    if spread.low == 0:
        return f"The formats' scores reach {ends}, but the extremes of equally good formats can lie as far apart."
    return f"Which of {_compared_formats(summary)} one happens to choose moves the score {ends}."


def _compared_formats(summary: Summary) -> str:
    if (stages := summary.two_stage) is not None:
        return f"{len({*stages.worst, *stages.best})} confirmed formats"
    return f"{len(summary.formats or ())} formats"


def as_sentence(text: str) -> str:
    """Returns a text that begins with a capital and ends in a full stop.

    Example:
        >>> as_sentence("the run drew one format per item")
        'The run drew one format per item.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def cautions(summary: Summary) -> list[str]:
    """Returns the warnings that are not measurement faults, which stand on their own."""
    return [warning for warning in summary.warnings if not warning.startswith(_FAULT)]


def accuracies(summary: Summary) -> list[KeyFigure]:
    """Returns the accuracies that the run can tell, the headline first."""
    # An imported run has the same figure under both names.
    twice = {"strict_circular"} if summary.main_design == IMPORTED else set()
    found = [(getattr(summary, key), label, note) for key, label, note in _ACCURACIES if key not in twice]
    return [KeyFigure(label=label, estimate=figure, note=note) for figure, label, note in found if figure is not None]


def baselines(summary: Summary) -> list[tuple[str, str]]:
    """Returns what a model without eyes gets: chance, and always choosing the first position."""
    known = (("chance", summary.baselines.chance), ("always first", summary.baselines.always_first))
    return [(label, pct(value)) for label, value in known if value is not None]


def coverage_parts(coverage: Coverage | None) -> list[KeyFigure]:
    """Returns the three shares that replies fall into."""
    if coverage is None:
        return []
    return [
        KeyFigure(label="exactly an ID", estimate=coverage.exact, note="the coverage"),
        KeyFigure(label="needs more tokens", estimate=coverage.needs_more_tokens, note="an ID, had the reply gone on"),
        KeyFigure(label="out of scheme", estimate=coverage.out_of_scheme, note="anything else"),
    ]


def coverage_alone(coverage: Estimate | None) -> list[KeyFigure]:
    """Returns the coverage where what lies outside it cannot be told apart, as in a log."""
    if coverage is None:
        return []
    return [KeyFigure(label="exactly an ID", estimate=coverage, note="other replies are read too, where they can be")]


def in_grid_order(names: Iterable[str]) -> list[str]:
    """Returns levels of a factor as the standard grid lists them, others after these by name; each once.

    Example:
        >>> in_grid_order(["roman", "emoji", "lower", "upper", "lower"])
        ['upper', 'lower', 'roman', 'emoji']
    """
    known = {name: place for place, name in enumerate(_GRID_ORDER)}
    return sorted(set(names), key=lambda name: (known.get(name, len(known)), name))


def factor_parts(summary: Summary, factor: str) -> list[Group]:
    """Returns the levels of a factor in the order of the grid."""
    by_name = {part.name: part for part in summary.factors.get(factor, ()) if part.name is not None}
    return [by_name[name] for name in in_grid_order(by_name)]


def spread_text(spread: Estimate | None) -> str:
    """Returns the spread with its interval, in percentage points.

    Example:
        >>> spread_text(Estimate(value=0.491, low=0.402, high=0.55))
        '49.1 pp [40.2, 55.0]'
    """
    if spread is None or spread.low is None or spread.high is None:
        return points(None if spread is None else spread.value)
    return f"{points(spread.value)} [{100 * spread.low:.1f}, {100 * spread.high:.1f}]"


def interface_sentences(summary: Summary) -> list[str]:
    """Returns which interface reads what, as sentences: each beside the best aligned one, paired by item."""
    return [_interface_sentence(name, row) for name, row in summary.interfaces.items() if row.gap is not None]


def _interface_sentence(name: str, row: InterfaceRow) -> str:
    gap = row.gap
    if gap is None or gap.value is None:
        return f"{name} cannot be compared with {row.best_aligned}: {gap.reason if gap else 'no data'}."
    where, distance = ("below", gap) if gap.value >= 0 else ("above", _negated(gap))
    verdict = _VERDICTS.get(row.verdict or "", "no verdict")
    shown = f"{points(distance.value)} {bounds(distance, signed=True)}".rstrip()
    return f"{name} lies {shown} {where} {row.best_aligned}: {verdict}."


def _negated(estimate: Estimate) -> Estimate:
    value, low, high = (None if part is None else -part for part in (estimate.value, estimate.high, estimate.low))
    return Estimate(value=value, low=low, high=high, n=estimate.n, trials=estimate.trials)


def position_shares(rows: Iterable[PositionRow]) -> list[PositionShares]:
    """Returns the positions as shares of the trials that show them."""
    return [
        PositionShares(
            name=f"{row.position} (first)" if row.position == 0 else str(row.position),
            shown=row.shown,
            chosen=row.chosen / row.shown if row.shown else None,
            answers=row.answers / row.shown if row.shown else None,
            frequency=row.frequency,
            right=row.right_of_answers,
        )
        for row in rows
    ]


def screening_rows(summary: Summary) -> list[tuple[str, str]]:
    """Returns how many items carry which note of the screening."""
    return [
        (f"{count(number)} of {count(summary.screening.items)}", note)
        for note, number in summary.screening.notes.items()
    ]


def outcome_counts(outcomes: Mapping[str, int]) -> str:
    """Returns how often trials ended in which way, the most frequent first.

    Example:
        >>> outcome_counts({"chosen": 11520, "empty": 3})
        'chosen 11,520, empty 3'
    """
    ordered = sorted(outcomes.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{outcome} {count(number)}" for outcome, number in ordered)


def unknowns(summary: Summary, *, details: bool = False) -> list[Unknown]:
    """Returns what the run cannot tell and why, one entry per reason.

    Args:
        summary: Of the run.
        details: Whether what is told with details alone counts, where details were asked for.
    """
    by_reason: dict[str, list[str]] = {}
    silent = {*_NOT_ASKED, *(() if summary.main_design == IMPORTED else IMPORTED_KEYS)}
    silent -= {key for key in DETAILS if details and summary.reasons.get(key) != NOT_ASKED}
    for key, reason in summary.reasons.items():
        if key not in silent and not (key == "spread_without_faults" and not summary.measurement_faults):
            names = by_reason.setdefault(reason, [])
            if (label := _LABELS.get(key, key)) not in names:
                names.append(label)
    return [Unknown(names=", ".join(names), reason=reason) for reason, names in by_reason.items()]
