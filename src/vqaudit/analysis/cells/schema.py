"""What `vqaudit grid --json` holds: `_pct` is per cent, `_pp` percentage points, shares are in [0, 1].

Knows the rows of the modules beside it. Computes nothing.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field

from vqaudit.analysis.cells.effects import Effect, Fit
from vqaudit.analysis.cells.methods import MethodRow
from vqaudit.analysis.cells.printed import PrintedRow
from vqaudit.analysis.cells.ranks import Disagreement, Leaders
from vqaudit.analysis.cells.recommendation import Recommendation
from vqaudit.analysis.cells.squares import Term
from vqaudit.analysis.figures import Row

__all__ = ["CellCounts", "CoverageNeutral", "GridFindings"]

ByModel = dict[str, dict[str, float | None]]
"""Data set -> model -> figure."""
Ranges = dict[str, dict[str, tuple[float, float] | None]]
"""Factor -> model -> the least and the largest over levels and data sets."""
ByLevel = dict[str, dict[str, dict[str, dict[str, float | None]]]]
"""Factor -> model -> data set -> level -> figure; null where no cell has the level."""
Effects = dict[str, Effect]
"""Level -> effect."""


class CellCounts(Row):
    """How many cells of the full cross are there."""

    expected: int
    present: int
    missing: int
    zero_coverage: int | None
    """Cells in which no reply was an ID; None without coverage."""


class CoverageNeutral(Row):
    """What coverage-neutral figures leave out."""

    min_coverage: float
    """In [0, 1]."""
    kept: int
    dropped: int


class GridFindings(Row):
    """What a table of cells says. A key that is None has its reason in `reasons`."""

    source: str
    datasets: list[str]
    models: list[str]
    factors: dict[str, list[str]]
    cells: CellCounts
    warnings: list[str] = Field(default_factory=list)
    findings: list[str] = Field(default_factory=list)
    reasons: dict[str, str] = Field(default_factory=dict)
    seed: int
    """Of the resamples of data sets."""
    pseudo_gold_accuracy_pct: ByModel
    pseudo_gold_rank: dict[str, dict[str, int]]
    """Competition ranks: models that tie share the better one."""
    pseudo_gold_average_rank: dict[str, dict[str, float]]
    formats_in_common: dict[str, int]
    """Data set -> formats that all its models have: those behind pseudo-gold and ranks."""
    spread_pp: ByModel
    """Best minus worst format accuracy."""
    accuracy_deviation_range_pp: Ranges
    accuracy_deviation_pp: ByLevel
    coverage_pct: ByLevel | None
    coverage_range_pct: dict[str, tuple[float, float] | None] | None
    """Model -> least and largest coverage of its cells."""
    coverage_neutral: CoverageNeutral | None
    coverage_neutral_deviation_range_pp: Ranges | None
    coverage_neutral_deviation_pp: ByLevel | None
    baseline: dict[str, str]
    """Factor -> the level that effects are told against."""
    lmm: Effects | None
    lmm_group_var: float | None
    lmm_residual_var: float | None
    lmm_fit: Fit | None
    model_clustered: Effects | None
    """Mean effect over models; t interval whose units are the models."""
    leave_one_model_out: dict[str, Effects] | None
    """Model -> the mixed model's effects without it."""
    lmm_without_zero_coverage_cells: Effects | None
    lmm_without_zero_coverage_models: Effects | None
    zero_coverage_models: list[str]
    """Models that have a cell of zero coverage."""
    sum_of_squares: list[Term] | None
    rank_counts: dict[str, dict[str, list[int]]]
    """Data set -> model -> formats in which it has rank 1, 2, ..."""
    rank_range: dict[str, dict[str, tuple[int, int]]]
    most_different_formats: dict[str, Disagreement]
    leaders: dict[str, Leaders]
    recommended_format: Recommendation | None
    methods: dict[str, dict[str, MethodRow]] | None
    """Data set -> method."""
    spearman_from_printed_accuracies: dict[str, dict[str, float | None]] | None
    """Data set -> method -> Spearman with average ranks."""
    correctly_ranked_competition_ranks: dict[str, dict[str, int]] | None
    printed_differences: list[PrintedRow] | None = None
    """Printed values that differ from ours; None where none were given."""

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON values."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """Returns JSON without NaN."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
