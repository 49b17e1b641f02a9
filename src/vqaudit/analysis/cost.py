"""What a run cost: trials, seconds, tokens.

Knows the columns that engines report. Knows no money.
"""

from __future__ import annotations

import polars as pl

from vqaudit.analysis.figures import Row
from vqaudit.records import RunTables

__all__ = ["Cost", "InterfaceCost", "cost"]


class InterfaceCost(Row):
    """The cost of one interface; None where the engine did not report it."""

    trials: int
    """Visible records that did not fail."""
    seconds: float | None
    """Engine seconds of these trials, each trial's share of its batch."""
    seconds_per_trial: float | None
    tokens_computed: int | None
    """Tokens that went through the model."""
    tokens_reused: int | None
    """Tokens taken from a shared prefix instead."""
    reused_share: float | None
    """Reused over reused and computed, in [0, 1]."""


class Cost(InterfaceCost):
    """The cost of the run."""

    attempts: int
    """Records on disk: superseded and failed attempts included, which the other counts leave out."""
    wall_seconds: float | None
    """Wall-clock time of all sessions, loading included."""
    by_interface: dict[str, InterfaceCost]


def cost(tables: RunTables, frame: pl.DataFrame) -> Cost:
    """Returns the cost of the visible trials, in all and by interface."""
    done = frame.filter(~pl.col("failed"))
    groups = {str(key[0]): part for key, part in done.group_by("interface", maintain_order=True)}
    return Cost(
        **_cost(done).model_dump(),
        attempts=tables.attempts,
        wall_seconds=tables.manifest.seconds,
        by_interface={name: _cost(groups[name]) for name in sorted(groups)},
    )


def _cost(trials: pl.DataFrame) -> InterfaceCost:
    timed = trials["seconds"].drop_nulls()
    # numpy sums in a fixed order; the threads of a data frame do not
    seconds = float(timed.to_numpy().sum()) if timed.len() else None
    computed, reused = _total(trials["tokens_computed"]), _total(trials["tokens_reused"])
    both = (computed or 0) + (reused or 0)
    return InterfaceCost(
        trials=trials.height,
        seconds=seconds,
        seconds_per_trial=None if seconds is None else seconds / timed.len(),
        tokens_computed=computed,
        tokens_reused=reused,
        reused_share=reused / both if reused is not None and both else None,
    )


def _total(counts: pl.Series) -> int | None:
    known = counts.drop_nulls()
    return int(known.cast(pl.Int64).sum()) if known.len() else None
