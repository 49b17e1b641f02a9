"""What the whole vocabulary says at the place where IDs are scored: paper 2, Eq. 8 and Table 3.

Knows masses and ranks of the records. Renormalises nothing.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.figures import Figure, Row, known
from vqaudit.analysis.grouped import trial_mean
from vqaudit.analysis.id_scores import id_ranks
from vqaudit.analysis.intervals import Floats
from vqaudit.records import RunTables

__all__ = ["MeanRank", "VocabularyRow", "vocabulary_row"]

RESAMPLES = 1000
"""A bound at 2.5 % then rests on 25 resamples."""


class MeanRank(Row):
    """Rank of the right ID's most probable token in the whole vocabulary; 1 = the most probable of all."""

    mean: float
    low: float | None
    """95 % percentile interval over resampled clusters of items; None below two."""
    high: float | None
    median: float
    n: int
    """Independent items."""
    trials: int


class VocabularyRow(Row):
    """One interface."""

    id_mass: Figure | None
    """M_A: mean probability that the next token is any shown ID."""
    watch_mass: Figure | None
    """M_R: mean probability of the watched words' first tokens; None where none were watched."""
    rank: MeanRank | None
    """None where ranks are not known: IDs of several tokens, or an engine that lists only a few tokens."""


def vocabulary_row(tables: RunTables, part: pl.DataFrame, *, seed: int) -> VocabularyRow | None:
    """Returns what is known of one interface's next token; None where nothing is.

    Args:
        tables: The run.
        part: Its trials.
        seed: Of the resampling of clusters.
    """
    done = part.filter(~pl.col("failed")).with_columns(pl.col("id_mass", "watch_mass").fill_nan(None).clip(0, 1))
    row = VocabularyRow(
        id_mass=known(trial_mean(done, "id_mass")),
        watch_mass=known(trial_mean(done, "watch_mass")),
        rank=_rank(tables, done, seed),
    )
    return None if row.id_mass is None and row.rank is None else row


def _rank(tables: RunTables, part: pl.DataFrame, seed: int) -> MeanRank | None:
    placed = part.filter(pl.col("answer_position").is_not_null())
    if not placed.height:
        return None
    ranks = id_ranks(tables, placed)[np.arange(placed.height), placed["answer_position"].to_numpy()]
    told = np.isfinite(ranks)
    if not told.any():
        return None
    low, high, clusters = _bounds(ranks[told], placed["cluster_code"].to_numpy()[told], seed)
    return MeanRank(
        mean=float(ranks[told].mean()),
        low=low,
        high=high,
        median=float(np.median(ranks[told])),
        n=clusters,
        trials=int(told.sum()),
    )


def _bounds(values: Floats, clusters: NDArray[np.uint32], seed: int) -> tuple[float | None, float | None, int]:
    codes = np.unique(clusters, return_inverse=True)[1]
    count = int(codes.max()) + 1
    if count < 2:
        return None, None, count
    sums, sizes = np.bincount(codes, values, count), np.bincount(codes, minlength=count)
    drawn = np.random.default_rng([seed, count]).integers(count, size=(RESAMPLES, count))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high), count
