"""Pictures of internals: what a probe reads from each layer, and how far it lies above the model's own scores.

Knows findings of `vqaudit internals`. Computes no figure.
"""

from __future__ import annotations

from typing import Any

from vqaudit.analysis.internals import LayersFindings, ProbeFindings
from vqaudit.report.charts.drawing import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PLOT_WIDTH,
    ROW_HEIGHT,
    Picture,
    data,
    draw,
    load_altair,
    percent_axis,
)
from vqaudit.report.charts.formats import in_per_cent
from vqaudit.report.charts.said import over
from vqaudit.report.digits import UNKNOWN, difference, interval, pct
from vqaudit.report.untrusted import printable

__all__ = ["layer_accuracies", "recovered_accuracies"]

_HEIGHT = 170
_COLOURS = (BLUE, ORANGE, GREY, "#009E73", "#CC79A7", "#B8860B")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def layer_accuracies(found: LayersFindings) -> Picture | None:
    """Returns the accuracy of a probe of each layer by condition, with intervals, chance as a line (paper 2, Fig. 3).

    None where a single layer is kept.
    """
    if len(found.layers) < 2:
        return None
    rows = [
        {"layer": row.layer, "condition": name, **in_per_cent(figure)}
        for row in found.layers
        for name, figure in row.accuracy.items()
    ]
    title = _layer_title(found)
    figures = [figure for row in found.layers for figure in row.accuracy.values()]
    names = list(found.layers[0].accuracy)
    return Picture(
        title=title,
        caption="Accuracy of a linear probe of the last position's state by layer: 0 is what enters the first block, "
        f"the last is what the output embedding multiplies. 95 % intervals; the dashed line is a random choice, "
        f"{pct(found.chance)}; {over(figures)}, {found.fitting.seeds} seeds.",
        svg=draw(_lines(rows, names, 100 * found.chance), title=title),
        header=("layer", *names, *(f"{found.direct} minus {name}" for name in found.gaps)),
        rows=tuple(
            (
                str(row.layer),
                *(interval(row.accuracy[name]) for name in names),
                *(difference(gaps[place].gap) for gaps in found.gaps.values()),
            )
            for place, row in enumerate(found.layers)
        ),
    )


def _layer_title(found: LayersFindings) -> str:
    last = found.layers[-1]
    ends = ", ".join(f"{pct(figure.value)} under {name}" for name, figure in last.accuracy.items())
    return f"From the last layer, a linear probe reads {ends}"


def _lines(rows: list[dict[str, Any]], names: list[str], chance: float) -> Any:
    alt = load_altair()
    shown = [printable(name) for name in names]
    colours = alt.Scale(domain=shown, range=list(_COLOURS[: len(shown)]))
    colour = alt.Color("condition:N", scale=colours, legend=alt.Legend(symbolOpacity=1))
    shape = alt.Shape("condition:N", scale=alt.Scale(domain=shown, range=list(_SHAPES[: len(shown)])))
    last = max(row["layer"] for row in rows)
    ticks = list(range(0, last + 1, max(1, last // 6)))
    x = alt.X("layer:Q", title="layer", axis=alt.Axis(values=ticks, format="d"), scale=alt.Scale(domain=[0, last]))
    scale = alt.Scale(domain=[0, 100], nice=False)
    y = alt.Y("value:Q", title="probe accuracy, %", scale=scale)
    base = alt.Chart(data(rows))
    line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour)
    points = base.mark_point(size=45, filled=True, opacity=1).encode(x=x, y=y, color=colour, shape=shape)
    rules = base.mark_rule(strokeWidth=2, opacity=0.6).encode(
        x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour
    )
    level = alt.Chart(data([{"at": chance}])).mark_rule(color=INK, strokeDash=[4, 3], opacity=0.7).encode(y="at:Q")
    return alt.layer(level, rules, line, points).properties(width=PLOT_WIDTH, height=_HEIGHT)


def recovered_accuracies(found: ProbeFindings) -> Picture:
    """Returns, by condition, the accuracy of the model's own ID scores and of a probe of the same states."""
    read = {"ID scores": "native", "linear probe": "probe"}
    rows = [
        {"name": name, "reader": reader, **in_per_cent(getattr(row, field))}
        for name, row in found.conditions.items()
        for reader, field in read.items()
    ]
    title = _recovered_title(found)
    figures = [figure for row in found.conditions.values() for figure in (row.native, row.probe)]
    return Picture(
        title=title,
        caption="Accuracy of the model's own ID scores and of a linear probe of the same states, on the same test "
        "trials, with 95 % intervals; the dashed line is a random choice, "
        f"{pct(found.chance)}; {over(figures)}, {found.fitting.seeds} seeds.",
        svg=draw(_pairs(rows, list(found.conditions), list(read), 100 * found.chance), title=title),
        header=("condition", *read, "probe minus scores", "Gamma"),
        rows=tuple(
            (
                name,
                interval(row.native),
                interval(row.probe),
                difference(row.delta),
                difference(found.gammas[name].gamma) if name in found.gammas else UNKNOWN,
            )
            for name, row in found.conditions.items()
        ),
    )


def _recovered_title(found: ProbeFindings) -> str:
    name, row = max(found.conditions.items(), key=lambda pair: pair[1].delta.value or 0.0)
    if row.delta.low is None or row.delta.low <= 0:
        return "No probe reads more than the model's own ID scores do"
    return (
        f"Under {name}, a probe reads {pct(row.probe.value)} from states whose own scores give {pct(row.native.value)}"
    )


def _pairs(rows: list[dict[str, Any]], names: list[str], readers: list[str], chance: float) -> Any:
    alt = load_altair()
    colour = alt.Color(
        "reader:N", scale=alt.Scale(domain=readers, range=[ORANGE, BLUE]), legend=alt.Legend(symbolOpacity=1)
    )
    shape = alt.Shape("reader:N", scale=alt.Scale(domain=readers, range=["square", "circle"]))
    y = alt.Y("name:N", title=None, sort=[printable(name) for name in names])
    offset = alt.YOffset("reader:N", sort=readers)
    base = alt.Chart(data(rows))
    rules = base.mark_rule(strokeWidth=3, opacity=0.6).encode(y=y, yOffset=offset, x="low:Q", x2="high:Q", color=colour)
    points = base.mark_point(size=55, filled=True, opacity=1).encode(
        y=y, yOffset=offset, x=percent_axis("value", "accuracy, %"), color=colour, shape=shape
    )
    level = alt.Chart(data([{"at": chance}])).mark_rule(color=INK, strokeDash=[4, 3], opacity=0.7).encode(x="at:Q")
    return alt.layer(level, rules, points).properties(width=PLOT_WIDTH, height=alt.Step(ROW_HEIGHT))
