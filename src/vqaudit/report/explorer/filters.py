"""What can be asked of items: which flip, with what, which were never read, which are always or never right.

Knows trials that were judged. Knows no text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

__all__ = ["FILTERS", "ItemFlags", "item_flags"]

FILTERS = (
    ("flips_format", "flip with the format", "right and wrong in one order, where only the format differs"),
    ("flips_order", "right only in some orders", "right and wrong in one format, where only the order differs"),
    ("flips_interface", "flip with the interface", "right and wrong in one format and order, by interface"),
    ("unread", "no option read", "a trial chose no option: unreadable, empty, refused, cut or tied"),
    ("never", "never right", "no trial is right"),
    ("always", "always right", "every trial is right"),
    ("failed", "failed trials", "the engine gave no answer to a trial"),
)
"""Name, label and meaning; the place of a name is its bit."""


class ItemFlags(NamedTuple):
    """By item (rows) and interface (columns)."""

    flags: np.ndarray
    """Bit k is the k-th of `FILTERS`; uint8."""
    judged: np.ndarray
    """Trials that are right or wrong; uint16."""
    right: np.ndarray
    """Right ones among them; uint16."""


def item_flags(trials: pl.DataFrame, *, items: int, interfaces: int) -> ItemFlags:
    """Returns which filters each item passes through each interface.

    Args:
        trials: Rows with `item_code`, `interface_code`, `format` (null where there is none), `arrangement` (code of
            order and ID order; null where not known), `right` (null where not known), `answered` and `failed`.
        items: How many there are.
        interfaces: How many there are.
    """
    flags = np.zeros((items, interfaces), np.uint8)
    judged = trials.filter(pl.col("right").is_not_null())
    known = judged.filter(pl.col("arrangement").is_not_null())
    cell = ["item_code", "interface_code"]
    per_item = judged.group_by(cell).agg(n=pl.len(), right=pl.col("right").sum())
    silent = trials.filter(~pl.col("failed") & ~pl.col("answered").fill_null(True))
    passing = {
        "flips_format": _flips(known.filter(pl.col("format").is_not_null()), [*cell, "arrangement"]),
        "flips_order": _flips(known, [*cell, "format"]),
        "flips_interface": _by_interface(known),
        "unread": silent.select(cell),
        "never": per_item.filter(pl.col("right") == 0),
        "always": per_item.filter(pl.col("right") == pl.col("n")),
        "failed": trials.filter("failed").select(cell),
    }
    for bit, (name, _, _) in enumerate(FILTERS):
        rows, columns = _places(passing[name])
        flags[rows, columns] |= 1 << bit
    counts = np.zeros((2, items, interfaces), np.uint16)
    rows, columns = _places(per_item)
    counts[0, rows, columns] = per_item["n"].to_numpy()
    counts[1, rows, columns] = per_item["right"].to_numpy()
    return ItemFlags(flags, counts[0], counts[1])


def _flips(judged: pl.DataFrame, same: Sequence[str]) -> pl.DataFrame:
    """Items that are right and wrong among trials in which all of these are the same."""
    return (
        judged.group_by(same)
        .agg(pl.col("right").any().alias("any"), pl.col("right").all().alias("all"))
        .filter(pl.col("any") & ~pl.col("all"))
    )


def _by_interface(known: pl.DataFrame) -> pl.DataFrame:
    shown = known.filter(pl.col("format").is_not_null())
    groups = _flips(shown, ["item_code", "format", "arrangement"]).select("item_code", "format", "arrangement")
    return shown.join(groups, on=groups.columns, how="semi").select("item_code", "interface_code").unique()


def _places(cells: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return cells["item_code"].to_numpy(), cells["interface_code"].to_numpy()
