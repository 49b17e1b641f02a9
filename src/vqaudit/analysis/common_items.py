"""Runs over the same items: what each has of them, which of them all hold alike, and what sets the runs apart.

Knows run directories. Knows no rank and no interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.designs import FORMAT_DESIGNS, MainTrials, main_trials, planned_trials
from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.grouped import item_means
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables

__all__ = ["Common", "Entry", "apart", "common_items", "entries_of", "measure_of", "told_apart"]

_CONTENT = ("question", "options", "answer")


class Entry(NamedTuple):
    """One run of several."""

    name: str
    tables: RunTables
    main: MainTrials
    means: pl.DataFrame
    """Item, its content, its cluster, its mean, its number of trials."""

    def aligned(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Returns the rows of `means` of these items, in their order."""
        return keys.select("item").join(self.means, on="item", maintain_order="left")


class Common(NamedTuple):
    """What all runs hold alike."""

    keys: pl.DataFrame
    """Item, question, options and answer of the items that all runs hold alike, sorted."""
    clusters: NDArray[np.uint32]
    """Of the items, as the first run groups them."""
    values: Floats
    """Runs x items: the item's mean."""
    trials: list[int]
    """By run, of these items."""


def entries_of(runs: Sequence[RunTables], names: Sequence[str] | None) -> list[Entry]:
    """Returns what each run has of its items.

    Raises:
        AnalysisError: Fewer than two runs, names that do not tell them apart, or a run without a headline.
    """
    if len(runs) < 2:
        raise AnalysisError(f"a comparison needs at least two runs, not {len(runs)}")
    labels = list(names) if names is not None else told_apart([run.manifest.model for run in runs], runs)
    if len(labels) != len(runs) or len(set(labels)) != len(labels):
        raise AnalysisError(f"{len(runs)} runs need as many different names, not {labels!r}")
    return [_entry(name, tables) for name, tables in zip(labels, runs, strict=True)]


def told_apart(names: Sequence[str], runs: Sequence[RunTables]) -> list[str]:
    """Returns the names with the run's folder, else its number, where a name does not tell runs apart."""
    named = [
        name if names.count(name) == 1 else f"{name} ({run.path.name})" for name, run in zip(names, runs, strict=True)
    ]
    return [name if named.count(name) == 1 else f"{name} #{place + 1}" for place, name in enumerate(named)]


def _entry(name: str, tables: RunTables) -> Entry:
    frame = analysis_frame(tables)
    main = main_trials(frame, planned_trials(tables, frame))
    if (complaint := main.completeness.complaint) is not None:
        raise AnalysisError(f"run {name!r} has no accuracy to compare: {complaint}")
    names = tables.items.select(
        "item",
        "question",
        pl.col("options").list.join("\x1f"),
        "answer",
        "cluster",
        item_code=pl.int_range(pl.len(), dtype=pl.UInt32),
    )
    means = item_means(main.done, "right").join(names, on="item_code", maintain_order="left")
    if not means.height:
        raise AnalysisError(f"run {name!r} has no accuracy to compare: no trial with a known answer")
    return Entry(name, tables, main, means)


def measure_of(entries: Sequence[Entry]) -> str:
    """Returns what all runs measure: `grid_accuracy`, or the accuracy of the one design that they share.

    Raises:
        AnalysisError: They measure different things.
    """
    estimating = [entry.main.design in FORMAT_DESIGNS for entry in entries]
    if all(estimating):
        return "grid_accuracy"
    designs = {entry.name: entry.main.design for entry in entries}
    if len(set(designs.values())) == 1:
        return f"{entries[0].main.design}_accuracy"
    listed = ", ".join(f"{name}: {design}" for name, design in designs.items())
    raise AnalysisError(
        f"these runs measure different things ({listed}); compare runs with grid or randomised trials, or runs of "
        "one design"
    )


def common_items(entries: Sequence[Entry]) -> Common:
    """Returns the items that all runs hold with the same ID, question, options and answer.

    Raises:
        AnalysisError: There is none.
    """
    keys = entries[0].means.select("item", *_CONTENT)
    for entry in entries[1:]:
        both = keys.join(entry.means.select("item", *_CONTENT), on="item", suffix="_b")
        told = [pl.coalesce(name, f"{name}_b") for name in _CONTENT]
        keys = both.filter([_agree(name) for name in _CONTENT]).select("item", *told)
    keys = keys.sort("item")
    if not keys.height:
        raise AnalysisError(
            f"{', '.join(repr(entry.name) for entry in entries)} have no item in common (the same ID, question, "
            "options and answer); only runs over the same items can be compared"
        )
    aligned = [entry.aligned(keys) for entry in entries]
    return Common(
        keys=keys,
        clusters=aligned[0]["cluster"].rank("dense").to_numpy().astype(np.uint32),
        values=np.stack([table["mean"].to_numpy() for table in aligned]),
        trials=[int(table["trials"].sum()) for table in aligned],
    )


def _agree(column: str) -> pl.Expr:
    """Whether two runs say the same of an item; one that is silent (an imported log) does not disagree."""
    same = pl.col(column) == pl.col(f"{column}_b")
    return same | pl.col(column).is_null() | pl.col(f"{column}_b").is_null()


def apart(entries: Sequence[Entry], common: Common) -> list[str]:
    """Returns in sentences what sets the runs apart but for their scores."""
    found = []
    for entry in entries:
        lost = entry.means.height - common.keys.height
        if lost:
            found.append(f"{lost} of {entry.means.height} items of {entry.name} are not in every run and are left out")
    interfaces = {entry.main.interface for entry in entries}
    if len(interfaces) > 1:
        found.append(f"the runs were read through different interfaces ({', '.join(sorted(interfaces))})")
    systems = {entry.tables.manifest.system for entry in entries}
    if len(systems) > 1:
        found.append("the runs had different system prompts")
    found.extend(_cluster_warning(entries, common))
    return found


def _cluster_warning(entries: Sequence[Entry], common: Common) -> list[str]:
    # by the first item of each group: names of groups may differ where the groups do not
    rows = (entry.aligned(common.keys).with_row_index("_row") for entry in entries)
    groupings = {tuple(table.select(pl.col("_row").min().over("cluster"))["_row"]) for table in rows}
    if len(groupings) == 1:
        return []
    return [f"the runs group their items differently; the groups of {entries[0].name} are used"]
