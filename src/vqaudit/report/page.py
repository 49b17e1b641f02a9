"""The page: one HTML file about one run or several, in which nothing is fetched and only its own script runs.

Knows runs and templates. Computes no figure: `analysis` does, and the terminal shows the same ones. Every text that a
template prints passes through `printable` and is escaped; what the explorer shows is set as text by its script.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vqaudit.errors import AnalysisError, EngineUnavailable
from vqaudit.records import RunTables, write_text
from vqaudit.report import charts, digits, story
from vqaudit.report.endings import HEADER as ENDINGS_HEADER
from vqaudit.report.names import run_names
from vqaudit.report.policy import content_policy, page_script, page_style
from vqaudit.report.untrusted import printable
from vqaudit.report.views import comparison_view, run_view

__all__ = ["render_page", "write_page"]

_BREAKS = re.compile(r" (?=%|pp\b)|(?<=\d,) (?=[−+\d.]+\])|(?<=\bn) (?== \d)|(?<=\bn =) (?=\d)")
"""Blanks within a figure."""


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
    environment = _environment()
    names = run_names(runs)
    views = [
        run_view(tables, name=name, place=place, runs=len(runs), seed=seed)
        for place, (tables, name) in enumerate(zip(runs, names, strict=True))
    ]
    script, style = page_script(), page_style()
    return environment.get_template("page.html").render(
        runs=views,
        compared=comparison_view(runs, names, seed=seed) if len(runs) > 1 else None,
        story=story,
        digits=digits,
        endings_header=ENDINGS_HEADER,
        script=script,
        style=style,
        policy=content_policy(script=script, style=style),
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
    made.filters["ours"] = _ours
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
    return _ours(picture.svg)


def _ours(text: str) -> Any:
    """Passes markup, script or style of this package through."""
    from markupsafe import Markup

    return Markup(text)
