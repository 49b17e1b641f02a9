"""Remedies across runs: whether a method ranks models as the grid does (paper 1, Tab. 7 and Fig. 8).

Knows several runs over the same items. The agreement of rankings is that of `cells`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from vqaudit.analysis.accuracy import grid_accuracy
from vqaudit.analysis.cells.agreement import competition_ranks, spearman
from vqaudit.analysis.cells.methods import MethodRow, MethodTable, method_rows
from vqaudit.analysis.figures import Row
from vqaudit.analysis.intervals import Floats
from vqaudit.analysis.mitigation.material import Calibration, Material
from vqaudit.analysis.mitigation.methods import METHODS, apply_methods
from vqaudit.analysis.mitigation.redraw import GridValues, draw_again, grid_values
from vqaudit.errors import AnalysisError

__all__ = ["MitigationTable", "RedrawRow", "mitigations_across"]

REDRAWS = 500


class RedrawRow(Row):
    """One random pass per model, drawn again and again from the grids: what ranking it gives on average."""

    draws: int
    seed: int
    passes: int
    """Prompts of one draw, per model."""
    spearman: float | None
    """Mean, average ranks at ties; None where all models tie."""
    spearman_p5: float | None
    """Its 5 % quantile over draws."""
    correctly_ranked: float
    """Mean number of models whose competition rank is the grid's."""
    mean_error_pp: float
    """Mean distance of accuracies from the grid's, in percentage points."""


class MitigationTable(Row):
    """Methods across runs."""

    items: int
    gold_pct: dict[str, float]
    """Run -> grid accuracy on the common items, in per cent."""
    gold_rank: dict[str, int]
    gold_passes: int
    methods: dict[str, MethodRow]
    """Method -> accuracies, ranks, Spearman with the grid's ranking, models ranked right: those that apply to all
    runs."""
    passes: dict[str, int]
    """Method -> prompts per model (the most that any run needed)."""
    not_applicable: dict[str, str]
    """Method -> why it does not apply to some run."""
    redraws: RedrawRow | None
    """None where some run has no grid."""


def mitigations_across(
    runs: Mapping[str, Material],
    items: pl.Series,
    *,
    calibration: Calibration | Mapping[str, Calibration] | None = None,
    seed: int = 0,
) -> MitigationTable:
    """Applies every method to every run and ranks the runs by each.

    Args:
        runs: Name -> material.
        items: IDs of the items that all of them hold alike.
        calibration: Where PriDe's priors come from: a share of the items, or by run's name another run of its model,
            since a run of one model cannot serve several.
        seed: Of the redraws.

    Raises:
        AnalysisError: Fewer than two runs, or a run that does not tell its grid accuracy.
    """
    for name, material in runs.items():
        if material.gold is None:
            raise AnalysisError(f"{name} does not tell its grid accuracy, which methods are held against")
    parts = {name: material.of_items(items) for name, material in runs.items()}
    gold = _gold(parts)
    priors = calibration if isinstance(calibration, Mapping) else dict.fromkeys(parts, calibration or Calibration())
    found = {name: apply_methods(part, priors.get(name, Calibration())) for name, part in parts.items()}
    common = [method for method in METHODS if all(method in applied for applied, _ in found.values())]
    accuracies = {
        method: {name: float(applied[method].accuracy.value or 0.0) for name, (applied, _) in found.items()}
        for method in common
    }
    table = MethodTable(source="runs", methods=tuple(common), accuracy={"items": accuracies}, printed_rank={})
    ranks = competition_ranks(list(gold.values()))
    return MitigationTable(
        items=items.len(),
        gold_pct={name: 100 * value for name, value in gold.items()},
        gold_rank={name: int(rank) for name, rank in zip(gold, ranks, strict=True)},
        gold_passes=max(part.main.completeness.done for part in parts.values()),
        methods=method_rows(table, {"items": gold}).get("items", {}),
        passes={method: max(applied[method].passes for applied, _ in found.values()) for method in common},
        not_applicable=_missing(found),
        redraws=_redraws(parts, items, list(gold.values()), seed),
    )


def _gold(parts: Mapping[str, Material]) -> dict[str, float]:
    if len(parts) < 2:
        raise AnalysisError("methods rank models: that needs at least two runs")
    found = {}
    for name, part in parts.items():
        value = None if part.gold is None else grid_accuracy(part.gold).value
        if value is None:
            raise AnalysisError(f"{name} has no trial with a known answer on the common items")
        found[name] = value
    return found


def _missing(found: Mapping[str, tuple[dict, dict[str, str]]]) -> dict[str, str]:
    reasons = {}
    for method in METHODS:
        lacking = {name: missing[method] for name, (_, missing) in found.items() if method in missing}
        if len(lacking) == len(found):
            reasons[method] = next(iter(lacking.values()))
        elif lacking:
            name, reason = next(iter(lacking.items()))
            reasons[method] = f"{name}: {reason}"
    return reasons


def _redraws(parts: Mapping[str, Material], items: pl.Series, gold: list[float], seed: int) -> RedrawRow | None:
    if any(part.main.design != "grid" for part in parts.values()):
        return None
    grids = [grid_values(part.main.done) for part in parts.values()]
    rows = [_rows(part, grid, items) for part, grid in zip(parts.values(), grids, strict=True)]
    first = _take(grids[0], rows[0])
    if any(grid.formats != first.formats for grid in grids):
        return None
    formats, orders = draw_again(first, draws=REDRAWS, generator=np.random.default_rng(seed))
    places = np.arange(first.items.size)
    drawn = [grid.values[row][places, formats, orders] for grid, row in zip(grids, rows, strict=True)]
    means = np.stack([_means(values) for values in drawn], axis=1)
    told = np.isfinite(means).all(axis=1)
    return _summed(means[told], np.array(gold), seed, first.items.size) if told.any() else None


def _means(values: Floats) -> Floats:
    """Means of rows over what is there; NaN where a grid with holes left nothing."""
    known = np.isfinite(values)
    counts = known.sum(axis=1)
    return np.where(counts > 0, np.where(known, values, 0.0).sum(axis=1) / np.maximum(counts, 1), np.nan)


def _summed(means: Floats, gold: Floats, seed: int, items: int) -> RedrawRow:
    rho = spearman(gold, means)
    known = rho[np.isfinite(rho)]
    right = (competition_ranks(means) == competition_ranks(gold)).sum(axis=1)
    return RedrawRow(
        draws=means.shape[0],
        seed=seed,
        passes=items,
        spearman=float(known.mean()) if known.size else None,
        spearman_p5=float(np.quantile(known, 0.05)) if known.size else None,
        correctly_ranked=float(right.mean()),
        mean_error_pp=float(100 * np.abs(means - gold).mean()),
    )


def _rows(part: Material, grid: GridValues, items: pl.Series) -> np.ndarray:
    """Rows of the grid in the order of these items, so that all runs draw the same for the same item."""
    codes = {name: code for code, name in enumerate(part.tables.items["item"].to_list())}
    return np.searchsorted(grid.items, [codes[name] for name in items.to_list()])


def _take(grid: GridValues, rows: np.ndarray) -> GridValues:
    return GridValues(
        values=grid.values[rows],
        orders=grid.orders[rows],
        options=grid.options[rows],
        items=grid.items[rows],
        clusters=grid.clusters[rows],
        formats=grid.formats,
    )
