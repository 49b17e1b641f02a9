"""Several runs over the same items: which is better, and how sure that is.

Knows runs over common items. Knows no statistic: `ranks` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field

from vqaudit.analysis.common_items import Common, Entry, apart, common_items, entries_of, measure_of
from vqaudit.analysis.comparison_details import ComparisonDetails, comparison_details
from vqaudit.analysis.comparison_formats import FormatRanks, ranks_by_format
from vqaudit.analysis.draw_table import DrawTable, draw_table, drawn_mean
from vqaudit.analysis.figures import Figure, Row, known
from vqaudit.analysis.grouped import estimate_items
from vqaudit.analysis.mitigation import Calibration
from vqaudit.analysis.ranks import Pair, bootstrap_ranks, paired_comparisons, rank_interval, ranks
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables

__all__ = ["Comparison", "FormatRanks", "RankedRun", "compare", "shared_draws"]

COMPARISON_VERSION = 1


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
    entries = entries_of(runs, names)
    measure = measure_of(entries)
    common = common_items(entries)
    reasons: dict[str, str] = {}
    drawn = _drawn(entries, common, reasons)
    ranked = _ranked(entries, common, seed)
    pairs = _paired(entries, common, drawn)
    by_format = ranks_by_format(entries, common, reasons, seed=seed)
    accuracies = None if by_format is None else by_format.accuracies
    more = {"accuracies": accuracies, "calibration": calibration, "seed": seed}
    tables = {entry.name: entry.tables for entry in entries}
    return Comparison(
        seed=seed,
        measure=measure,
        common_items=common.keys.height,
        common_clusters=np.unique(common.clusters).size,
        left_out={entry.name: entry.means.height - common.keys.height for entry in entries},
        runs=ranked,
        pairs=pairs,
        statements=_statements(ranked, pairs),
        statements_this_dataset=[] if drawn is None else _statements(ranked, pairs, this_dataset=True),
        format_ranks=by_format,
        details=comparison_details(tables, common.keys["item"], **more) if details else None,
        warnings=apart(entries, common),
        reasons=reasons,
    )


def shared_draws(runs: Sequence[RunTables], *, names: Sequence[str] | None = None) -> list[DrawTable]:
    """Returns the outcomes by draw of randomised runs on the items that all of them hold.

    Raises:
        AnalysisError: As `compare`, or the runs did not draw the same.
    """
    entries = entries_of(runs, names)
    reasons: dict[str, str] = {}
    found = _drawn(entries, common_items(entries), reasons)
    if found is None:
        raise AnalysisError(reasons["statements_this_dataset"])
    return found


def _paired(entries: Sequence[Entry], common: Common, drawn: Sequence[DrawTable] | None) -> list[Pair]:
    names = [entry.name for entry in entries]
    return paired_comparisons(names, common.values, clusters=common.clusters, trials=common.trials, drawn=drawn)


def _ranked(entries: Sequence[Entry], common: Common, seed: int) -> list[RankedRun]:
    shares = bootstrap_ranks(common.values, clusters=common.clusters, seed=seed)
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


def _accuracies(entry: Entry, keys: pl.DataFrame) -> dict[str, Any]:
    means = entry.aligned(keys)
    table = draw_table(entry.main) if entry.main.design == "randomised" else None
    if table is None:
        return {"accuracy": estimate_items(means.with_columns(cluster_code=pl.col("cluster").rank("dense")))}
    both = drawn_mean(table.of_items(means["item_code"].to_list()))
    return {"accuracy": both.items_like_these, "accuracy_this_dataset": known(both.this_dataset)}


def _drawn(entries: Sequence[Entry], common: Common, reasons: dict[str, str]) -> list[DrawTable] | None:
    """Outcomes by draw of the common items, where all runs are randomised and drew the same."""
    tables = [draw_table(entry.main) if entry.main.design == "randomised" else None for entry in entries]
    found = [
        table.of_items(entry.aligned(common.keys)["item_code"])
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
