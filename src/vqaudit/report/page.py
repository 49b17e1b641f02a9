"""The page: one HTML file about one run or several, without scripts and without anything fetched.

Knows runs, findings and templates. Computes no figure: `analysis` does, and the terminal shows the same ones. Every
text that a template prints passes through `printable` and is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vqaudit.analysis import Comparison, Summary, compare, summarise
from vqaudit.errors import AnalysisError, EngineUnavailable
from vqaudit.records import RunTables, write_text
from vqaudit.report import charts, digits, story
from vqaudit.report.examples import Examples, pick_examples
from vqaudit.report.facts import cost_rows, run_facts, token_rows
from vqaudit.report.untrusted import bare_name, printable

__all__ = ["render_page", "write_page"]

_BREAKS = re.compile(r" (?=%|pp\b)|(?<=\d,) (?=[−+\d.]+\])|(?<=\bn) (?== \d)|(?<=\bn =) (?=\d)")
"""Blanks within a figure."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunView:
    """What the template of a run is given."""

    anchor: str
    name: str
    summary: Summary
    pictures: dict[str, charts.Picture]
    """Name -> picture; those that the run cannot draw are absent."""
    examples: Examples
    facts: list[tuple[str, str]]
    tokens: list[tuple[str, str]]
    costs: list[tuple[str, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparisonView:
    """What the template of a comparison is given."""

    comparison: Comparison | None
    pictures: dict[str, charts.Picture]
    reason: str | None
    """Why the runs cannot be compared, where they cannot."""


def write_page(runs: Sequence[RunTables], path: str | Path, *, seed: int = 0) -> Path:
    """Writes the page and returns its path.

    Args:
        runs: At least one, each from `RunTables.load`.
        path: The HTML file to write; written whole or not at all.
        seed: Of the analysis: the same records and seed give the same page.

    Raises:
        AnalysisError: No run, or a run that holds nothing.
        EngineUnavailable: The packages of the extra `report` are not installed.
        RecordError: The file cannot be written.

    Example:
        >>> from vqaudit.records import RunTables
        >>> write_page([RunTables.load("runs/demo")], "page.html")  # doctest: +SKIP
        PosixPath('page.html')
    """
    target = Path(path)
    write_text(target, render_page(runs, seed=seed))
    return target


def render_page(runs: Sequence[RunTables], *, seed: int = 0) -> str:
    """Returns the page as text; arguments and errors as for `write_page`."""
    if not runs:
        raise AnalysisError("a page needs at least one run directory")
    template = _environment().get_template("page.html")
    names = _names(runs)
    views = [_run_view(tables, name, place, seed) for place, (tables, name) in enumerate(zip(runs, names, strict=True))]
    return template.render(
        runs=views, compared=_compared(runs, names, seed) if len(runs) > 1 else None, story=story, digits=digits
    )


def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise EngineUnavailable("the page", extra="report") from error
    made = Environment(
        loader=PackageLoader("vqaudit.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["tied"] = tied
    made.filters["svg"] = _svg
    return made


def _shown(value: Any) -> Any:
    """Refuses what no reader should see, and makes text fit to show; markup of ours passes."""
    if value is None or value != value:
        raise AnalysisError(f"the page was about to print {value!r} as a figure; please report this as a bug")
    return printable(value) if type(value) is str else value


def tied(text: str) -> str:
    r"""Returns a sentence of ours in which no line break parts a number from its unit or the bounds of an interval.

    Example:
        >>> tied("41.3 % [38.0, 44.7] of items, 3.0 pp")
        '41.3\xa0% [38.0,\xa044.7] of items, 3.0\xa0pp'
    """
    return _BREAKS.sub("\xa0", text)


def _svg(picture: charts.Picture) -> Any:
    """Passes a picture's markup through; vega has escaped every text in it."""
    from markupsafe import Markup

    return Markup(picture.svg)


def _names(runs: Sequence[RunTables]) -> list[str]:
    models = [bare_name(tables.manifest.model) for tables in runs]
    named = [
        model if models.count(model) == 1 else f"{model} ({tables.path.name})"
        for model, tables in zip(models, runs, strict=True)
    ]
    return [name if named.count(name) == 1 else f"{name} #{place + 1}" for place, name in enumerate(named)]


def _run_view(tables: RunTables, name: str, place: int, seed: int) -> RunView:
    summary = summarise(tables, seed=seed, details=False)
    return RunView(
        anchor=f"run-{place + 1}",
        name=name,
        summary=summary,
        pictures=_run_pictures(summary),
        examples=pick_examples(tables, interface=summary.main_interface),
        facts=run_facts(tables.manifest),
        tokens=token_rows(tables.manifest),
        costs=cost_rows(summary),
    )


def _run_pictures(summary: Summary) -> dict[str, charts.Picture]:
    levels = {story.FACTOR_LABELS.get(name, name): story.factor_parts(summary, name) for name in summary.factors}
    formats, categories = summary.formats or [], summary.categories or []
    drawn = {
        "accuracy": charts.accuracy_heatmap(formats) if formats else None,
        "coverage": charts.coverage_heatmap(formats),
        "levels": charts.level_accuracies(levels, title="Accuracy by level of each factor, with 95 % intervals"),
        "replies": charts.coverage_bars(levels, title="What replies are, by level of each factor"),
        "positions": charts.position_choice(summary.selection.positions),
        "interfaces": charts.interface_accuracies(summary.interfaces),
        "first": charts.first_positions(summary.interfaces),
        "categories": charts.level_accuracies(
            {"category": categories}, title="Accuracy by category, with 95 % intervals"
        ),
    }
    return _drawn(drawn)


def _compared(runs: Sequence[RunTables], names: Sequence[str], seed: int) -> ComparisonView:
    try:
        comparison = compare(runs, names=names, seed=seed)
    except AnalysisError as error:
        return ComparisonView(comparison=None, pictures={}, reason=str(error))
    ranks = comparison.format_ranks
    drawn = {
        "ranking": charts.run_ranking(comparison),
        "differences": charts.run_differences(comparison),
        "ranks": None if ranks is None else charts.format_rank_bars(ranks),
    }
    return ComparisonView(comparison=comparison, pictures=_drawn(drawn), reason=None)


def _drawn(pictures: dict[str, charts.Picture | None]) -> dict[str, charts.Picture]:
    return {name: picture for name, picture in pictures.items() if picture is not None}
