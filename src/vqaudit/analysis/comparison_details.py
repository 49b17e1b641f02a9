"""What several runs say together on request: remedies across models, leaders by format, one model of all trials.

Knows runs over common items. Computes none itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from vqaudit.analysis.cells.ranks import Disagreement, Leaders
from vqaudit.analysis.effects import Effects, trial_effects
from vqaudit.analysis.figures import Row
from vqaudit.analysis.format_rankings import disagreement, format_leaders
from vqaudit.analysis.mitigation import Calibration, Material, MitigationTable, material_of, mitigations_across
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables

__all__ = ["ComparisonDetails", "comparison_details"]

Accuracies = Mapping[str, Mapping[str, float]]
_NO_RANKS = "ranks by format need a grid of every run"


class ComparisonDetails(Row):
    """A key that is None has its reason in `reasons`."""

    format_leaders: Leaders | None
    """Who is first in each format, and by how much (paper 1, captions of Tabs. 8 to 12)."""
    most_different_formats: Disagreement | None
    """The two formats whose rankings agree least (paper 1, Fig. 2)."""
    mitigations: MitigationTable | None
    """Whether remedies rank the runs as the grid does (paper 1, Tab. 7)."""
    effects: Effects | None
    """One model of the trials of all runs, the run a factor beside the format's."""
    reasons: dict[str, str]


def comparison_details(
    runs: Mapping[str, RunTables],
    items: pl.Series,
    *,
    accuracies: Accuracies | None,
    calibration: Calibration | Mapping[str, Calibration] | None = None,
    seed: int = 0,
) -> ComparisonDetails:
    """Returns what the records of these runs allow.

    Args:
        runs: Name -> tables.
        items: IDs of the items that all of them hold alike.
        accuracies: Format -> run -> accuracy on these items; None where some run has no grid.
        calibration: Where PriDe's priors come from: of all runs, or by name.
        seed: Of the redraws.
    """
    reasons: dict[str, str] = {}
    materials = {name: material_of(tables) for name, tables in runs.items()}
    found: dict[str, Any] = {"mitigations": None, "effects": None}
    try:
        found["mitigations"] = mitigations_across(materials, items, calibration=calibration, seed=seed)
    except AnalysisError as error:
        reasons["mitigations"] = str(error)
    try:
        found["effects"] = _effects(materials, items)
    except AnalysisError as error:
        reasons["effects"] = str(error)
    return ComparisonDetails(**found, **_formats(accuracies, reasons), reasons=reasons)


def _formats(accuracies: Accuracies | None, reasons: dict[str, str]) -> dict[str, Any]:
    if accuracies is None:
        reasons["format_leaders"] = reasons["most_different_formats"] = _NO_RANKS
        return {"format_leaders": None, "most_different_formats": None}
    different, why = disagreement(accuracies)
    if why is not None:
        reasons["most_different_formats"] = why
    return {"format_leaders": format_leaders(accuracies), "most_different_formats": different}


def _effects(runs: Mapping[str, Material], items: pl.Series) -> Effects:
    """One model of all runs' trials, the run a factor beside the format's; items are the clusters of all."""
    designs = {material.main.design for material in runs.values()}
    if designs not in ({"grid"}, {"randomised"}):
        raise AnalysisError(
            "one model of all trials needs runs of one design, grid or randomised, not " + ", ".join(sorted(designs))
        )
    tables = next(iter(runs.values())).tables.items
    # codes and names of one run mean nothing in another, so that all are numbered anew by the common items
    numbers = pl.DataFrame({"item": items}).with_row_index("_item").join(tables.select("item", "cluster"), on="item")
    parts = [_common(name, material, numbers) for name, material in runs.items()]
    return trial_effects(pl.concat(parts), grid=designs == {"grid"}, extra=("run",))


def _common(name: str, material: Material, numbers: pl.DataFrame) -> pl.DataFrame:
    columns = ("right", "permutable", "answer_position", "n_options", "id_set", "delimiter", "separator")
    own = material.tables.items.select("item", item_code=pl.int_range(pl.len(), dtype=pl.UInt32))
    known = own.join(numbers, on="item", how="inner").select("item_code", "_item", _cluster="cluster")
    trials = material.main.done.select("item_code", *columns, format=pl.col("format").cast(pl.String))
    joined = trials.join(known, on="item_code", how="inner", maintain_order="left")
    return joined.select(
        pl.col("id_set", "delimiter", "separator").cast(pl.String),
        *("right", "permutable", "answer_position", "n_options", "format"),
        item_code="_item",
        cluster_code="_cluster",
        run=pl.lit(name),
    )
