"""What a run tells of its formats one by one: their accuracies, worst and best, the spread, and why not.

Knows which design tells which of them. Computes none itself: the modules beside it do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from vqaudit.analysis.breakdown import FormatRow, factor_levels, format_rows
from vqaudit.analysis.coverage import Fault
from vqaudit.analysis.designs import MainTrials
from vqaudit.analysis.draw_table import draw_table
from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import known_or_why
from vqaudit.analysis.recommended import recommend
from vqaudit.analysis.schema import BestOrWorst
from vqaudit.analysis.spread import FormatTable, Spread, format_spread, format_table
from vqaudit.analysis.stages import has_second_stage, second_stage
from vqaudit.analysis.two_stage import PASSES, extreme_accuracy

__all__ = ["format_figures"]


def format_figures(
    frame: pl.DataFrame,
    plan: pl.DataFrame,
    main: MainTrials,
    *,
    faults: Sequence[Fault],
    seed: int,
    reasons: dict[str, str],
) -> dict[str, Any]:
    """Returns the figures of a summary that tell formats apart.

    Args:
        frame: The analysis frame.
        plan: Planned trials.
        main: Those behind the headline.
        faults: Measurement faults, whose formats `spread_without_faults` leaves out.
        seed: Of the split of items behind the spread.
        reasons: Gets why a figure is None.
    """
    done, complaint = main.done, main.completeness.complaint
    keys = ("spread", "spread_without_faults", "best_format", "worst_format", "worst_case", "recommended")
    found: dict[str, Any] = dict.fromkeys(keys)
    drawn = main.design == "randomised"
    factors = factor_levels(
        done,
        drawn=draw_table(main) if drawn else None,
        covered=draw_table(main, "covered") if drawn else None,
    )
    reasons["two_stage"] = "no formats were confirmed after a screen: --design two-stage does so"
    if has_second_stage(plan, main):
        return found | _second_stage(frame, plan, main, reasons) | {"formats": None, "factors": factors}
    if main.design != "grid":
        reasons.update(dict.fromkeys((*found, "formats"), _why_no_cells(main)))
        return {**found, "formats": None, "factors": factors}
    rows = format_rows(done)
    if complaint is not None:
        reasons.update(dict.fromkeys(found, complaint))
    else:
        faulty = {name for fault in faults for name in fault.formats}
        found |= _spreads(format_table(done), rows, faulty, seed=seed, reasons=reasons)
    return {**found, "formats": rows, "factors": factors}


def _second_stage(frame: pl.DataFrame, plan: pl.DataFrame, main: MainTrials, reasons: dict[str, str]) -> dict[str, Any]:
    figures, why = second_stage(frame, plan, main)
    confirmed = "only formats that the screen pointed to were asked anew; all cells need the grid"
    reasons.update({"formats": confirmed, "spread_without_faults": confirmed})
    if why is not None:
        lacking = ("spread", "best_format", "worst_format", "worst_case", "recommended", "two_stage")
        reasons.update(dict.fromkeys(lacking, why))
    else:
        del reasons["two_stage"]
    return figures


def _spreads(
    table: FormatTable, rows: list[FormatRow], faulty: Collection[str], *, seed: int, reasons: dict[str, str]
) -> dict[str, Any]:
    spread = format_spread(table, seed=seed)
    clean = Estimate.unknown("no format has a measurement fault: see spread")
    if faulty:
        clean = format_spread(table.without(faulty), seed=seed).estimate
    why = spread.estimate.reason or "no data"
    if spread.best is None:
        reasons.update(dict.fromkeys(("best_format", "worst_format"), why))
    worst = Estimate.unknown(why) if spread.worst is None else extreme_accuracy(table, largest=False)
    figures = known_or_why({"spread": spread.estimate, "spread_without_faults": clean, "worst_case": worst}, reasons)
    recommended = recommend(table, whole_grid=True)
    if recommended is None:
        reasons["recommended"] = "fewer than two formats have an accuracy"
    return {**figures, **_extremes(rows, spread), "recommended": recommended}


def _why_no_cells(main: MainTrials) -> str:
    if main.design == "randomised":
        drawn = "one format" if main.draws == 1 else f"{main.draws} formats"
        return (
            f"the worst format and the spread need about {PASSES} passes (--design two-stage) or the grid; this run "
            f"drew {drawn} per item"
        )
    return f"the worst format and the spread need the grid; this run holds {main.design} trials only"


def _extremes(rows: list[FormatRow], spread: Spread) -> dict[str, BestOrWorst | None]:
    by_name = {row.format: BestOrWorst(**dict(row)) for row in rows}
    return {"best_format": by_name.get(spread.best or ""), "worst_format": by_name.get(spread.worst or "")}
