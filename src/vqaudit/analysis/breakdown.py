"""The same figures for parts of a run: by format, factor level, category, or any other column.

Knows columns of the analysis frame. Compares no parts: `spread` does.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from vqaudit.analysis.accuracy import accuracy_by
from vqaudit.analysis.coverage import Coverage, coverage_by
from vqaudit.analysis.draw_table import DrawTable, drawn_level
from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import Figure, Row, known
from vqaudit.analysis.frame import FACTORS
from vqaudit.analysis.grouped import item_means_by
from vqaudit.errors import AnalysisError

__all__ = ["BREAKDOWNS", "FormatRow", "Group", "breakdown", "factor_levels", "format_rows"]

BREAKDOWNS = ("category", "cluster", "format", *FACTORS, "n_options", "answer_position")
"""Columns that a summary can be broken down by."""


class Group(Row):
    """One part of the main trials."""

    name: str | None
    """The value that its trials share; None where the items say nothing."""
    accuracy: Figure
    """Mean over items."""
    coverage: Coverage | None
    """None where these trials have no reply that could be exactly an ID."""
    accuracy_this_dataset: Figure | None = None
    """The same accuracy with the interval of another draw over the same items; factor levels of a randomised run."""
    coverage_this_dataset: Figure | None = None
    """The exact coverage likewise."""


class FormatRow(Row):
    """One format of the grid."""

    format: str
    id_set: str
    delimiter: str
    separator: str
    accuracy: Figure
    """Mean over items of the mean over orders."""
    scored_accuracy: Figure | None
    """How often the right ID has the highest score, where scores were kept."""
    coverage: Coverage | None


def breakdown(trials: pl.DataFrame, by: str) -> list[Group]:
    """Returns one row per value of a column, sorted; where no answer is known, the accuracy is unknown.

    Raises:
        AnalysisError: A column that a run cannot be broken down by.
    """
    if by not in BREAKDOWNS:
        raise AnalysisError(f"cannot break down by {by!r}; choose from {', '.join(BREAKDOWNS)}")
    accuracies, coverages = accuracy_by(trials, [by]), coverage_by(trials, [by])
    keys = sorted({key for key in (*accuracies, *coverages)}, key=lambda key: (key[0] is None, key[0]))
    unknown = Estimate.unknown("the answers of these items are not known")
    return [
        Group(
            name=None if key[0] is None else str(key[0]),
            accuracy=accuracies.get(key, unknown),
            coverage=coverages.get(key),
        )
        for key in keys
    ]


def factor_levels(
    trials: pl.DataFrame, *, drawn: DrawTable | None = None, covered: DrawTable | None = None
) -> dict[str, list[Group]]:
    """Returns the levels of each factor of the format: ID set, delimiter, separator.

    Args:
        trials: Trials that did not fail.
        drawn: Where they are draws of a randomised design, `right` by item and draw: every draw then counts once.
        covered: `covered` likewise.
    """
    shown = trials.filter(pl.col("format").is_not_null())
    levels = {factor: breakdown(shown, factor) for factor in FACTORS}
    if drawn is None:
        return levels
    return {
        factor: [_drawn_group(group, place, drawn, covered) for group in levels[factor]]
        for place, factor in enumerate(FACTORS)
    }


def _drawn_group(group: Group, factor: int, drawn: DrawTable, covered: DrawTable | None) -> Group:
    level = group.name
    if level is None or level not in drawn.names[factor]:
        return group
    both = drawn_level(drawn, factor, level)
    replies = covered is not None and level in covered.names[factor]
    return group.model_copy(
        update={
            "accuracy": both.items_like_these,
            "accuracy_this_dataset": known(both.this_dataset),
            "coverage_this_dataset": known(drawn_level(covered, factor, level).this_dataset)
            if covered is not None and replies
            else None,
        }
    )


def format_rows(trials: pl.DataFrame) -> list[FormatRow]:
    """Returns one row per format, sorted by ID set, delimiter and separator."""
    shown = trials.filter(pl.col("format").is_not_null())
    accuracies, coverages = accuracy_by(shown, FACTORS), coverage_by(shown, FACTORS)
    scored: dict[tuple[Any, ...], Estimate] = item_means_by(shown, "scored_right", FACTORS)
    return [
        FormatRow(
            format="/".join(key),
            **dict(zip(FACTORS, key, strict=True)),
            accuracy=accuracy,
            scored_accuracy=scored.get(key),
            coverage=coverages.get(key),
        )
        for key, accuracy in accuracies.items()
    ]
