"""Questions that a log holds in several orders: plain, circular and strict circular accuracy, and their groups.

Knows the analysis frame and the orders of records. Knows no harness. MMBench's CircularEval (Liu et al. 2024, section
4.1) counts a question as right when it is right in every rotation; some questions there have fewer rotations than
options, and rotations of one question are no independent samples.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import polars as pl

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.grouped import estimate_items, item_mean, trial_mean

__all__ = ["ONE_ORDER", "Circular", "CircularAccuracies", "circular_accuracies"]

ONE_ORDER = "no question was logged in more than one order"


class Circular(Row):
    """Questions of an imported log that it holds in several orders."""

    groups: int
    """Questions in at least two orders."""
    single: int
    """Questions in one order only; they count as they stand in all three accuracies."""
    rows: int
    """Trials, of all questions."""
    by_orders: dict[int, int]
    """Number of orders -> questions."""
    fewer_orders_than_options: int
    """Questions in several orders, but not in as many as they have options: not every position was tried."""
    item_mean: Figure
    """Mean over questions of the mean over their orders: every question counts once."""
    standard_error_clustered: float | None
    """Of `circular_accuracy`, with a question's rows as one cluster; in [0, 1]."""
    standard_error_naive: float | None
    """Of the same, as if all rows were independent: sqrt(p (1 - p) / rows). Too small."""
    sentence: str


class CircularAccuracies(NamedTuple):
    """The three accuracies, and the groups behind them; None where no question has several orders."""

    plain: Estimate
    """In the first order that the log holds of each question."""
    rows: Estimate
    """Mean over rows: every order counts once."""
    strict: Estimate
    """Share of questions that are right in every order that the log holds of them."""
    groups: Circular | None


def circular_accuracies(trials: pl.DataFrame, orders: pl.DataFrame) -> CircularAccuracies:
    """Returns what an imported log tells of questions in several orders.

    Args:
        trials: Rows of the analysis frame that did not fail.
        orders: `trial` and `order` of the records.
    """
    judged = _with_natural(trials.filter(pl.col("right").is_not_null()), orders)
    if not judged.height:
        nothing = Estimate.unknown("the log does not tell which option is right")
        return CircularAccuracies(nothing, nothing, nothing, None)
    plain = item_mean(judged.filter("_first"), "right")
    counts = _orders_per_item(judged)
    if not (counts["orders"] > 1).any():
        unknown = Estimate.unknown(ONE_ORDER)
        return CircularAccuracies(plain, unknown, unknown, None)
    rows = trial_mean(judged, "right")
    return CircularAccuracies(plain, rows, _strict(judged), _groups(judged, counts, rows))


def _with_natural(judged: pl.DataFrame, orders: pl.DataFrame) -> pl.DataFrame:
    """Marks the trials in the first order of each question: the data set's, else the first by code that is known."""
    places = pl.int_ranges(0, pl.col("order").list.len()).cast(pl.List(pl.Int16))
    natural = orders.select("trial", _natural=(pl.col("order") == places).fill_null(True))
    marked = judged.join(natural, on="trial", how="left", maintain_order="left")
    has_natural = pl.col("_natural").any().over("item_code")
    first_code = pl.col("order_code") == pl.col("order_code").min().over("item_code")
    return marked.with_columns(_first=pl.when(has_natural).then(pl.col("_natural")).otherwise(first_code))


def _orders_per_item(judged: pl.DataFrame) -> pl.DataFrame:
    return judged.group_by("item_code").agg(
        orders=pl.col("order_code").n_unique(), options=pl.col("n_options").first().cast(pl.UInt32)
    )


def _strict(judged: pl.DataFrame) -> Estimate:
    cells = judged.group_by("item_code").agg(
        pl.col("cluster_code").first(), pl.col("right").all().cast(pl.Float64).alias("mean"), trials=pl.len()
    )
    return estimate_items(cells.sort("item_code"))


def _groups(judged: pl.DataFrame, counts: pl.DataFrame, rows: Estimate) -> Circular:
    several = counts.filter(pl.col("orders") > 1)
    short = several.filter(pl.col("orders") < pl.col("options")).height
    by_orders = dict(sorted(counts.group_by("orders").len().iter_rows()))
    share = rows.value if rows.value is not None else math.nan
    naive = math.sqrt(share * (1 - share) / judged.height)
    return Circular(
        groups=several.height,
        single=counts.height - several.height,
        rows=judged.height,
        by_orders=by_orders,
        fewer_orders_than_options=short,
        item_mean=item_mean(judged, "right"),
        standard_error_clustered=rows.standard_error,
        standard_error_naive=naive if naive > 0 else None,
        sentence=_sentence(several.height, judged.height, short),
    )


def _sentence(groups: int, rows: int, short: int) -> str:
    said = f"{rows:,} rows are {groups:,} questions in several orders each"
    if not short:
        return f"{said}, all of them in as many orders as they have options"
    return f"{said}; {short:,} of these have fewer orders than options, so that not every position was tried"
