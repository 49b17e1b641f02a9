"""One row per trial, with all that any figure asks of it.

Knows the tables of a run directory. Knows no formula. Names are kept as enumerations and numbers, since a run can have
millions of trials.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import polars as pl

from vqaudit.analysis.judged import (
    FACTORS,
    GENERATED_EVENTS,
    JUDGED_SCHEMA,
    NAMES,
    ORDER_CODES,
    joined,
    judged,
    numbered_items,
)
from vqaudit.records import (
    ITEM_SCHEMA,
    PLAN_SCHEMA,
    Manifest,
    RunOutline,
    RunTables,
    fold_trials,
    read_manifest,
    read_table,
    visible_rows,
)

__all__ = ["FACTORS", "GENERATED_EVENTS", "analysis_frame", "hidden_interfaces", "read_frame"]

_ROWS = 400_000
"""So many records are looked at together, since lists take room while they are."""


def analysis_frame(tables: RunTables) -> pl.DataFrame:
    """Returns one row per visible trial, sorted by item (in dataset order) and trial.

    Columns besides those of the record: `trial_code` (row number), `format` (name; null where there is none),
    `order_code` and `variant_code` (equal for equal orders; for equal format, order and ID order),
    `answer_position` (null where order or answer is not known), `n_options`, `n_orders`, `permutable` (false for
    items that must be asked in one order), `options_shown` (false for a cloze), `ordered` (the order is known),
    `item_code`, `cluster`, `cluster_code`, `category`, `failed`; and, null for failed trials:

    - `right`: the strict reading chose the answer; null where the answer is not known;
    - `lenient_right`: the same by the lenient reader; null for events that it does not read;
    - `scored_right`: the answer's ID alone has the highest score; null where scores are not known;
    - `answered`: the strict reading chose an option;
    - `covered`: the reply is exactly a shown ID; null for score events, free generations and bad input;
    - `longer`: the reply is none, but would have been one with more tokens; null where `covered` is.

    Raises:
        AnalysisError: A trial names an item that the run's items do not hold.
    """
    items = numbered_items(tables.items)
    bits = [judged(bit, items) for bit in tables.trials.iter_slices(_ROWS)]
    return _frame(bits, tables.manifest, tables.items)


def read_frame(run: Path) -> tuple[RunOutline, pl.DataFrame]:
    """Reads a run bit by bit: its analysis frame, and all else but the trials, of which there can be millions.

    Raises:
        RecordError: The directory or a part of it cannot be read.
        AnalysisError: A trial names an item that the run's items do not hold.
    """
    manifest, items = read_manifest(run), read_table(run / "items.parquet", ITEM_SCHEMA)
    bits = fold_trials(run, partial(judged, items=numbered_items(items)), schema=JUDGED_SCHEMA)
    attempts = sum(bit.height for bit in bits)
    frame = _frame(bits, manifest, items)
    # as large as the frame: read when what that was made of is gone
    plan = read_table(run / "plan.parquet", PLAN_SCHEMA)
    return RunOutline(path=run, manifest=manifest, items=items, plan=plan, attempts=attempts), frame


def hidden_interfaces(manifest: Manifest, frame: pl.DataFrame) -> frozenset[str]:
    """Returns the interfaces that show no options (a cloze), by the manifest.

    Of one that the manifest does not describe, the records tell: they hold likelihoods of options without IDs.

    Args:
        manifest: The run's.
        frame: Its trials: `interface`, `event` and `id_set`.
    """
    described = manifest.interfaces.items()
    told = {name: spec.get("options_shown") for name, spec in described if isinstance(spec, Mapping)}
    bare = frame.filter(pl.col("id_set").is_null()).select("interface", "event").unique().drop_nulls()
    silent = {str(name) for name, event in bare.iter_rows() if event == "option-likelihood"}
    said = {name for name, shown in told.items() if shown is False}
    return frozenset(said | {name for name in silent if told.get(name) is None})


def _frame(bits: list[pl.DataFrame], manifest: Manifest, items: pl.DataFrame) -> pl.DataFrame:
    """Makes one table of the bits, and lets go of them: there can be gigabytes."""
    rows = joined(bits or [judged(pl.DataFrame(JUDGED_SCHEMA.empty_table()), numbered_items(items))])
    bits.clear()
    kept = visible_rows(rows.select("trial", "attempt", "failed"))
    order = pl.DataFrame({"row": kept, "item_code": rows["item_code"][kept]}).sort("item_code", maintain_order=True)
    frame = rows.drop("attempt")[order["row"]]
    del rows
    frame = _with_codes(frame.with_columns(*_narrowed(frame), pl.col("item_code").set_sorted()))
    shown = ~pl.col("interface").cast(pl.String).is_in(sorted(hidden_interfaces(manifest, frame)))
    return frame.with_columns(shown.alias("options_shown"), *_of_items(items, frame["item_code"])).with_row_index(
        "trial_code"
    )


def _narrowed(frame: pl.DataFrame) -> list[pl.Series]:
    """Leaves names out that only superseded attempts had."""
    kinds = [(frame[name], frame[name].drop_nulls().unique().cast(pl.String).sort()) for name in NAMES]
    return [column.cast(pl.String).cast(pl.Enum(kept)) for column, kept in kinds if pl.Enum(kept) != column.dtype]


def _of_items(items: pl.DataFrame, codes: pl.Series) -> list[pl.Series]:
    """Returns columns with a row for each of these item codes."""
    asked = items[codes.unique()]
    kinds = {name: pl.Enum(asked[name].drop_nulls().unique().sort()) for name in ("cluster", "category")}
    known = items.select(
        *(pl.col(name).cast(kind, strict=False) for name, kind in kinds.items()),
        n_orders="n_orders",
        permutable=(pl.col("n_orders") != 1).fill_null(True),
        cluster_code=pl.col("cluster").rank("dense").cast(pl.UInt32),
    )
    return known[codes].get_columns()


def _with_codes(frame: pl.DataFrame) -> pl.DataFrame:
    """Numbers the orders and the variants, so that they can be grouped and joined quickly."""
    frame = frame.with_columns(_numbered(frame, ORDER_CODES["order"]).alias("order_code"))
    keys = ("format", "order_code", *ORDER_CODES["id_order"])
    codes = _numbered(frame, keys).alias("variant_code")
    return frame.with_columns(codes).drop(name for names in ORDER_CODES.values() for name in names)


def _numbered(frame: pl.DataFrame, keys: tuple[str, ...]) -> pl.Series:
    asked = frame.select(keys)
    kinds = asked.unique().sort(keys).with_row_index("code")
    return asked.join(kinds, on=keys, how="left", nulls_equal=True, maintain_order="left")["code"]
