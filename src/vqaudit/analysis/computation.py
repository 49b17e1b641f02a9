"""What each design cost: prompts, seconds, tokens (paper 1, Tab. 6).

Knows the plan and the columns that engines report. Trials that two designs share count in both.
"""

from __future__ import annotations

import polars as pl

from vqaudit.analysis.designs import trials_of
from vqaudit.analysis.figures import Row

__all__ = ["ComputationRow", "computation"]

_HOUR = 3600


class ComputationRow(Row):
    """One design through one interface; None where the engine did not report it."""

    design: str
    interface: str
    formats: int
    """Formats that were asked; 0 where options are hidden."""
    prompts: int
    """Trials with a record that did not fail: the paper's question-level evaluations."""
    prompts_per_format: float | None
    """Mean over formats; None where options are hidden."""
    seconds_per_prompt: float | None
    hours: float | None
    """Engine time."""
    tokens_computed: int | None
    tokens_reused: int | None


def computation(frame: pl.DataFrame, plan: pl.DataFrame) -> list[ComputationRow]:
    """Returns a row per design and interface, sorted by name.

    Args:
        frame: From `analysis_frame`.
        plan: From `planned_trials`.
    """
    groups = {(str(key[0]), str(key[1])): rows for key, rows in plan.group_by("design", "interface")}
    return [_row(*key, trials_of(frame, groups[key])) for key in sorted(groups)]


def _row(design: str, interface: str, trials: pl.DataFrame) -> ComputationRow:
    done = trials.filter(~pl.col("failed"))
    formats = done["format"].drop_nulls().n_unique()
    timed = done["seconds"].drop_nulls()
    seconds = float(timed.to_numpy().sum()) if timed.len() else None
    return ComputationRow(
        design=design,
        interface=interface,
        formats=formats,
        prompts=done.height,
        prompts_per_format=done.height / formats if formats else None,
        seconds_per_prompt=None if seconds is None else seconds / timed.len(),
        hours=None if seconds is None else seconds / _HOUR,
        tokens_computed=_total(done["tokens_computed"]),
        tokens_reused=_total(done["tokens_reused"]),
    )


def _total(counts: pl.Series) -> int | None:
    known = counts.drop_nulls()
    return int(known.cast(pl.Int64).sum()) if known.len() else None
