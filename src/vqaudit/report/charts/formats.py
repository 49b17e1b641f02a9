"""Pictures of formats: accuracy and coverage of every cell of the grid, and of every factor level.

Knows rows of a summary. Computes no figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vqaudit.analysis.breakdown import FormatRow, Group
from vqaudit.analysis.estimates import Estimate
from vqaudit.report.charts.drawing import (
    BLUE,
    GREY,
    ORANGE,
    PLOT_WIDTH,
    ROW_HEIGHT,
    Picture,
    data,
    dots,
    draw,
    load_altair,
    panels,
    percent_axis,
)
from vqaudit.report.charts.said import accuracy_title, coverage_title, levels_title, most_items, over, replies_title
from vqaudit.report.digits import UNKNOWN, count, interval, pct
from vqaudit.report.story import coverage_parts, in_grid_order
from vqaudit.report.untrusted import printable

__all__ = ["LOW_COVERAGE", "accuracy_heatmap", "coverage_bars", "coverage_heatmap", "in_per_cent", "level_accuracies"]

LOW_COVERAGE = 0.5
"""Below this share of readable replies an accuracy tells more of the reading than of the model; it gets a mark."""
_CELL = 62
_NARROWEST = 20.0
"""Percentage points that the colours span at least, so that noise does not look like a pattern."""


def accuracy_heatmap(formats: Sequence[FormatRow]) -> Picture:
    """Returns accuracy by format: ID sets and delimiters down, separators across; cells with low coverage marked."""
    caption = (
        "Accuracy in per cent by ID set and delimiter (down) and separator (across); "
        f"{over(row.accuracy for row in formats)}."
    )
    picture = _heatmap(formats, [row.accuracy for row in formats], title=accuracy_title(formats), starred=True)
    starred = any(_is_low(row) for row in formats if row.accuracy.value is not None)
    mark = " A star marks formats in which fewer than half of the replies are an ID." if starred else ""
    return replace(picture, caption=caption + mark)


def _is_low(row: FormatRow) -> bool:
    exact = None if row.coverage is None else row.coverage.exact.value
    return exact is not None and exact < LOW_COVERAGE


def coverage_heatmap(formats: Sequence[FormatRow]) -> Picture | None:
    """Returns coverage by format in the same layout, or None where there is none."""
    known = [row for row in formats if row.coverage is not None]
    if not known:
        return None
    picture = _heatmap(
        known,
        [row.coverage.exact for row in known if row.coverage],
        title=coverage_title(known),
        starred=False,
    )
    figures = over(row.coverage.exact for row in known if row.coverage)
    return replace(picture, caption=f"Coverage: per cent of replies that are exactly an ID, by format; {figures}.")


def _heatmap(formats: Sequence[FormatRow], figures: Sequence[Estimate], *, title: str, starred: bool) -> Picture:
    shown = [(row, figure) for row, figure in zip(formats, figures, strict=True) if figure.value is not None]
    low, high = _span([100 * (figure.value or 0.0) for _, figure in shown])
    cells = [_cell(row, figure, low, high, starred) for row, figure in shown]
    return Picture(
        title=title,
        svg=draw(_cells_chart(cells, low, high), title=title),
        header=("format", "accuracy" if starred else "coverage", "coverage" if starred else "needs more tokens"),
        rows=tuple(_table_row(row, figure, starred) for row, figure in shown),
    )


def _cell(row: FormatRow, figure: Estimate, low: float, high: float, starred: bool) -> dict[str, Any]:
    value = 100 * (figure.value or 0.0)
    star = "*" if starred and _is_low(row) else ""
    return {
        "id_set": row.id_set,
        "delimiter": row.delimiter,
        "separator": row.separator,
        "value": value,
        "text": f"{value:.1f}{star}",
        "dark": value < (low + high) / 2,
    }


def _span(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 100.0
    low, high = min(values), max(values)
    middle, half = (low + high) / 2, max((high - low) / 2, _NARROWEST / 2)
    start = min(max(0.0, middle - half), 100.0 - 2 * half)
    return start, start + 2 * half


def _cells_chart(cells: Sequence[dict[str, Any]], low: float, high: float) -> Any:
    alt = load_altair()
    x = alt.X(
        "separator:N",
        title=None,
        sort=in_grid_order(cell["separator"] for cell in cells),
        axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False),
    )
    y = alt.Y(
        "delimiter:N",
        title=None,
        sort=in_grid_order(cell["delimiter"] for cell in cells),
        axis=alt.Axis(domain=False, ticks=False),
    )
    colour = alt.Color("value:Q", legend=None, scale=alt.Scale(scheme="cividis", domain=[low, high]))
    ink = alt.condition("datum.dark", alt.value("white"), alt.value("black"))
    boxes = alt.Chart().mark_rect().encode(x=x, y=y, color=colour)
    texts = alt.Chart().mark_text(fontSize=11).encode(x=x, y=y, text="text:N", color=ink)
    layers = alt.layer(boxes, texts).properties(width=alt.Step(_CELL), height=alt.Step(ROW_HEIGHT))
    row = alt.Row(
        "id_set:N",
        title=None,
        sort=in_grid_order(cell["id_set"] for cell in cells),
        header=alt.Header(labelAngle=0, labelAlign="left", labelFontWeight="bold"),
    )
    return layers.facet(data=data(cells), row=row).properties(spacing=6)


def _table_row(row: FormatRow, figure: Estimate, starred: bool) -> tuple[str, ...]:
    if row.coverage is None:
        return row.format, interval(figure), UNKNOWN
    beside = row.coverage.exact if starred else row.coverage.needs_more_tokens
    return row.format, interval(figure), pct(beside.value)


def level_accuracies(groups: Mapping[str, Sequence[Group]], *, title: str | None = None) -> Picture | None:
    """Returns accuracy by level with its intervals, or None where no accuracy is known.

    Args:
        groups: What the levels are levels of (`ID set`, `category`) -> levels from top to bottom.
        title: What it finds; by default which kind spreads accuracy most, and from where to where.
    """
    everything = [(kind, part) for kind, part in _flat(groups) if part.accuracy.value is not None]
    if not everything:
        return None
    shown = [(kind, part) for kind, part in _flat(most_items(groups)) if part.accuracy.value is not None]
    rows = [{"kind": kind, "name": _name(part), **in_per_cent(part.accuracy)} for kind, part in shown]
    panel = dots(x=percent_axis("value", "accuracy, %"), order=_names(shown))
    said = levels_title(groups) if title is None else title
    left_out = f" The {len(shown)} with most items of {len(everything)}." if len(shown) < len(everything) else ""
    return Picture(
        title=said,
        caption=f"Accuracy with 95 % intervals; {over(part.accuracy for _, part in shown)}.{left_out}",
        svg=draw(panels(panel, rows), title=said),
        header=("", "level", "accuracy", "coverage", "items", "trials"),
        rows=tuple(
            (
                kind,
                _name(part),
                interval(part.accuracy),
                UNKNOWN if part.coverage is None else pct(part.coverage.exact.value),
                count(part.accuracy.n),
                count(part.accuracy.trials),
            )
            for kind, part in everything
        ),
    )


def in_per_cent(estimate: Estimate) -> dict[str, float | None]:
    """Returns value and bounds as data of a chart."""
    parts = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {name: None if part is None else 100 * part for name, part in parts.items()}


def coverage_bars(groups: Mapping[str, Sequence[Group]], *, title: str | None = None) -> Picture | None:
    """Returns what replies are (an ID, cut, something else) by level as bars that fill 100 %, or None."""
    shown = [(kind, part) for kind, part in _flat(groups) if part.coverage is not None]
    if not shown:
        return None
    labels = [figure.label for figure in coverage_parts(shown[0][1].coverage)]
    rows = [
        {"kind": kind, "name": _name(part), "part": f.label, "value": 100 * (f.estimate.value or 0.0), "place": place}
        for kind, part in shown
        for place, f in enumerate(coverage_parts(part.coverage))
    ]
    said = replies_title(shown) if title is None else title
    figures = over(part.coverage.exact for _, part in shown if part.coverage)
    return Picture(
        title=said,
        caption=f"What replies are, in per cent; {figures}.",
        svg=draw(panels(_stack(_names(shown), labels), rows), title=said),
        header=("", "level", *labels),
        rows=tuple(
            (kind, _name(part), *(interval(f.estimate) for f in coverage_parts(part.coverage))) for kind, part in shown
        ),
    )


def _stack(order: Sequence[str], labels: Sequence[str]) -> Any:
    alt = load_altair()
    colours = alt.Scale(domain=list(labels), range=[BLUE, ORANGE, GREY])
    return (
        alt.Chart()
        .mark_bar(height={"band": 0.7})
        .encode(
            y=alt.Y("name:N", title=None, sort=list(order)),
            x=percent_axis("value", "replies, %").stack("zero"),
            color=alt.Color("part:N", scale=colours, legend=alt.Legend(columns=1)),
            order="place:Q",
        )
        .properties(width=PLOT_WIDTH, height=alt.Step(ROW_HEIGHT))
    )


def _flat(groups: Mapping[str, Sequence[Group]]) -> list[tuple[str, Group]]:
    return [(kind, part) for kind, parts in groups.items() for part in parts]


def _name(part: Group) -> str:
    return "(none)" if part.name is None else part.name


def _names(shown: Sequence[tuple[str, Group]]) -> list[str]:
    return [printable(_name(part)) for _, part in shown]
