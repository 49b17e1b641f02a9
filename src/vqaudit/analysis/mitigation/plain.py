"""Methods that are means over items: the reference format alone, in all orders, cloze, and formats at random.

Knows a run's material. Source: paper 1, Sec. 4.3 and B.3; circular evaluation: MMBench (Liu et al. 2024).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from vqaudit.analysis.draw_table import draw_table
from vqaudit.analysis.grouped import item_means
from vqaudit.analysis.mitigation.applied import Applied, by_item
from vqaudit.analysis.mitigation.material import Material
from vqaudit.analysis.mitigation.redraw import draw_again, grid_values
from vqaudit.errors import AnalysisError

__all__ = ["circular", "circular_majority", "circular_strict", "complete_items", "cp_ln", "randomised", "vanilla"]

NO_REFERENCE = (
    "needs the reference format{what}, which this run did not ask through {interface}: add the design reference"
)
REDRAW_SEED = 0
"""Of the formats that are drawn again from a grid: the same for every run, so that runs stay paired."""


def vanilla(material: Material) -> Applied:
    """The reference format in the dataset's order: one pass, what a leaderboard does."""
    trials = material.reference().filter(pl.col("dataset_order").fill_null(False))
    if not trials.height:
        raise AnalysisError(_missing(material, " in the dataset's order"))
    note = f"{material.tables.manifest.reference_format}, dataset order"
    return _plain(material, trials, note)


def circular(material: Material) -> Applied:
    """The reference format in all rotations: every rotation is a question of its own (paper 1, Sec. B.3)."""
    trials = complete_items(material)
    return _plain(material, trials, "all rotations, each a question of its own, items weighing alike")


def circular_strict(material: Material) -> Applied:
    """Right only where every rotation is (MMBench)."""
    trials = complete_items(material)
    means = _items(trials).with_columns(mean=(pl.col("right") == pl.col("orders")).cast(pl.Float64))
    return _of(material, trials, means, "right in all rotations")


def circular_majority(material: Material) -> Applied:
    """The option that most rotations chose; a tie is no choice and wrong."""
    trials = complete_items(material)
    votes = trials.filter(pl.col("chosen").is_not_null()).group_by("item_code", "chosen").len("votes")
    best = votes.group_by("item_code").agg(
        won=pl.col("chosen").sort_by("votes").last(), ties=(pl.col("votes") == pl.col("votes").max()).sum()
    )
    answers = trials.group_by("item_code").agg(pl.col("answer").first())
    judged = answers.join(best, on="item_code", how="left").select(
        "item_code",
        mean=((pl.col("won") == pl.col("answer")) & (pl.col("ties") == 1)).fill_null(False).cast(pl.Float64),
    )
    return _of(material, trials, _items(trials).join(judged, on="item_code"), "the option that most rotations chose")


def cp_ln(material: Material) -> Applied:
    """The option of lowest perplexity after the question alone (paper 1, Eq. 9 and 10: CP-LN)."""
    trials = material.cloze()
    if not trials.height:
        raise AnalysisError("CP-LN needs the interface cloze (the question without its options), which this run lacks")
    interface = str(trials["interface"][0])
    trials = trials.filter(pl.col("interface").cast(pl.String) == interface)
    passes = int(trials["n_options"].cast(pl.Int64).sum())
    note = "lowest perplexity per token of the option's text; one pass per option"
    return by_item(material, item_means(trials, "right"), passes=passes, interface=interface, note=note)


def randomised(material: Material) -> Applied:
    """Each item in formats and an order at random: one pass, unbiased for the grid accuracy."""
    drawn = material.drawn()
    if drawn is not None and draw_table(drawn) is not None:
        note = f"{drawn.draws} draw{'s' if drawn.draws > 1 else ''} per item, the run's own"
        means = item_means(drawn.done, "right")
        found = by_item(material, means, passes=drawn.rows.height, interface=drawn.interface, note=note)
        # where these trials are themselves what tells the grid accuracy, there is nothing to hold them against
        return found._replace(difference=None) if material.main.design == "randomised" else found
    if material.main.design != "grid":
        raise AnalysisError("formats at random need the design randomised, or a grid to draw them from")
    grid = grid_values(material.main.done)
    formats, orders = draw_again(grid, draws=1, generator=np.random.default_rng(REDRAW_SEED))
    values = grid.values[np.arange(grid.items.size), formats[0], orders[0]]
    table = pl.DataFrame({"item_code": grid.items, "cluster_code": grid.clusters, "mean": values})
    means = table.filter(pl.col("mean").is_not_nan()).with_columns(trials=pl.lit(1, dtype=pl.UInt32))
    note = "one draw per item from the grid's own trials"
    return by_item(material, means, passes=grid.items.size, interface=material.main.interface, note=note)


def complete_items(material: Material) -> pl.DataFrame:
    """Returns the reference format's trials of items that were asked in all their orders.

    Raises:
        AnalysisError: There is none, or none may be permuted.
    """
    trials = material.reference()
    wanted = pl.col("n_orders").fill_null(pl.col("n_options"))
    whole = trials.filter(pl.col("order_code").n_unique().over("item_code") >= wanted)
    if not whole["permutable"].any():
        raise AnalysisError(_missing(material, " in all rotations"))
    return whole


def _missing(material: Material, what: str) -> str:
    if material.tables.manifest.reference_format is None:
        return f"needs the reference format{what}; this run names none"
    return NO_REFERENCE.format(what=what, interface=material.main.interface)


def _items(trials: pl.DataFrame) -> pl.DataFrame:
    return trials.group_by("item_code").agg(
        pl.col("cluster_code").first(),
        pl.col("right").cast(pl.Int64).sum(),
        orders=pl.len().cast(pl.Int64),
        trials=pl.lit(1, dtype=pl.UInt32),
    )


def _plain(material: Material, trials: pl.DataFrame, note: str) -> Applied:
    means = item_means(trials, "right")
    return by_item(material, means, passes=trials.height, interface=material.main.interface, note=note)


def _of(material: Material, trials: pl.DataFrame, means: pl.DataFrame, note: str) -> Applied:
    kept = means.select("item_code", "cluster_code", "mean", "trials")
    return by_item(material, kept, passes=trials.height, interface=material.main.interface, note=note)
