"""Means of a yes-or-no column of trials: over items or over trials, alone or by group.

Knows the columns `item_code` and `cluster_code` of the analysis frame. Knows no interval: `estimates` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from vqaudit.analysis.estimates import (
    Estimate,
    PairedEstimate,
    mean_estimate,
    mean_of_totals,
    paired_difference,
)

__all__ = [
    "estimate_items",
    "estimate_pairs",
    "item_mean",
    "item_means",
    "item_means_by",
    "paired_means",
    "trial_mean",
    "trial_means_by",
]

Key = tuple[Any, ...]


def item_means(trials: pl.DataFrame, value: str, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """Returns one row per item (and group): its mean over its trials where `value` is known, and their number.

    Columns: those of `by`, `item_code`, `cluster_code`, `mean`, `trials`; sorted by group and item.
    """
    known = trials.filter(pl.col(value).is_not_null())
    keys = [*by, "item_code"]
    mean = pl.col(value).cast(pl.Float64).mean().alias("mean")
    table = known.group_by(keys).agg(pl.col("cluster_code").first(), mean, pl.len().alias("trials"))
    return table.sort(keys)


def item_mean(trials: pl.DataFrame, value: str) -> Estimate:
    """Returns the mean over items of the item's mean over its trials: every item counts once."""
    return estimate_items(item_means(trials, value))


def item_means_by(trials: pl.DataFrame, value: str, by: Sequence[str]) -> dict[Key, Estimate]:
    """Returns `item_mean` for every group, sorted by group; groups without a known value are absent."""
    table = item_means(trials, value, by=by)
    return {key: estimate_items(group) for key, group in table.group_by(by, maintain_order=True)}


def trial_mean(trials: pl.DataFrame, value: str, *, weight: str | None = None) -> Estimate:
    """Returns the mean over trials: every trial counts once, or as much as the column `weight` says."""
    known = trials.filter(pl.col(value).is_not_null())
    if not known.height:
        return Estimate.unknown("no trial tells it")
    return mean_estimate(
        known[value].cast(pl.Float64).to_numpy(),
        clusters=known["cluster_code"].to_numpy(),
        weights=None if weight is None else known[weight].cast(pl.Float64).to_numpy(),
    )


def trial_means_by(trials: pl.DataFrame, values: Sequence[str], by: Sequence[str]) -> dict[Key, tuple[Estimate, ...]]:
    """Returns the means over trials of several columns for every group, sorted by group.

    The columns are known for the same trials; groups where they are not known are absent.
    """
    keys = [*by, "cluster_code"]
    known = trials.filter(pl.col(values[0]).is_not_null())
    sums = known.group_by(keys).agg(pl.col(values).cast(pl.Int64).sum(), pl.len().alias("trials")).sort(keys)
    return {
        key: tuple(_of_sums(group, value) for value in values) for key, group in sums.group_by(by, maintain_order=True)
    }


def estimate_items(means: pl.DataFrame) -> Estimate:
    """Returns the mean over the rows of a table of item means."""
    if not means.height:
        return Estimate.unknown("no trial tells it")
    return mean_estimate(
        means["mean"].to_numpy(), clusters=means["cluster_code"].to_numpy(), trials=int(means["trials"].sum())
    )


def paired_means(a: pl.DataFrame, b: pl.DataFrame, value: str) -> PairedEstimate:
    """Returns the mean over common items of a's item mean minus b's; items that only one has are left out."""
    first, second = item_means(a, value), item_means(b, value)
    return estimate_pairs(first.join(second, on="item_code", suffix="_b", maintain_order="left"))


def estimate_pairs(means: pl.DataFrame) -> PairedEstimate:
    """Returns the mean of `mean - mean_b` over the rows of a joined table of item means."""
    if not means.height:
        return PairedEstimate(value=None, reason="the two have no item in common")
    pairs = means.select(pl.min_horizontal("trials", "trials_b").sum()).item()
    return paired_difference(
        means["mean"].to_numpy(),
        means["mean_b"].to_numpy(),
        clusters=means["cluster_code"].to_numpy(),
        trials=int(pairs),
    )


def _of_sums(sums: pl.DataFrame, value: str) -> Estimate:
    weights = sums["trials"].cast(pl.Float64).to_numpy()
    totals = sums[value].cast(pl.Float64).to_numpy()
    return mean_of_totals(weights, totals, trials=int(weights.sum()))
