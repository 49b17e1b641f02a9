"""What the templates are given: a view of each run, and one of all of them beside each other.

Knows runs, findings and figures. Computes nothing and writes no markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vqaudit.analysis import Comparison, Summary, compare, summarise
from vqaudit.analysis.internals import read_internals
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables
from vqaudit.report import charts
from vqaudit.report.brief import Brief, brief
from vqaudit.report.digits import UNKNOWN, count
from vqaudit.report.endings import ending_rows
from vqaudit.report.examples import Examples, pick_examples
from vqaudit.report.explorer import MAX_PACKED, Explorer, explorer_data
from vqaudit.report.facts import cost_rows, run_facts, token_rows
from vqaudit.report.figures import comparison_figures, run_figures
from vqaudit.report.labels import method_label
from vqaudit.report.movers import Mover, movers

__all__ = ["ComparisonView", "RunView", "comparison_view", "run_view"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunView:
    """What the template of a run is given."""

    anchor: str
    name: str
    summary: Summary
    brief: Brief
    movers: list[Mover]
    pictures: dict[str, charts.Picture]
    """Name -> picture; those that the run cannot draw are absent."""
    methods: tuple[tuple[str, ...], ...]
    """Rows of the table of remedies; empty where the run tells none."""
    endings: list[tuple[str, ...]]
    """Rows of the table of endings; empty where the run tells none."""
    inner: list[str]
    """What probes and readouts found, in sentences."""
    examples: Examples
    explorer: Explorer | None
    facts: list[tuple[str, str]]
    tokens: list[tuple[str, str]]
    costs: list[tuple[str, ...]]

    @property
    def sections(self) -> frozenset[str]:
        """Sections that the run fills, besides those that every run has."""
        shown = {_SECTIONS[name] for name in self.pictures if name in _SECTIONS}
        shown |= {"remedies"} if self.methods else set()
        return frozenset(shown | ({"items"} if self.explorer is not None else set()))


_SECTIONS = {
    "accuracy": "format",
    "levels": "format",
    "positions": "position",
    "interfaces": "interface",
    "probes": "internals",
    "layers": "internals",
    "vocabulary": "internals",
    "confidence": "confidence",
    "categories": "category",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparisonView:
    """What the template of a comparison is given."""

    comparison: Comparison | None
    pictures: dict[str, charts.Picture]
    methods: list[tuple[str, ...]]
    """Whether remedies rank the runs as the grid does; empty where that cannot be told."""
    reason: str | None
    """Why the runs cannot be compared, where they cannot."""


def run_view(tables: RunTables, *, name: str, place: int, runs: int, seed: int) -> RunView:
    """Returns the view of one run.

    Args:
        tables: From `RunTables.load`.
        name: How the page calls it.
        place: Its place among the runs of the page, from 0.
        runs: How many runs share the page, and its size.
        seed: Of the analysis.
    """
    summary = summarise(tables, seed=seed, details=True)
    return RunView(
        anchor=f"run-{place + 1}",
        name=name,
        summary=summary,
        brief=brief(summary),
        movers=movers(summary.effects),
        pictures=run_figures(summary, run=tables.path),
        methods=() if summary.mitigations is None else charts.method_rows(summary.mitigations),
        endings=ending_rows(summary),
        inner=_inner(tables.path),
        examples=pick_examples(tables, interface=summary.main_interface),
        explorer=explorer_data(tables, interface=summary.main_interface, most=MAX_PACKED // runs),
        facts=run_facts(tables.manifest),
        tokens=token_rows(tables.manifest),
        costs=cost_rows(summary),
    )


def _inner(run: Path) -> list[str]:
    found = read_internals(run)
    parts = (found.probe, found.layers, found.readout, found.vocabulary)
    return [sentence for part in parts if part is not None for sentence in part.sentences]


def comparison_view(runs: Sequence[RunTables], names: Sequence[str], *, seed: int) -> ComparisonView:
    """Returns the view of all runs together, or why they cannot be compared."""
    try:
        comparison = compare(runs, names=names, seed=seed, details=True)
    except AnalysisError as error:
        return ComparisonView(comparison=None, pictures={}, methods=[], reason=str(error))
    return ComparisonView(
        comparison=comparison,
        pictures=comparison_figures(comparison),
        methods=_methods(comparison),
        reason=None,
    )


def _methods(comparison: Comparison) -> list[tuple[str, ...]]:
    details = comparison.details
    table = None if details is None else details.mitigations
    if table is None:
        return []
    return [
        (
            method_label(name),
            count(table.passes.get(name, 0)),
            f"{row.mean_error_pp:.1f} pp",
            UNKNOWN if row.spearman is None else f"{row.spearman:.2f}",
            f"{row.correctly_ranked} of {len(table.gold_pct)}",
        )
        for name, row in table.methods.items()
    ]
