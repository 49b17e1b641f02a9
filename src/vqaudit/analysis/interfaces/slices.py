"""Interfaces by slice of the items: by number of options, and with or without a picture (paper 2, section 3).

Knows items and outcomes. Says which slices are too small to be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import polars as pl

from vqaudit.analysis.accuracy import grid_accuracy
from vqaudit.analysis.figures import Figure, Row, known
from vqaudit.analysis.grouped import paired_means, trial_mean
from vqaudit.analysis.selection import first_position
from vqaudit.records import RunTables

__all__ = ["SliceRow", "slices"]

TOO_FEW = 50
"""Independent items below which a slice is marked: an interval of about 28 pp width. Paper 2 leaves out one of 38."""


class SliceRow(Row):
    """One interface on one slice of the items."""

    by: Literal["options", "picture"]
    level: str
    """The number of options, or `with picture`, `text only`."""
    interface: str
    items: int
    too_small: bool
    """Whether the slice has too few independent items to be read."""
    accuracy: Figure
    first_position_rate: Figure | None
    answer_first_rate: Figure | None
    unanswered: Figure
    """Share of trials that chose no option: parse failures of a generation."""
    no_answer: int
    """The same as a number of trials."""
    below_baseline: Figure | None
    """Accuracy of the baseline minus this one's, paired by item, in [-1, 1]; None for the baseline itself."""


def slices(tables: RunTables, parts: Mapping[str, pl.DataFrame], *, baseline: str | None) -> list[SliceRow]:
    """Returns every interface on every slice; a cut that leaves all items in one slice is left out.

    Args:
        tables: The run.
        parts: Trials by interface, on their common ground.
        baseline: The interface that others are compared with.
    """
    pictures = tables.items.select(
        item_code=pl.int_range(pl.len(), dtype=pl.UInt32), _pictures=pl.col("images").list.len().fill_null(0)
    )
    marked = {
        name: part.join(pictures, on="item_code", how="left", maintain_order="left").with_columns(
            _picture=pl.when(pl.col("_pictures") > 0).then(pl.lit("with picture")).otherwise(pl.lit("text only")),
            _options=pl.col("n_options").cast(pl.String),
        )
        for name, part in parts.items()
    }
    return [*_cut(marked, "options", baseline), *_cut(marked, "picture", baseline)]


def _cut(
    parts: Mapping[str, pl.DataFrame], by: Literal["options", "picture"], baseline: str | None
) -> Iterator[SliceRow]:
    column = f"_{by}"
    levels = sorted({str(level) for part in parts.values() for level in part[column].drop_nulls().unique()})
    for level in levels if len(levels) > 1 else ():
        inside = {name: part.filter(pl.col(column) == level) for name, part in parts.items()}
        base = None if baseline is None else inside.get(baseline)
        for name, part in inside.items():
            if part.height:
                yield _row(by, level, name, part, None if name == baseline else base)


def _row(
    by: Literal["options", "picture"], level: str, name: str, part: pl.DataFrame, base: pl.DataFrame | None
) -> SliceRow:
    first = first_position(part)
    silent = part.with_columns(_none=~pl.col("answered"))
    accuracy = grid_accuracy(part)
    return SliceRow(
        by=by,
        level=level,
        interface=name,
        items=part["item_code"].n_unique(),
        too_small=part["cluster_code"].n_unique() < TOO_FEW,
        accuracy=accuracy,
        first_position_rate=known(first.rate),
        answer_first_rate=known(first.answer_rate),
        unanswered=trial_mean(silent, "_none"),
        no_answer=int(silent["_none"].sum()),
        below_baseline=None if base is None else known(paired_means(base, part, "right")),
    )
