"""Scores of the shown IDs and orders of trials as arrays, in the rows of an analysis frame.

Knows the columns `id_scores`, `order` and `id_order` of the records. Knows no formula.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.intervals import Floats
from vqaudit.records import RunTables

__all__ = ["id_logprobs", "id_ranks", "order_array", "with_orders"]


def id_logprobs(tables: RunTables, trials: pl.DataFrame) -> Floats:
    """Returns trials x positions: natural log-probability of the ID shown there.

    NaN beyond an item's options; a trial that lacks a finite score of any shown ID is NaN altogether, since
    nothing can be said of what the model preferred there.
    """
    scores = _field(tables, trials, "logprob")
    whole = np.isfinite(scores).sum(axis=1) == trials["n_options"].fill_null(-1).to_numpy()
    return np.where(whole[:, None], scores, np.nan)


def id_ranks(tables: RunTables, trials: pl.DataFrame) -> Floats:
    """Returns trials x positions: rank of the ID shown there in the whole vocabulary, from 1; NaN where not known."""
    return _field(tables, trials, "rank")


def _field(tables: RunTables, trials: pl.DataFrame, name: Literal["logprob", "rank"]) -> Floats:
    kept = tables.trials.select("trial", "id_scores").join(trials.select("trial"), on="trial", how="semi")
    known = kept.select("trial", _scores=pl.col("id_scores").list.eval(pl.element().struct.field(name)))
    rows = trials.select("trial", "n_options").join(known, on="trial", how="left", maintain_order="left")
    longest = [size for size in (rows["_scores"].list.len().max(), rows["n_options"].max()) if isinstance(size, int)]
    places = max([1, *longest])
    scores = np.full((rows.height, places), np.nan)
    for place in range(places):
        column = rows["_scores"].list.get(place, null_on_oob=True).cast(pl.Float64)
        scores[:, place] = column.fill_null(float("nan")).to_numpy()
    return scores


def with_orders(tables: RunTables, trials: pl.DataFrame) -> pl.DataFrame:
    """Adds `dataset_order` and `natural_ids`: whether options, and IDs, stand in their own order; null if unknown."""
    lists = tables.trials.select("trial", "order", "id_order").join(trials.select("trial"), on="trial", how="semi")
    joined = trials.join(lists, on="trial", how="left", maintain_order="left")
    added = {"dataset_order": _natural(joined["order"]), "natural_ids": _natural(joined["id_order"])}
    return trials.with_columns(**added)


def _natural(orders: pl.Series) -> pl.Series:
    kinds = orders.unique()
    told = [None if kind is None else list(kind) == list(range(len(kind))) for kind in kinds.to_list()]
    table = pl.DataFrame({"kind": kinds, "told": pl.Series(told, dtype=pl.Boolean)})
    found = pl.DataFrame({"kind": orders}).join(table, on="kind", how="left", nulls_equal=True, maintain_order="left")
    return found["told"]


def order_array(tables: RunTables, trials: pl.DataFrame, column: Literal["order", "id_order"]) -> NDArray[np.int64]:
    """Returns trials x positions: the option index, or the index into the ID set, that stands there; -1 where none."""
    kept = tables.trials.select("trial", column).join(trials.select("trial"), on="trial", how="semi")
    rows = trials.select("trial").join(kept, on="trial", how="left", maintain_order="left")
    longest = rows[column].list.len().max()
    places = longest if isinstance(longest, int) and longest else 1
    found = np.full((rows.height, places), -1, dtype=np.int64)
    for place in range(places):
        cells = rows[column].list.get(place, null_on_oob=True).cast(pl.Int64)
        found[:, place] = cells.fill_null(-1).to_numpy()
    return found
