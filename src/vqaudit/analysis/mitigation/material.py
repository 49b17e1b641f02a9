"""What methods are computed from: a run's trials in its reference format, its grid, and where a prior comes from.

Knows the plan and the analysis frame. Knows no method.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from vqaudit.analysis.designs import (
    FORMAT_DESIGNS,
    REFERENCE,
    SCRAMBLED,
    MainTrials,
    main_trials,
    planned_trials,
    trials_of,
)
from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.id_scores import with_orders
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables

__all__ = ["SCORE_INTERFACE", "Calibration", "Material", "material_of"]

SCORE_INTERFACE = "direct-scores"
"""Where the main interface kept no scores, the interface that asks the same and scores the IDs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """Where PriDe's prior comes from."""

    share: float = 0.1
    """Of the items of each number of options, in (0, 1); they leave the mean that PriDe reports."""
    seed: int = 0
    """Of the choice of these items."""
    run: RunTables | None = None
    """Another run, whose items all calibrate; the share then has no meaning."""

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise AnalysisError(f"a share of {self.share:g} of the items cannot calibrate: it must lie between 0 and 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """A run as methods see it."""

    tables: RunTables
    frame: pl.DataFrame
    plan: pl.DataFrame
    main: MainTrials

    def of_items(self, names: pl.Series) -> Material:
        """Returns the run as if it had been asked these items alone."""
        plan = self.plan.filter(pl.col("item").is_in(names.to_list()))
        return Material(
            tables=self.tables, frame=self.frame, plan=plan, main=main_trials(self.frame, plan, design=self.main.design)
        )

    @property
    def gold(self) -> pl.DataFrame | None:
        """The trials that tell the grid accuracy, or None."""
        return self.main.done if self.main.design in FORMAT_DESIGNS else None

    def reference(self, interface: str | None = None) -> pl.DataFrame:
        """Returns the trials in the reference format: `in_format` of it, empty where the run names none."""
        return self.in_format(self.tables.manifest.reference_format, interface or self.main.interface)

    def in_format(self, name: str | None, interface: str) -> pl.DataFrame:
        """Returns the trials of a grid or one format in that format, IDs in natural order; `dataset_order` is added.

        Failed trials and trials without a known answer are left out.
        """
        designs = pl.col("design").is_in([REFERENCE, SCRAMBLED, "grid"])
        trials = trials_of(self.frame, self.plan.filter(pl.col("interface") == interface, designs))
        own = pl.lit(False) if name is None else pl.col("format").cast(pl.String) == name
        kept = trials.filter(~pl.col("failed"), own, pl.col("right").is_not_null())
        # a grid has 48 formats, of which one is looked at: lists are joined for it alone
        return with_orders(self.tables, kept).filter(pl.col("natural_ids").fill_null(False))

    def cloze(self) -> pl.DataFrame:
        """Returns the trials that hide the options."""
        rows = self.plan.filter(~pl.col("options_shown"))
        return trials_of(self.frame, rows).filter(~pl.col("failed"), pl.col("right").is_not_null())

    def drawn(self) -> MainTrials | None:
        """Returns the run's own randomised trials through the main interface, or None."""
        rows = self.plan.filter(pl.col("design") == "randomised", pl.col("interface") == self.main.interface)
        return main_trials(self.frame, self.plan, design="randomised") if rows.height else None


def material_of(tables: RunTables, *, frame: pl.DataFrame | None = None) -> Material:
    """Returns a run's material.

    Args:
        tables: From `RunTables.load`.
        frame: Its analysis frame, where it has been made.
    """
    frame = analysis_frame(tables) if frame is None else frame
    plan = planned_trials(tables, frame)
    return Material(tables=tables, frame=frame, plan=plan, main=main_trials(frame, plan))
