"""The trials of a run as columns of small numbers, sorted by item, beside the tables that the numbers point into.

Knows records. Which trial is right was decided by `analysis.frame`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vqaudit.analysis.frame import analysis_frame, hidden_interfaces
from vqaudit.records import RunTables
from vqaudit.report.explorer.texts import code_texts
from vqaudit.report.story import in_grid_order
from vqaudit.report.untrusted import printable

__all__ = ["NO_SCORE", "SCORE_STEPS", "TrialColumns", "trial_columns"]

SCORE_STEPS = 1_000
"""Steps of a probability, and of a log-probability per token, in each unit."""
NO_SCORE = 65_535
_SAID = ("reply", "further", "reasoning", "error")
_NONE, _PROBABILITY, _PER_TOKEN = 0, 1, 2
_HEXADECIMAL = r"^[0-9a-f]{16}$"


@dataclass(frozen=True, slots=True)
class TrialColumns:
    """All trials, sorted by item, interface, format and order."""

    table: pl.DataFrame
    """`trial`, `item_code`, `interface_code`, `format`, `arrangement`, `right`, `answered`, `failed`, row by row."""
    columns: dict[str, np.ndarray | bytes]
    """Name -> one number per trial, or several as another column says."""
    names: dict[str, Any]
    """What codes point to: `interfaces`, `asks`, `ids`, `arrangements`, `readings`, `trial_names`."""
    said: list[str]
    """Replies and other texts of engines; codes count from 1."""
    segments: list[str]
    """Hashes of pieces of prompt; codes count from 1."""


def trial_columns(tables: RunTables, *, keep: int | None = None) -> TrialColumns:
    """Returns the trials of a run.

    Args:
        tables: From `RunTables.load`.
        keep: Only those of the first so many items; None keeps all.
    """
    table = _coded(_joined(tables, keep))
    codes, said = code_texts(table.select(_SAID))
    pieces, segments = _segments(table)
    columns: dict[str, np.ndarray | bytes] = {
        "trials_of": np.bincount(table["item_code"].to_numpy(), minlength=_items(tables, keep)).astype(np.uint32),
        "ask": table["ask"].to_numpy().astype(np.uint32),
        "ids": table["ids"].to_numpy().astype(np.uint32),
        "arrangement": table["arrangement_code"].to_numpy().astype(np.uint32),
        "reading": table["reading"].to_numpy().astype(np.uint16),
        "position": table["position"].fill_null(-1).to_numpy().astype(np.int8),
        "lenient": table["lenient_position"].fill_null(-1).to_numpy().astype(np.int8),
        "right": table["right"].cast(pl.UInt8).fill_null(2).to_numpy(),
        **{name: code for name, code in codes.items() if name == "reply" or code.any()},
        **pieces,
        **_scores(table),
    }
    columns, names = _trial_names(table["trial"], columns)
    kinds = {f"{kind.code.removesuffix('_code')}_rows": _kinds(table, kind) for kind in _KINDS}
    found = {"interfaces": _interface_rows(tables, table), **kinds, **names}
    kept = ("trial", "item_code", "interface_code", "format", "right", "answered", "failed")
    known = pl.when(pl.col("order").is_not_null()).then("arrangement_code").alias("arrangement")
    return TrialColumns(table.select(*kept, known), columns, found, said, segments)


class _Kind(NamedTuple):
    """What many trials have in common, kept once."""

    code: str
    """Column that numbers the kinds."""
    keys: tuple[str, ...]
    """Columns that are equal within a kind; their order is the order of the kinds."""
    told: tuple[str, ...]
    """Columns that the page is told of each."""


_KINDS = (
    _Kind("ask", ("interface_code", "_format", "prefill"), ("interface_code", "format", "prefill")),
    _Kind("arrangement_code", ("_order", "_id_order"), ("order", "id_order")),
    _Kind("ids", ("_ids",), ("option_ids",)),
    _Kind("reading", ("outcome", "reason", "lenient_outcome"), ("outcome", "reason", "lenient_outcome")),
)


def _items(tables: RunTables, keep: int | None) -> int:
    return tables.items.height if keep is None else min(keep, tables.items.height)


def _joined(tables: RunTables, keep: int | None) -> pl.DataFrame:
    own = ("trial", "order", "id_order", "option_ids", "segments", "prefill", "outcome", "reason", "position", *_SAID)
    more = ("lenient_outcome", "lenient_position")
    field = pl.element().struct.field
    scores = {
        # whole scores, token IDs and spellings included, are most of a run's memory: none is carried along
        "_id_scores": pl.col("id_scores").list.eval(field("logprob")),
        "_option_scores": pl.col("option_scores").list.eval(field("logprob") / field("tokens")),
    }
    judged = analysis_frame(tables).select("trial", "item_code", "interface", "format", "right", "answered", "failed")
    judged = judged.with_columns(pl.col("interface", "format").cast(pl.String))
    if keep is not None:
        judged = judged.filter(pl.col("item_code") < keep)
    return judged.join(tables.trials.select(*own, *more, **scores), on="trial", how="left", maintain_order="left")


def _coded(table: pl.DataFrame) -> pl.DataFrame:
    """Adds `interface_code` and the codes of `_KINDS`, and sorts."""
    interfaces = table["interface"].unique().sort()
    formats = _format_order(table["format"].drop_nulls().unique().to_list())
    table = table.with_columns(
        interface_code=pl.col("interface").replace_strict(interfaces, range(interfaces.len()), return_dtype=pl.UInt8),
        _format=pl.col("format").replace_strict(formats, range(len(formats)), default=-1, return_dtype=pl.Int32),
        _order=_joined_list("order"),
        _id_order=_joined_list("id_order"),
        _ids=pl.col("option_ids").list.join("\x1f"),
        answered=pl.col("answered").fill_null(False),
    )
    for code, keys, _ in _KINDS:
        kinds = table.select(keys).unique().sort(keys, nulls_last=True).with_row_index(code)
        table = table.join(kinds, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return table.sort("item_code", "ask", "arrangement_code", "trial")


def _joined_list(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.List(pl.String)).list.join("-")


def _format_order(names: list[str]) -> list[str]:
    """Formats in the order of the grid: by ID set, then delimiter, then separator."""
    parts = [name.split("/") for name in names]
    levels = {name: place for place, name in enumerate(in_grid_order(part for split in parts for part in split))}
    return sorted(names, key=lambda name: ([levels[part] for part in name.split("/")], name))


def _kinds(table: pl.DataFrame, kind: _Kind) -> list[list[Any]]:
    """What is told of each kind, in the order of their codes."""
    rows = table.unique(kind.code, keep="first", maintain_order=True).sort(kind.code).select(kind.told)
    return [_fit(list(row)) for row in rows.iter_rows()]


def _fit(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    return [_fit(part) for part in value] if isinstance(value, list) else value


def _interface_rows(tables: RunTables, table: pl.DataFrame) -> list[list[Any]]:
    """Name, event and whether options are shown, of each interface."""
    known = tables.trials.select(pl.col("interface").fill_null("unknown"), "event", "id_set")
    hidden = hidden_interfaces(tables.manifest, known)
    events = dict(known.select("interface", "event").unique("interface", keep="first", maintain_order=True).iter_rows())
    names = table["interface"].unique().sort().to_list()
    return [[printable(name), events.get(name), name not in hidden] for name in names]


def _segments(table: pl.DataFrame) -> tuple[dict[str, np.ndarray], list[str]]:
    names = table.select("segments").with_columns(n=pl.col("segments").list.len().fill_null(0))
    flat = names.select(pl.col("segments").explode(empty_as_null=False, keep_nulls=False)).rename({"segments": "name"})
    codes, texts = code_texts(flat)
    return {"pieces_of": names["n"].to_numpy().astype(np.uint16), "piece": codes["name"]}, texts


def _scores(table: pl.DataFrame) -> dict[str, np.ndarray]:
    """Scores by position: probabilities of IDs where there are any, else log-probabilities per token of options."""
    lists = table.select(ids="_id_scores", options="_option_scores")
    lists = lists.with_columns(pl.col("ids", "options").list.len().fill_null(0).name.suffix("_n"))
    by_id = (lists["ids_n"] > 0).to_numpy()
    lists = lists.select(
        values=pl.when(pl.col("ids_n") > 0).then("ids").otherwise("options"),
        n=pl.when(pl.col("ids_n") > 0).then("ids_n").otherwise("options_n"),
    )
    counts = lists["n"].to_numpy()
    if not counts.any():
        return {}
    kinds = np.where(counts == 0, _NONE, np.where(by_id, _PROBABILITY, _PER_TOKEN)).astype(np.uint8)
    values = lists.filter(pl.col("n") > 0)["values"].explode().cast(pl.Float64).fill_null(np.nan).to_numpy()
    return {
        "scores_of": counts.astype(np.uint8),
        "score_kind": kinds,
        "score": _in_steps(values, np.repeat(kinds, counts)),
    }


def _in_steps(values: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    known = np.isfinite(values)
    safe = np.where(known, np.minimum(values, 0.0), 0.0)
    steps = np.where(kinds == _PROBABILITY, np.exp(safe) * SCORE_STEPS, np.minimum(-safe * SCORE_STEPS, NO_SCORE - 1))
    # a log-probability of minus infinity is a probability of 0, and known
    steps = np.where((kinds == _PROBABILITY) & (values == -np.inf), 0.0, np.where(known, steps, NO_SCORE))
    return np.rint(steps).astype(np.uint16)


def _trial_names(names: pl.Series, columns: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    if names.str.contains(_HEXADECIMAL).all():
        return {**columns, "trial": bytes.fromhex("".join(names.to_list()))}, {}
    return dict(columns), {"trial_names": [printable(name) for name in names.to_list()]}
