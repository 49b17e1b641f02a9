"""Several runs over the same items: which is better, and how sure that is.

Knows run directories and which of their items are the same. Knows no statistic: `ranks` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from vqaudit.analysis.closest import closest_formats
from vqaudit.analysis.comparison_details import ComparisonDetails, comparison_details
from vqaudit.analysis.designs import FORMAT_DESIGNS, MainTrials, main_trials, planned_trials
from vqaudit.analysis.draw_table import DrawTable, draw_table, drawn_mean
from vqaudit.analysis.figures import Figure, Row, known
from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.grouped import estimate_items, item_means
from vqaudit.analysis.intervals import Floats
from vqaudit.analysis.mitigation import Calibration
from vqaudit.analysis.ranks import Pair, bootstrap_ranks, format_ranks, paired_comparisons, rank_interval, ranks
from vqaudit.analysis.spread import FormatTable, format_table
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables

__all__ = ["Comparison", "FormatRanks", "RankedRun", "compare", "shared_draws"]

COMPARISON_VERSION = 1
_CONTENT = ("question", "options", "answer")


class RankedRun(Row):
    """One run on the common items."""

    name: str
    model: str
    design: str
    interface: str
    accuracy: Figure
    """Mean over the common items, with the interval for items like these."""
    accuracy_this_dataset: Figure | None = None
    """The same where only the draw is repeated; None but for randomised runs."""
    rank: int
    """1 = best; runs that tie share the better rank."""
    rank_low: int
    """Best rank that the 95 % interval leaves open."""
    rank_high: int
    rank_shares: list[float]
    """Share of bootstrap resamples in which the run has rank 1, 2, ...; sums to 1."""
    p_best: float
    """The first of them."""
    items: int
    """Items of its own, before those that are not common were left out."""


class FormatRanks(Row):
    """Ranks under every format that all runs asked (paper 1, Fig. 3)."""

    formats: int
    counts: dict[str, list[int]]
    """Run -> in how many formats it has rank 1, 2, ..."""
    accuracies: dict[str, dict[str, float]]
    """Format -> run -> accuracy on the common items."""
    spearman: dict[str, float]
    """Format -> correlation of its ranking with that of the mean over formats, average ranks."""
    closest: str
    """The format with the highest of them, the first by name of those that tie: the one to rank these runs by."""
    closest_shares: dict[str, float]
    """Format -> how often it is the closest when clusters of items are drawn again; never: left out."""


class Comparison(Row):
    """What several runs say together. A key that is None has its reason in `reasons`."""

    version: int = COMPARISON_VERSION
    seed: int
    measure: str
    """`grid_accuracy`, or `reference_accuracy` where no run has the other."""
    common_items: int
    common_clusters: int
    left_out: dict[str, int]
    """Run -> its items that not all the others hold, or hold with another question, options or answer."""
    runs: list[RankedRun]
    """Best first."""
    pairs: list[Pair]
    statements: list[str]
    """What can be said at 5 % over all pairs, and which neighbours in the ranking cannot be told apart."""
    statements_this_dataset: list[str] = Field(default_factory=list)
    """The same of the grid's ranking of these very items; none but for randomised runs with the same draws."""
    format_ranks: FormatRanks | None
    details: ComparisonDetails | None = None
    """Only where they were asked for."""
    warnings: list[str] = Field(default_factory=list)
    reasons: dict[str, str] = Field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON values."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """Returns JSON without NaN."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


class _Entry(NamedTuple):
    name: str
    tables: RunTables
    main: MainTrials
    means: pl.DataFrame
    """Item, its content, its cluster, its mean, its number of trials."""


class _Common(NamedTuple):
    keys: pl.DataFrame
    """Item, question, options and answer of the items that all runs hold alike, sorted."""
    clusters: Floats
    values: Floats
    """Runs x items."""
    trials: list[int]


def compare(
    runs: Sequence[RunTables],
    *,
    names: Sequence[str] | None = None,
    seed: int = 0,
    details: bool = False,
    calibration: Calibration | Mapping[str, Calibration] | None = None,
) -> Comparison:
    """Ranks runs by their accuracy on the items that all of them hold.

    Args:
        runs: At least two; each with grid or randomised trials, or all of them without.
        names: What to call them; the model where None, with the directory where models repeat.
        seed: Of the bootstrap over clusters of items: the same records and seed give the same numbers.
        details: Whether to tell remedies, leaders by format and effects too.
        calibration: Where PriDe's priors come from, for all runs or by name; a tenth of the items where None.

    Raises:
        AnalysisError: Fewer than two runs, runs that measure different things, a run too incomplete for a
            headline, or no item in common.
    """
    entries = _entries(runs, names)
    measure = _measure(entries)
    common = _common_items(entries)
    codes = common.clusters.astype(np.uint32)
    labels = [entry.name for entry in entries]
    reasons: dict[str, str] = {}
    drawn = _drawn(entries, common, reasons)
    pairs = paired_comparisons(labels, common.values, clusters=codes, trials=common.trials, drawn=drawn)
    ranked = _ranked(entries, common, bootstrap_ranks(common.values, clusters=codes, seed=seed))
    by_format = _format_ranks(entries, common, reasons, seed=seed)
    tables = {entry.name: entry.tables for entry in entries}
    known_formats = None if by_format is None else by_format.accuracies
    return Comparison(
        seed=seed,
        measure=measure,
        common_items=common.keys.height,
        common_clusters=np.unique(codes).size,
        left_out={entry.name: entry.means.height - common.keys.height for entry in entries},
        runs=ranked,
        pairs=pairs,
        statements=_statements(ranked, pairs),
        statements_this_dataset=[] if drawn is None else _statements(ranked, pairs, this_dataset=True),
        format_ranks=by_format,
        details=comparison_details(
            tables, common.keys["item"], accuracies=known_formats, calibration=calibration, seed=seed
        )
        if details
        else None,
        warnings=_warnings(entries, common),
        reasons=reasons,
    )


def shared_draws(runs: Sequence[RunTables], *, names: Sequence[str] | None = None) -> list[DrawTable]:
    """Returns the outcomes by draw of randomised runs on the items that all of them hold.

    Raises:
        AnalysisError: As `compare`, or the runs did not draw the same.
    """
    entries = _entries(runs, names)
    reasons: dict[str, str] = {}
    found = _drawn(entries, _common_items(entries), reasons)
    if found is None:
        raise AnalysisError(reasons["statements_this_dataset"])
    return found


def _entries(runs: Sequence[RunTables], names: Sequence[str] | None) -> list[_Entry]:
    if len(runs) < 2:
        raise AnalysisError(f"a comparison needs at least two runs, not {len(runs)}")
    labels = list(names) if names is not None else _labels(runs)
    if len(labels) != len(runs) or len(set(labels)) != len(labels):
        raise AnalysisError(f"{len(runs)} runs need as many different names, not {labels!r}")
    return [_entry(name, tables) for name, tables in zip(labels, runs, strict=True)]


def _labels(runs: Sequence[RunTables]) -> list[str]:
    models = [run.manifest.model for run in runs]
    labels = [
        model if models.count(model) == 1 else f"{model} ({run.path.name})"
        for model, run in zip(models, runs, strict=True)
    ]
    return [label if labels.count(label) == 1 else f"{label} #{place + 1}" for place, label in enumerate(labels)]


def _entry(name: str, tables: RunTables) -> _Entry:
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
    return _Entry(name, tables, main, means)


def _measure(entries: Sequence[_Entry]) -> str:
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


def _common_items(entries: Sequence[_Entry]) -> _Common:
    keys = entries[0].means.select("item", *_CONTENT)
    for entry in entries[1:]:
        both = keys.join(entry.means.select("item", *_CONTENT), on="item", suffix="_b")
        keys = both.filter([_agree(name) for name in _CONTENT]).select("item", *_CONTENT)
    keys = keys.sort("item")
    if not keys.height:
        raise AnalysisError(
            f"{', '.join(repr(entry.name) for entry in entries)} have no item in common (the same ID, question, "
            "options and answer); only runs over the same items can be compared"
        )
    aligned = [keys.select("item").join(entry.means, on="item", maintain_order="left") for entry in entries]
    return _Common(
        keys=keys,
        clusters=aligned[0]["cluster"].rank("dense").to_numpy().astype(float),
        values=np.stack([table["mean"].to_numpy() for table in aligned]),
        trials=[int(table["trials"].sum()) for table in aligned],
    )


def _agree(column: str) -> pl.Expr:
    """Whether two runs say the same of an item; one that is silent (an imported log) does not disagree."""
    same = pl.col(column) == pl.col(f"{column}_b")
    return same | pl.col(column).is_null() | pl.col(f"{column}_b").is_null()


def _ranked(entries: Sequence[_Entry], common: _Common, shares: Floats) -> list[RankedRun]:
    places = ranks(common.values.mean(axis=1))
    rows = [
        RankedRun(
            name=entry.name,
            model=entry.tables.manifest.model,
            design=entry.main.design,
            interface=entry.main.interface,
            **_accuracies(entry, common.keys),
            rank=place,
            rank_low=rank_interval(share)[0],
            rank_high=rank_interval(share)[1],
            rank_shares=[float(part) for part in share],
            p_best=float(share[0]),
            items=entry.means.height,
        )
        for entry, place, share in zip(entries, places, shares, strict=True)
    ]
    return sorted(rows, key=lambda row: (row.rank, row.name))


def _accuracies(entry: _Entry, keys: pl.DataFrame) -> dict[str, Any]:
    means = keys.select("item").join(entry.means, on="item", maintain_order="left")
    table = draw_table(entry.main) if entry.main.design == "randomised" else None
    if table is None:
        return {"accuracy": estimate_items(means.with_columns(cluster_code=pl.col("cluster").rank("dense")))}
    both = drawn_mean(table.of_items(means["item_code"].to_list()))
    return {"accuracy": both.items_like_these, "accuracy_this_dataset": known(both.this_dataset)}


def _drawn(entries: Sequence[_Entry], common: _Common, reasons: dict[str, str]) -> list[DrawTable] | None:
    """Outcomes by draw of the common items, where all runs are randomised and drew the same."""
    tables = [draw_table(entry.main) if entry.main.design == "randomised" else None for entry in entries]
    found = [
        table.of_items(common.keys.select("item").join(entry.means, on="item", maintain_order="left")["item_code"])
        for entry, table in zip(entries, tables, strict=True)
        if table is not None
    ]
    if len(found) == len(entries) and all(found[0].same_draws(other) for other in found[1:]):
        return found
    reasons["statements_this_dataset"] = (
        "differences on this very dataset need randomised runs with the same draws (the same seed, items and draws)"
    )
    return None


def _statements(ranked: Sequence[RankedRun], pairs: Sequence[Pair], *, this_dataset: bool = False) -> list[str]:
    whose = "by the grid of these very items" if this_dataset else "on these items"
    found, told = [], set()
    for pair in sorted(pairs, key=lambda pair: (_told(pair, this_dataset)[1], pair.a, pair.b)):
        better, p_adjusted = _told(pair, this_dataset)
        if better is None or pair.difference.value is None:
            continue
        worse, gap = pair.b if better == pair.a else pair.a, 100 * abs(pair.difference.value)
        shown = "< 0.001" if p_adjusted < 0.001 else f"= {p_adjusted:.3f}"
        found.append(f"{better} is better than {worse} by {gap:.1f} pp (adjusted p {shown})")
        told.add(frozenset((pair.a, pair.b)))
    for first, second in pairwise(ranked):
        if frozenset((first.name, second.name)) not in told:
            found.append(f"{first.name} and {second.name} cannot be told apart {whose}")
    return found


def _told(pair: Pair, this_dataset: bool) -> tuple[str | None, float]:
    better, p_adjusted = pair.better, pair.p_adjusted
    if this_dataset:
        better, p_adjusted = pair.better_this_dataset, pair.p_adjusted_this_dataset
    return better, 1.0 if p_adjusted is None else p_adjusted


def _format_ranks(
    entries: Sequence[_Entry], common: _Common, reasons: dict[str, str], *, seed: int
) -> FormatRanks | None:
    without = [entry.name for entry in entries if entry.main.design != "grid"]
    if without:
        reasons["format_ranks"] = f"ranks by format need a grid of every run; none of {', '.join(without)}"
        return None
    tables = [_table(entry, common.keys) for entry in entries]
    shared = [name for name in tables[0].formats if all(name in table.formats for table in tables)]
    means = np.array([[table.accuracies()[table.formats.index(name)] for name in shared] for table in tables])
    if not shared or np.isnan(means).any():
        reasons["format_ranks"] = "the runs have no format in common that was asked of the common items"
        return None
    labels = [entry.name for entry in entries]
    counts = format_ranks(means)
    cells = np.stack([table.means[:, [table.formats.index(name) for name in shared]] for table in tables])
    near = closest_formats(np.nan_to_num(cells), clusters=tables[0].clusters, seed=seed)
    return FormatRanks(
        formats=len(shared),
        counts={label: [int(count) for count in row] for label, row in zip(labels, counts, strict=True)},
        accuracies={
            name: {label: float(means[run, column]) for run, label in enumerate(labels)}
            for column, name in enumerate(shared)
        },
        spearman={name: float(value) for name, value in zip(shared, near.spearman, strict=True)},
        closest=shared[int(near.spearman.argmax())],
        closest_shares={name: float(share) for name, share in zip(shared, near.shares, strict=True) if share > 0},
    )


def _table(entry: _Entry, keys: pl.DataFrame) -> FormatTable:
    codes = keys.select("item").join(entry.means, on="item")["item_code"]
    return format_table(entry.main.done.filter(pl.col("item_code").is_in(codes)))


def _warnings(entries: Sequence[_Entry], common: _Common) -> list[str]:
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


def _cluster_warning(entries: Sequence[_Entry], common: _Common) -> list[str]:
    groupings = {
        tuple(common.keys.select("item").join(entry.means, on="item", maintain_order="left")["cluster"].rank("dense"))
        for entry in entries
    }
    if len(groupings) == 1:
        return []
    return [f"the runs group their items differently; the groups of {entries[0].name} are used"]
