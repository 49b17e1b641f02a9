"""The format figures of a run in two stages: which trials are fresh, and what they tell.

Knows plans and the analysis frame. Knows no formula: `two_stage` and `recommended` do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from vqaudit.analysis.breakdown import FormatRow, format_rows
from vqaudit.analysis.designs import MainTrials, completeness, trials_of
from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.recommended import recommend
from vqaudit.analysis.schema import BestOrWorst
from vqaudit.analysis.spread import format_table
from vqaudit.analysis.two_stage import CONFIRM_BEST, CONFIRM_WORST, TwoStage, confirmed_spread, fresh_trials

__all__ = ["has_second_stage", "second_stage"]


def has_second_stage(plan: pl.DataFrame, main: MainTrials) -> bool:
    """Whether formats were confirmed through the main interface after a randomised screen."""
    if main.design != "randomised":
        return False
    return all(_rows(plan, main, design).height for design in (CONFIRM_WORST, CONFIRM_BEST))


def second_stage(frame: pl.DataFrame, plan: pl.DataFrame, main: MainTrials) -> tuple[dict[str, Any], str | None]:
    """Returns the figures of formats, `spread` to `recommended`; else why there are none.

    Args:
        frame: The analysis frame.
        plan: From `planned_trials`.
        main: The screen.
    """
    rows = {design: _rows(plan, main, design) for design in (CONFIRM_WORST, CONFIRM_BEST)}
    complaint = completeness(frame, pl.concat(list(rows.values()))).complaint
    if complaint is not None:
        return {}, complaint
    low, high = (fresh_trials(trials_of(frame, rows[design]), main.trials) for design in (CONFIRM_WORST, CONFIRM_BEST))
    spread, worst, best = confirmed_spread(low, high)
    if spread.estimate.value is None:
        return {}, spread.estimate.reason
    by_name = {row.format: row for row in (*format_rows(low), *format_rows(high))}
    both = format_table(pl.concat([low, high]).unique("trial_code", maintain_order=True))
    figures = {
        "spread": spread.estimate,
        "best_format": _with(by_name[spread.best or ""], best),
        "worst_format": _with(by_name[spread.worst or ""], worst),
        "worst_case": worst,
        "two_stage": _two_stage(low, high, main),
        "recommended": recommend(both, whole_grid=False),
    }
    return figures, None


def _rows(plan: pl.DataFrame, main: MainTrials, design: str) -> pl.DataFrame:
    return plan.filter(pl.col("design") == design, pl.col("interface") == main.interface)


def _with(row: FormatRow, accuracy: Estimate) -> BestOrWorst:
    """The format's row with the interval that holds whichever format of its group is the extreme one."""
    shown: dict[str, Any] = dict(row)
    shown["accuracy"] = replace(row.accuracy, low=accuracy.low, high=accuracy.high)
    return BestOrWorst(**shown)


def _two_stage(low: pl.DataFrame, high: pl.DataFrame, main: MainTrials) -> TwoStage:
    fresh = pl.concat([low, high])["trial_code"].n_unique()
    screened, items = main.done.height, max(1, main.done["item_code"].n_unique())
    worst, best = (sorted(str(name) for name in part["format"].unique()) for part in (low, high))
    passes = (screened + fresh) / items
    return TwoStage(
        worst=worst,
        best=best,
        screening_trials=screened,
        confirming_trials=fresh,
        passes=passes,
        sentence=(
            f"{len(worst)} formats that the screen took for the worst and {len(best)} for the best were asked anew: "
            f"{passes:.1f} passes over the items in all; a format that the screen missed can only widen the spread"
        ),
    )
