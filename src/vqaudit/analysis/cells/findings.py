"""Joins the analyses of a table of cells into findings. What the table cannot give is None, with its reason.

Knows the modules beside it. Computes nothing of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from vqaudit.analysis.cells.accuracy import common_formats, present_models, pseudo_gold, spread
from vqaudit.analysis.cells.agreement import average_ranks, competition_ranks
from vqaudit.analysis.cells.deviations import MIN_COVERAGE, covered, level_deviations, level_means, value_range
from vqaudit.analysis.cells.effects import (
    clustered_effects,
    leave_one_model_out,
    mixed_model,
    without_models,
    without_zero_coverage,
    zero_coverage_models,
)
from vqaudit.analysis.cells.methods import MethodTable, method_rows
from vqaudit.analysis.cells.printed import (
    PrintedValue,
    compare_printed,
    is_paper1,
    paper1_printed,
    printed_in_methods,
)
from vqaudit.analysis.cells.ranks import leaders, most_different_formats, rank_counts, rank_range
from vqaudit.analysis.cells.recommendation import recommended_format
from vqaudit.analysis.cells.regression import baseline_of
from vqaudit.analysis.cells.remarks import findings_of, warnings_of
from vqaudit.analysis.cells.schema import CellCounts, CoverageNeutral, GridFindings
from vqaudit.analysis.cells.squares import sum_of_squares
from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = ["GridSpec", "analyse_cells"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class GridSpec:
    """How a table of cells is analysed.

    Example:
        >>> GridSpec(baseline={"delimiter": "dot"}).min_coverage
        0.75
    """

    baseline: Mapping[str, str] = field(default_factory=dict)
    """Factor -> level that effects are told against; where none is given, as `baseline_of` says."""
    min_coverage: float = MIN_COVERAGE
    """In [0, 1]: cells below are left out of coverage-neutral figures."""
    seed: int = 0
    """Of the resamples of data sets."""


def analyse_cells(
    table: CellTable,
    methods: MethodTable | None = None,
    *,
    printed: Sequence[PrintedValue] = (),
    spec: GridSpec | None = None,
) -> GridFindings:
    """Returns every analysis of paper 1 that needs accuracies by format alone.

    Args:
        table: From `read_cells`.
        methods: From `read_methods`.
        printed: Values to compare with the findings; those that paper 1 prints are added for its own cells.
        spec: Baseline levels, least coverage, seed.

    Raises:
        AnalysisError: A baseline that is not in the table, or a least coverage outside [0, 1].

    Example:
        >>> table = CellTable(
        ...     source="own.csv",
        ...     datasets=("d",),
        ...     models=("m", "n"),
        ...     factors={"delimiter": ("dot", "colon")},
        ...     formats=(("dot",), ("colon",)),
        ...     accuracy=np.array([[[0.5, 0.7], [0.4, 0.9]]]),
        ...     coverage=None,
        ... )
        >>> found = analyse_cells(table)
        >>> found.pseudo_gold_rank, found.coverage_pct, found.reasons["coverage_pct"]
        ({'d': {'m': 2, 'n': 1}}, None, 'own.csv has no column for coverage')
    """
    spec = spec or GridSpec()
    if not 0 <= spec.min_coverage <= 1:
        raise AnalysisError(f"the least coverage is a share in [0, 1], not {spec.min_coverage!r}")
    parts = _Parts(table, spec)
    found: dict[str, Any] = {
        **parts.what(),
        **parts.accuracies(),
        **parts.levels(),
        **parts.effects(),
        **parts.rankings(),
        **parts.methods(methods),
    }
    found["warnings"] = warnings_of(table, methods, baseline=parts.baseline, coverage_neutral=found["coverage_neutral"])
    findings = GridFindings(**found, reasons=parts.reasons)
    findings = findings.model_copy(update={"findings": findings_of(findings)})
    return _against_printed(findings, table, methods, printed)


def _against_printed(
    findings: GridFindings, table: CellTable, methods: MethodTable | None, printed: Sequence[PrintedValue]
) -> GridFindings:
    values = [
        *printed,
        *(paper1_printed() if is_paper1(table) else ()),
        *(() if methods is None else printed_in_methods(methods)),
    ]
    if not values:
        return findings
    return findings.model_copy(update={"printed_differences": compare_printed(findings.to_dict(), values)})


class _Parts:
    """The parts of the findings, and why some are not there."""

    def __init__(self, table: CellTable, spec: GridSpec) -> None:
        self.table = table
        self.spec = spec
        self.reasons: dict[str, str] = {}
        self.baseline = baseline_of(table, spec.baseline)
        self.gold = pseudo_gold(table)

    def told(self, key: str, tell: Callable[[], T]) -> T | None:
        """Returns what a function tells, or keeps the reason why it cannot."""
        try:
            return tell()
        except AnalysisError as error:
            self.reasons[key] = str(error)
            return None

    def by_dataset(self, key: str, tell: Callable[[CellTable, int], T]) -> dict[str, T]:
        """Returns what a function tells of each data set; reasons stand under `key/data set`."""
        found = {}
        for place, name in enumerate(self.table.datasets):
            part = self.told(f"{key}/{name}", lambda place=place: tell(self.table, place))
            if part is not None:
                found[name] = part
        return found

    def what(self) -> dict[str, Any]:
        """What the table holds."""
        table = self.table
        zero = None if table.coverage is None else int(((table.coverage == 0) & table.present).sum())
        counts = CellCounts(
            expected=table.expected, present=table.cells, missing=table.expected - table.cells, zero_coverage=zero
        )
        return {
            "source": table.source,
            "datasets": list(table.datasets),
            "models": list(table.models),
            "factors": {name: list(levels) for name, levels in table.factors.items()},
            "cells": counts,
            "seed": self.spec.seed,
            "baseline": self.baseline,
        }

    def accuracies(self) -> dict[str, Any]:
        """Pseudo-gold, its ranks, and spreads."""
        table = self.table
        ranks, averages = {}, {}
        for place, name in enumerate(table.datasets):
            models = [model for model in present_models(table, place) if not np.isnan(self.gold[place, model])]
            if not models:
                self.reasons[f"pseudo_gold_accuracy_pct/{name}"] = f"the models of {name} have no format in common"
                continue
            names, values = [table.models[model] for model in models], self.gold[place, models]
            ranks[name] = dict(zip(names, competition_ranks(values).tolist(), strict=True))
            averages[name] = dict(zip(names, average_ranks(values).tolist(), strict=True))
        return {
            "pseudo_gold_accuracy_pct": self._by_model(100 * self.gold),
            "pseudo_gold_rank": ranks,
            "pseudo_gold_average_rank": averages,
            "formats_in_common": {
                name: int(common_formats(table, place).sum()) for place, name in enumerate(table.datasets)
            },
            "spread_pp": self._by_model(100 * spread(table)),
        }

    def levels(self) -> dict[str, Any]:
        """Deviations, coverage, and coverage-neutral deviations by factor level."""
        table = self.table
        neutral = self.told("coverage_neutral", lambda: covered(table, self.spec.min_coverage))
        found: dict[str, Any] = {
            **self._deviations(table, "accuracy"),
            **self._coverage(),
            "coverage_neutral": None,
            "coverage_neutral_deviation_range_pp": None,
            "coverage_neutral_deviation_pp": None,
        }
        if neutral is not None:
            found["coverage_neutral"] = CoverageNeutral(
                min_coverage=self.spec.min_coverage, kept=neutral.cells, dropped=table.cells - neutral.cells
            )
            found |= self._deviations(neutral, "coverage_neutral")
        return found

    def _deviations(self, table: CellTable, start: str) -> dict[str, Any]:
        by_factor = {factor: 100 * level_deviations(table, factor) for factor in table.factors}
        return {
            f"{start}_deviation_range_pp": {
                factor: {name: value_range(values[:, place]) for place, name in enumerate(table.models)}
                for factor, values in by_factor.items()
            },
            f"{start}_deviation_pp": {factor: self._by_level(values, factor) for factor, values in by_factor.items()},
        }

    def _coverage(self) -> dict[str, Any]:
        table, coverage = self.table, self.table.coverage
        if coverage is None:
            self.reasons["coverage_pct"] = f"{table.source} has no column for coverage"
            return {"coverage_pct": None, "coverage_range_pct": None}
        means = {factor: 100 * level_means(coverage, table, factor) for factor in table.factors}
        return {
            "coverage_pct": {factor: self._by_level(values, factor) for factor, values in means.items()},
            "coverage_range_pct": {
                name: value_range(100 * coverage[:, place]) for place, name in enumerate(table.models)
            },
        }

    def effects(self) -> dict[str, Any]:
        """The mixed model and what stands beside it."""
        table, baseline = self.table, self.baseline
        fitted = self.told("lmm", lambda: mixed_model(table, baseline))
        zero = zero_coverage_models(table)
        return {
            "lmm": None if fitted is None else fitted.effects,
            "lmm_group_var": None if fitted is None else fitted.group_variance,
            "lmm_residual_var": None if fitted is None else fitted.residual_variance,
            "lmm_fit": None if fitted is None else fitted.fit,
            "model_clustered": self.told("model_clustered", lambda: clustered_effects(table, baseline)),
            "leave_one_model_out": self.told("leave_one_model_out", lambda: leave_one_model_out(table, baseline)),
            "lmm_without_zero_coverage_cells": self.told(
                "lmm_without_zero_coverage_cells",
                lambda: mixed_model(without_zero_coverage(table), baseline).effects,
            ),
            "lmm_without_zero_coverage_models": self.told(
                "lmm_without_zero_coverage_models",
                lambda: mixed_model(_without_zero_coverage_models(table, zero), baseline).effects,
            ),
            "zero_coverage_models": zero,
            "sum_of_squares": self.told("sum_of_squares", lambda: sum_of_squares(table)),
        }

    def rankings(self) -> dict[str, Any]:
        """Ranks by format, leaders, disagreement, and the recommended format."""
        counts = self.by_dataset("rank_counts", rank_counts)
        best = self.told("recommended_format", lambda: recommended_format(self.table, self.gold, seed=self.spec.seed))
        if best is not None and best.chosen_share is None:
            for key in ("held_out_spearman", "chosen_share"):
                self.reasons[f"recommended_format/{key}"] = "one data set ranks models: there is none to hold out"
        return {
            "rank_counts": counts,
            "rank_range": {
                dataset: {model: rank_range(row) for model, row in by_model.items()}
                for dataset, by_model in counts.items()
            },
            "most_different_formats": self.by_dataset("most_different_formats", most_different_formats),
            "leaders": self.by_dataset("leaders", leaders),
            "recommended_format": best,
        }

    def methods(self, methods: MethodTable | None) -> dict[str, Any]:
        """Mitigation methods against pseudo-gold."""
        keys = ("methods", "spearman_from_printed_accuracies", "correctly_ranked_competition_ranks")
        if methods is None:
            self.reasons["methods"] = "no table of methods was given"
            return dict.fromkeys(keys)
        gold = {
            dataset: {m: v for m, v in zip(self.table.models, row.tolist(), strict=True) if not np.isnan(v)}
            for dataset, row in zip(self.table.datasets, self.gold, strict=True)
        }
        rows = method_rows(methods, gold)
        if not rows:
            self.reasons["methods"] = f"{methods.source} and {self.table.source} have no data set and model in common"
            return dict.fromkeys(keys)
        spearman = {d: {name: row.spearman for name, row in found.items()} for d, found in rows.items()}
        right = {d: {name: row.correctly_ranked for name, row in found.items()} for d, found in rows.items()}
        return dict(zip(keys, (rows, spearman, right), strict=True))

    def _by_model(self, values: Floats) -> dict[str, dict[str, float | None]]:
        return {
            dataset: dict(zip(self.table.models, _known(row), strict=True))
            for dataset, row in zip(self.table.datasets, values, strict=True)
        }

    def _by_level(self, values: Floats, factor: str) -> dict[str, dict[str, dict[str, float | None]]]:
        levels = self.table.factors[factor]
        return {
            model: {
                dataset: dict(zip(levels, _known(values[d, m]), strict=True))
                for d, dataset in enumerate(self.table.datasets)
            }
            for m, model in enumerate(self.table.models)
        }


def _known(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _without_zero_coverage_models(table: CellTable, names: list[str]) -> CellTable:
    if table.coverage is None:
        raise AnalysisError(f"{table.source} has no column for coverage")
    if not names:
        raise AnalysisError("no model has a cell of zero coverage: the mixed model stands as it is")
    return without_models(table, names)
