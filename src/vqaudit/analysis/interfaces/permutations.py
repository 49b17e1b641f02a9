"""Seeded permutations of the contents: whether a default is the condition's or the contents' (paper 2, Eq. 6).

Knows trials of the design `permuted`. Knows no score.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.grouped import item_mean
from vqaudit.analysis.selection import first_position

__all__ = ["PermutationRow", "permutations"]

PERMUTED = "permuted"


class PermutationRow(Row):
    """One interface under several seeded permutations of the contents."""

    interface: str
    accuracies: list[float]
    """A^(s), by seed, in [0, 1]: mean over items."""
    accuracy: Figure
    """Over all seeds, with an interval for items like these."""
    accuracy_sd: float | None
    """Standard deviation of the accuracies by seed (n - 1); None for one seed. It says how little the contents' order
    matters, not how sure the accuracy is."""
    first_rates: list[float]
    """B^(s), by seed: share of trials that chose position 0."""
    first_rate: Figure
    first_rate_sd: float | None
    answer_first_rate: Figure
    """Share of trials whose right option stands at position 0: what always choosing it would get."""
    excess: Figure
    """`first_rate - answer_first_rate`, in [-1, 1]."""


def permutations(frame: pl.DataFrame, plan: pl.DataFrame) -> list[PermutationRow]:
    """Returns one row per interface that was asked under the design `permuted`, by name.

    Args:
        frame: From `analysis_frame`.
        plan: From `planned_trials`.
    """
    rows = plan.filter(pl.col("design") == PERMUTED, pl.col("trial_code").is_not_null())
    drawn = rows.select("trial_code", "draw", _name=pl.col("interface"))
    trials = drawn.join(frame.filter(~pl.col("failed")), on="trial_code", maintain_order="left")
    return [
        _row(str(key[0]), part) for key, part in sorted(trials.group_by("_name", maintain_order=True)) if part.height
    ]


def _row(name: str, part: pl.DataFrame) -> PermutationRow:
    seeds = [group for _, group in sorted(part.group_by("draw", maintain_order=True))]
    accuracies = [value for group in seeds if (value := item_mean(group, "right").value) is not None]
    rates = [value for group in seeds if (value := first_position(group).rate.value) is not None]
    first = first_position(part)
    return PermutationRow(
        interface=name,
        accuracies=accuracies,
        accuracy=item_mean(part, "right"),
        accuracy_sd=_sd(accuracies),
        first_rates=rates,
        first_rate=first.rate,
        first_rate_sd=_sd(rates),
        answer_first_rate=first.answer_rate,
        excess=first.excess,
    )


def _sd(values: list[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
