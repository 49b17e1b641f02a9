"""Which trials a figure is taken over: by design and interface, and whether enough of them came back.

Knows the plan and the analysis frame. Knows no formula.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from vqaudit.analysis.frame import hidden_interfaces
from vqaudit.errors import AnalysisError
from vqaudit.records import RunOutline

__all__ = [
    "FORMAT_DESIGNS",
    "IMPORTED",
    "MOST_LOST",
    "REFERENCE",
    "SCRAMBLED",
    "Completeness",
    "MainTrials",
    "completeness",
    "main_interface",
    "main_trials",
    "planned_trials",
    "trials_of",
]

FORMAT_DESIGNS = ("grid", "randomised")
"""Designs that estimate the grid accuracy; the first that a run has gives its headline."""
REFERENCE = "reference"
SCRAMBLED = "scrambled-ids"
"""The reference format with natural IDs and, once more, with IDs in another order."""
IMPORTED = "imported"
"""The design of trials that no plan asked for."""
MOST_LOST = 0.01
"""Share of failed or missing trials above which there is no headline."""
_PREFERRED = "direct"


@dataclass(frozen=True, kw_only=True, slots=True)
class Completeness:
    """How much of what was planned came back."""

    planned: int
    failed: int
    """Asked, but engine or network failed; out of every denominator."""
    missing: int
    """Planned, no record."""

    @property
    def done(self) -> int:
        """Trials with a record that did not fail."""
        return self.planned - self.failed - self.missing

    @property
    def lost(self) -> float:
        """Share of planned trials that failed or are missing, in [0, 1]."""
        return (self.failed + self.missing) / self.planned if self.planned else 0.0

    @property
    def complaint(self) -> str | None:
        """Why there is no headline, or None where enough came back."""
        if self.lost <= MOST_LOST:
            return None
        return (
            f"{self.failed} of {self.planned} planned trials failed and {self.missing} are missing, more than "
            f"{100 * MOST_LOST:.0f} %: run the same command again to resume"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class MainTrials:
    """The trials of one design through its main interface."""

    design: str
    interface: str
    trials: pl.DataFrame
    """Rows of the analysis frame, failed ones included."""
    completeness: Completeness
    draws: int
    """Draws per item of a randomised design; 1 otherwise."""
    rows: pl.DataFrame
    """What the plan asked for: one row per trial and draw, with `trial_code` and `draw`."""

    @property
    def done(self) -> pl.DataFrame:
        """The trials that did not fail: the denominators."""
        # a filter copies, and a run can have millions of trials
        return self.trials.filter(~pl.col("failed")) if self.completeness.failed else self.trials


def main_trials(frame: pl.DataFrame, plan: pl.DataFrame, *, design: str | None = None) -> MainTrials:
    """Returns the trials that a run's figures are taken over.

    Args:
        frame: From `analysis_frame`.
        plan: From `planned_trials`.
        design: Which design; where None, the first that the run has of grid, randomised, reference, imported.

    Raises:
        AnalysisError: The run has no such design, or nothing planned at all.
    """
    # a cloze has neither format nor order, so that no design of them is its own
    shown = plan.filter("options_shown")
    plan = shown if shown.height else plan
    planned = set(plan["design"].unique())
    if not planned:
        raise AnalysisError("the run has neither a plan nor trials; there is nothing to sum up")
    known = [*FORMAT_DESIGNS, REFERENCE, IMPORTED, *sorted(planned)]
    chosen = design if design is not None else next(name for name in known if name in planned)
    interface = main_interface(plan, chosen)
    rows = plan.filter(pl.col("design") == chosen, pl.col("interface") == interface)
    return MainTrials(
        design=chosen,
        interface=interface,
        trials=trials_of(frame, rows),
        completeness=completeness(frame, rows),
        draws=rows["draw"].n_unique(),
        rows=rows,
    )


def planned_trials(outline: RunOutline, frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the plan with what a frame knows of it; without a plan (an imported run), its trials as one design.

    Columns besides those of the plan: `trial_code` (row of the frame; null where there is no record) and
    `options_shown`.
    """
    plan = outline.plan
    if not plan.height:
        item, draw = outline.items["item"][frame["item_code"]], pl.lit(0, dtype=pl.Int32).alias("draw")
        interface, design = pl.col("interface").cast(pl.String), pl.lit(IMPORTED).alias("design")
        plan = frame.select("trial", item, design, draw, interface).sort("trial")
    shown = ~pl.col("interface").is_in(sorted(hidden_interfaces(outline.manifest, frame)))
    found = frame.select("trial", "trial_code")
    return plan.with_columns(options_shown=shown).join(found, on="trial", how="left", maintain_order="left")


def trials_of(frame: pl.DataFrame, plan: pl.DataFrame) -> pl.DataFrame:
    """Returns the trials that these rows of a plan asked for and that have a record, each once."""
    wanted = np.zeros(frame.height, dtype=bool)
    wanted[plan["trial_code"].drop_nulls().to_numpy()] = True
    return frame if wanted.all() else frame.filter(wanted)


def completeness(frame: pl.DataFrame, plan: pl.DataFrame) -> Completeness:
    """Counts what came back of these planned trials; a trial that two designs share counts once."""
    recorded = plan["trial_code"].drop_nulls().unique()
    missing = plan.filter(pl.col("trial_code").is_null())["trial"].n_unique()
    failed = int(frame["failed"].gather(recorded).sum())
    return Completeness(planned=recorded.len() + missing, failed=failed, missing=missing)


def main_interface(plan: pl.DataFrame, design: str) -> str:
    """Returns the interface whose trials make a design's accuracy.

    `direct` where the design was run with it; else the one with most trials, the first by name of those that tie.

    Raises:
        AnalysisError: The design was not run.
    """
    asked = plan.filter(pl.col("design") == design)
    names = asked["interface"].unique().to_list()
    if not names:
        raise AnalysisError(f"the run has no trials of design {design!r}")
    if _PREFERRED in names:
        return _PREFERRED
    counts = dict(asked.group_by("interface").len().iter_rows())
    return min(names, key=lambda name: (-counts[name], name))
