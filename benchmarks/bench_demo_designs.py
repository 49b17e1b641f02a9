"""Designs redrawn from a stored full grid of a real model: coverage of intervals, and cost against error.

vqaudit run -m demo -d demo --design grid -o runs/grid
python benchmarks/bench_demo_designs.py runs/grid [--json FILE] [--figure docs/images/designs.svg]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from design_worlds import Floats, Ints, draw_design
from scipy.stats import binom

from vqaudit.analysis.designs import main_trials, planned_trials
from vqaudit.analysis.drawn import Drawn, Question, mean_interval, weigh, within_item_variance, within_stratum_variance
from vqaudit.analysis.frame import FACTORS, analysis_frame
from vqaudit.analysis.ranks import holm
from vqaudit.records import RunTables

REPEATS = 2000
DRAWS = (1, 2, 4, 8)


def load_grid(path: Path) -> tuple[Floats, Ints, Ints]:
    """Returns items x formats x rotations of outcomes (NaN beyond an item's options), options, and levels."""
    tables = RunTables.load(path)
    frame = analysis_frame(tables)
    done = main_trials(frame, planned_trials(tables, frame), design="grid").done
    done = done.with_columns(
        pl.col("item_code").rank("dense").cast(pl.Int64).alias("_item") - 1,
        pl.col("format").cast(pl.String).rank("dense").cast(pl.Int64).alias("_format") - 1,
        pl.col("order_code").rank("dense").over("item_code", "format").cast(pl.Int64).alias("_order") - 1,
    )
    items = done.select("_item", "n_orders").unique().sort("_item")
    outcomes = np.full((items.height, done["_format"].n_unique(), int(done["n_options"].max())), np.nan)  # type: ignore[arg-type]
    outcomes[done["_item"].to_numpy(), done["_format"].to_numpy(), done["_order"].to_numpy()] = done["right"].to_numpy()
    names = done.select("_format", *(pl.col(f).cast(pl.String) for f in FACTORS)).unique().sort("_format")
    levels = np.stack([np.unique(names[f].to_numpy(), return_inverse=True)[1] for f in FACTORS], axis=1)
    return outcomes, items["n_orders"].to_numpy().astype(np.intp), levels


def check(question: Question, truth: float, kind: str) -> dict[str, Any]:
    """Returns coverage and width of one kind of interval."""
    interval = mean_interval(question)
    hits = (interval.low <= truth + 1e-12) & (truth - 1e-12 <= interval.high)
    half = float(((interval.high - interval.low) / 2).mean())
    return {
        "quantity": kind,
        "interval_coverage": float(hits.mean()),
        "_hits": int(hits.sum()),
        "half_width_ratio": half / float(1.96 * question.value.std()) if 0.05 <= truth <= 0.95 else None,
        "mae_pp": float(100 * np.abs(question.value - truth).mean()),
    }


def rows_of(grid: Floats, options: Ints, levels: Ints, draws: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Returns the rows of k draws per item."""
    formats, rotations = draw_design(options, draws=draws, repeats=REPEATS, rng=rng)
    values = grid[np.arange(len(grid))[:, None], formats, rotations]
    cells, clusters = np.nanmean(grid, axis=2), np.arange(len(grid))
    variance = within_item_variance if draws > 1 else within_stratum_variance
    drawn = Drawn(values, formats, grid.shape[1], clusters)
    found = [check(variance(drawn, weigh(values, by_item=True)), float(cells.mean()), "grid accuracy")]
    for factor in range(levels.shape[1]):
        for level in range(levels[:, factor].max() + 1):
            member = levels[:, factor] == level
            part = np.where(member[formats], values, np.nan)
            numbers = np.where(member, np.cumsum(member) - 1, 0)
            here = Drawn(part, numbers[formats], int(member.sum()), clusters)
            question = within_stratum_variance(here, weigh(part, by_item=False))
            found.append(check(question, float(cells[:, member].mean()), f"level {factor}.{level}"))
    return [{"design": "randomised", "draws": draws, "passes": draws} | row for row in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="run directory with a full grid")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--figure", type=Path, help="SVG of cost against error")
    given = parser.parse_args()
    grid, options, levels = load_grid(given.run)
    rng = np.random.default_rng(20240601)
    rows = [row for draws in DRAWS for row in rows_of(grid, options, levels, draws, rng)]
    cells = np.nanmean(grid, axis=2).mean(axis=0)
    one_format = {
        "design": "one format, all orders",
        "passes": float(options.mean()),
        "mae_pp": float(100 * np.abs(cells - cells.mean()).mean()),
    }
    adjusted = holm([float(binom.cdf(row.pop("_hits"), REPEATS, 0.95)) for row in rows])
    verdict = {
        "items": len(grid),
        "repeats": REPEATS,
        "checks": len(rows),
        "worst_coverage": min(row["interval_coverage"] for row in rows),
        "smallest_adjusted_p": min(adjusted),
        "largest_grid_ratio": max(r["half_width_ratio"] for r in rows if r["quantity"] == "grid accuracy"),
    }
    if given.json:
        text = json.dumps({"verdict": verdict, "results": [*rows, one_format]}, indent=1, allow_nan=False)
        given.json.write_text(text + "\n", encoding="utf-8")
    if given.figure:
        draw_figure(given.figure, rows, one_format, float(options.mean() * grid.shape[1]))
    print(json.dumps(verdict, indent=1))
    return 0


def draw_figure(path: Path, rows: list[dict[str, Any]], one: dict[str, Any], grid_passes: float) -> None:
    from vqaudit.report.charts.designs import DesignCost, cost_and_error

    shown = [DesignCost("one format, all orders", one["passes"], one["mae_pp"])]
    shown += [DesignCost("randomised", r["passes"], r["mae_pp"]) for r in rows if r["quantity"] == "grid accuracy"]
    shown.append(DesignCost("full grid", grid_passes, 0.0))
    title = "Demo model: mean error of the grid accuracy against cost"
    svg = cost_and_error(shown, title=title).svg
    plain = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" color="#222" style="background:#fff" ', 1)
    path.write_text(plain + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
