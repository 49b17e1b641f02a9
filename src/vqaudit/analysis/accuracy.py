"""How often the model is right: over the grid, by format, factor level and category, beside its baselines.

Knows the analysis frame. Knows nothing of how formats compare with one another: `spread` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.grouped import estimate_items, item_mean, item_means_by, trial_mean

__all__ = [
    "accuracy_by",
    "always_first",
    "answered_accuracy",
    "chance",
    "grid_accuracy",
    "lenient_accuracy",
    "row_accuracy",
    "scored_accuracy",
    "strict_circular",
]


def grid_accuracy(trials: pl.DataFrame) -> Estimate:
    """Returns the mean over items of the item's mean over its trials: the headline.

    Unbiased for the mean over the 48 formats and all admissible orders where the trials are those of a grid or of
    a randomised design. Failed trials are out; all else that is not right is wrong. The interval is for items
    like these: clusters of items are what varies.
    """
    return item_mean(trials, "right")


def row_accuracy(trials: pl.DataFrame, *, drawn: bool = False) -> Estimate:
    """Returns the mean over the rows of the grid: every order counts once, as in paper 1.

    Items with more options have more orders, and so more weight.

    Args:
        trials: Trials that did not fail.
        drawn: Whether they are draws from the rows (a randomised design): each then stands for as many rows as it
            must, so that an item weighs as much as in the grid.
    """
    judged = trials.filter(pl.col("right").is_not_null())
    if not drawn:
        return trial_mean(judged, "right")
    orders = pl.col("n_orders").fill_null(pl.col("n_options")).fill_null(1)
    weighted = judged.with_columns(_rows=orders / pl.len().over("item_code"))
    return trial_mean(weighted, "right", weight="_rows")


def lenient_accuracy(trials: pl.DataFrame) -> Estimate:
    """Returns the grid accuracy under the lenient reader: the answer anywhere in the reply, if it is the only one.

    A trial that the lenient reader did not see (bad input) is wrong; where it saw none, the figure is unknown.
    """
    if trials["lenient_right"].null_count() == trials.height:
        return Estimate.unknown("only whole replies are read leniently, and no such reply has a known answer")
    filled = pl.coalesce("lenient_right", pl.when(pl.col("right").is_not_null()).then(False))
    return item_mean(trials.with_columns(filled.alias("lenient_right")), "lenient_right")


def scored_accuracy(trials: pl.DataFrame) -> Estimate:
    """Returns the mean over items of how often the right ID has the highest score, where scores are known."""
    if trials["scored_right"].null_count() == trials.height:
        return Estimate.unknown("no scores of the shown IDs were kept")
    return item_mean(trials, "scored_right")


def answered_accuracy(trials: pl.DataFrame) -> Estimate:
    """Returns the share that is right of the trials that chose an option: never the headline, always beside it."""
    return trial_mean(trials.filter("answered"), "right")


def accuracy_by(trials: pl.DataFrame, by: Sequence[str]) -> dict[tuple[Any, ...], Estimate]:
    """Returns the item-weighted accuracy of every group of trials, sorted by group."""
    return item_means_by(trials, "right", by)


def strict_circular(trials: pl.DataFrame) -> Estimate:
    """Returns the share of items that are right in all their orders, averaged over formats.

    An item counts under a format in which all its admissible orders came back; one that must not be permuted has
    one order and counts as right there. Unknown where no item that may be permuted is complete.
    """
    judged = trials.filter(pl.col("right").is_not_null(), pl.col("format").is_not_null())
    cells = judged.group_by("item_code", "format").agg(
        pl.col("cluster_code").first(),
        pl.col("permutable").first(),
        pl.col("right").all(),
        pl.col("n_orders").fill_null(pl.col("n_options")).first(),
        orders=pl.col("order_code").n_unique(),
        size=pl.len(),
    )
    complete = cells.filter(pl.col("orders") >= pl.col("n_orders"))
    if not complete["permutable"].any():
        return Estimate.unknown("no item that may be permuted was asked in all its orders under one format")
    mean = pl.col("right").cast(pl.Float64).mean().alias("mean")
    sizes = pl.col("size").sum().alias("trials")
    items = complete.group_by("item_code").agg(pl.col("cluster_code").first(), mean, sizes)
    return estimate_items(items.sort("item_code"))


def chance(trials: pl.DataFrame) -> float | None:
    """Returns the mean over items of 1 / number of options: what guessing would get."""
    items = trials.filter(pl.col("n_options") > 0).unique("item_code").sort("item_code")
    return _mean(1 / items["n_options"].cast(pl.Float64))


def always_first(trials: pl.DataFrame) -> float | None:
    """Returns the grid accuracy of a model that always chooses the first position."""
    placed = trials.filter(~pl.col("failed"), pl.col("answer_position").is_not_null())
    return item_mean(placed.with_columns(_first=pl.col("answer_position") == 0), "_first").value


def _mean(values: pl.Series) -> float | None:
    return float(values.to_numpy().mean()) if values.len() else None
