"""All figures of a run or of a comparison, by name: what the page shows, and what is saved as files.

Knows summaries and charts. Computes no figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from vqaudit.analysis import Comparison, Summary, compare, summarise
from vqaudit.analysis.internals import read_internals
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables
from vqaudit.report import charts, story
from vqaudit.report.labels import factor_label
from vqaudit.report.names import run_names

__all__ = ["all_figures", "comparison_figures", "find_figure", "run_figures"]


def run_figures(summary: Summary, *, run: Path | None = None) -> dict[str, charts.Picture]:
    """Returns the figures that a run's summary can fill, in the order of the page.

    Args:
        summary: From `summarise`, with details for all of them.
        run: The run directory, for what stands beside the records (`internals/`); None leaves that out.
    """
    levels = {factor_label(name): story.factor_parts(summary, name) for name in summary.factors}
    formats, groups = summary.formats or [], summary.confidence_groups
    drawn = {
        "score": charts.score_scale(summary),
        "effects": None if summary.effects is None else charts.level_effects(summary.effects),
        "accuracy": charts.accuracy_heatmap(formats) if formats else None,
        "coverage": charts.coverage_heatmap(formats),
        "levels": charts.level_accuracies(levels),
        "replies": charts.coverage_bars(levels),
        "positions": charts.position_choice(summary.selection.positions),
        "interfaces": charts.interface_accuracies(summary.interfaces),
        "first-positions": charts.first_positions(summary.interfaces),
        **_internals(run),
        "confidence": None if groups is None else charts.confidence_by_level(groups.reference),
        "confidence-held-out": None
        if groups is None or groups.held_out is None
        else charts.confidence_by_level(groups.held_out),
        "remedies": None if summary.mitigations is None else charts.remedies(summary.mitigations),
        "categories": charts.level_accuracies({"category": summary.categories or []}),
    }
    return _drawn(drawn)


def _internals(run: Path | None) -> dict[str, charts.Picture | None]:
    if run is None:
        return {}
    found = read_internals(run)
    return {
        "probes": None if found.probe is None else charts.recovered_accuracies(found.probe),
        "layers": None if found.layers is None else charts.layer_accuracies(found.layers),
        "vocabulary": None if found.vocabulary is None else charts.id_mass_by_layer(found.vocabulary),
    }


def comparison_figures(comparison: Comparison) -> dict[str, charts.Picture]:
    """Returns the figures of several runs: their ranking, paired differences, ranks over formats."""
    ranks = comparison.format_ranks
    drawn = {
        "ranking": charts.run_ranking(comparison),
        "differences": charts.run_differences(comparison),
        "ranks": None if ranks is None else charts.format_rank_bars(ranks),
    }
    return _drawn(drawn)


def all_figures(runs: Sequence[RunTables], *, seed: int = 0) -> dict[str, charts.Picture]:
    """Returns every figure of these runs: those of each, and of several also those of all together.

    Of one run they have their own names; of several, `run-1-accuracy` and so on, and `ranking`, `differences`, `ranks`.

    Args:
        runs: From `RunTables.load`.
        seed: Of the analysis.
    """
    found: dict[str, charts.Picture] = {}
    if len(runs) > 1:
        found |= comparison_figures(compare(runs, names=run_names(runs), seed=seed))
    for place, tables in enumerate(runs):
        prefix = f"run-{place + 1}-" if len(runs) > 1 else ""
        figures = run_figures(summarise(tables, seed=seed), run=tables.path)
        found |= {f"{prefix}{name}": picture for name, picture in figures.items()}
    return found


def find_figure(figures: Mapping[str, charts.Picture], name: str) -> charts.Picture:
    """Returns one figure.

    Raises:
        AnalysisError: The run has none of that name; the message lists those that it has.
    """
    if name not in figures:
        raise AnalysisError(f"this run has no figure {name!r}; it has {_listed(list(figures))}")
    return figures[name]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _drawn(pictures: Mapping[str, charts.Picture | None]) -> dict[str, charts.Picture]:
    return {name: picture for name, picture in pictures.items() if picture is not None}
