"""How much probability the right ID has, by where it stands: paper 2, Fig. 2 and Eq. 7.

Knows scores of shown IDs. Knows no interface's ending.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from vqaudit.analysis.estimates import Estimate, mean_estimate, paired_difference
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.id_scores import id_logprobs
from vqaudit.records import RunTables

__all__ = ["PositionShift", "RightProbability", "p_right", "right_probability"]

BINS = 10
"""Bins of equal width over [0, 1]."""


class PositionShift(Row):
    """Trials whose right option stands at one position."""

    position: int
    """From 0."""
    mean: Figure
    """Mean P(right ID), renormalised over the shown IDs."""
    shift: Figure | None
    """delta_j: mean over these trials of P(right ID) here minus P(right ID) under the baseline, in [-1, 1]; None for
    the baseline itself and where nothing is shared with it."""


class RightProbability(Row):
    """P(right ID), renormalised over the shown IDs, over trials that score them all."""

    trials: int
    mean: Figure
    histogram: tuple[int, ...]
    """Trials in each of ten bins of equal width, from [0, 0.1) to [0.9, 1]."""
    by_position: list[PositionShift]


def p_right(tables: RunTables, trials: pl.DataFrame) -> pl.DataFrame:
    """Returns the trials that score all shown IDs, with `p_right`: the right ID's share of the shown IDs' probability.

    Args:
        tables: The run.
        trials: Rows of the analysis frame.
    """
    placed = trials.filter(~pl.col("failed"), pl.col("answer_position").is_not_null())
    if not placed.height:
        return placed.with_columns(p_right=pl.lit(None, dtype=pl.Float64))
    scores = id_logprobs(tables, placed)
    top = np.fmax.reduce(scores, axis=1, keepdims=True)
    shares = np.exp(scores - top)
    shares /= np.nansum(shares, axis=1, keepdims=True)
    right = shares[np.arange(placed.height), placed["answer_position"].to_numpy()]
    kept = placed.with_columns(p_right=pl.Series(right))
    return kept.filter(pl.col("p_right").is_finite())


def right_probability(part: pl.DataFrame, baseline: pl.DataFrame | None) -> RightProbability | None:
    """Returns the distribution of P(right ID) and its shift against a baseline by position; None without scores.

    delta_j = mean over trials whose right option stands at position j of P(right ID) - P_baseline(right ID) on the same
    item, format and order (paper 2, Eq. 7).

    Args:
        part: From `p_right`.
        baseline: The same of the interface to compare with; None for that interface itself.
    """
    if not part.height:
        return None
    counts, _ = np.histogram(part["p_right"].to_numpy(), bins=BINS, range=(0.0, 1.0))
    rows = []
    for place in sorted(part["answer_position"].unique()):
        here = part.filter(pl.col("answer_position") == place)
        rows.append(PositionShift(position=place, mean=_mean(here), shift=_shift(here, baseline)))
    return RightProbability(
        trials=part.height, mean=_mean(part), histogram=tuple(int(n) for n in counts), by_position=rows
    )


def _mean(part: pl.DataFrame) -> Estimate:
    return mean_estimate(part["p_right"].to_numpy(), clusters=part["cluster_code"].to_numpy())


def _shift(part: pl.DataFrame, baseline: pl.DataFrame | None) -> Estimate | None:
    if baseline is None:
        return None
    keys = ["item_code", "variant_code"]
    pairs = part.join(baseline.select(*keys, "p_right"), on=keys, suffix="_b", maintain_order="left")
    if not pairs.height:
        return None
    return paired_difference(
        pairs["p_right"].to_numpy(), pairs["p_right_b"].to_numpy(), clusters=pairs["cluster_code"].to_numpy()
    )
