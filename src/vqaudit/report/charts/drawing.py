"""How pictures are drawn: one look, one size, text in the colour of the page around them.

Knows altair and SVG. Knows no finding.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from vqaudit.errors import EngineUnavailable
from vqaudit.report.untrusted import printable

__all__ = [
    "BLUE",
    "GREY",
    "INK",
    "ORANGE",
    "PLOT_WIDTH",
    "ROW_HEIGHT",
    "Picture",
    "data",
    "dots",
    "draw",
    "line_at",
    "load_altair",
    "panels",
    "percent_axis",
    "reach_of",
    "sized",
]

INK = "currentColor"
"""Whatever the text around the picture has: dark on light, light on dark."""
# after Okabe and Ito, told apart by colour-blind readers; light and dark enough to stand out from white and near-black
BLUE = "#2181BF"
ORANGE = "#D55E00"
GREY = "#7F868F"
PLOT_WIDTH = 225
"""Pixels of the plot: with its labels it fits a phone without shrinking."""
ROW_HEIGHT = 20
_LABEL_LIMIT = 120
_DARK = "#1b1f24"
_ROOT = re.compile(r"^<svg [^>]*?(width=\"[\d.]+\" height=\"[\d.]+\" viewBox=\"[^\"]*\")[^>]*>")

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """One picture, and the same in words."""

    title: str
    """What it finds, as one sentence."""
    svg: str
    """One `<svg>` element without references to anything outside."""
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Its figures as a table, for those who do not see it."""
    caption: str = ""
    """What is drawn, and over how many items and trials."""

    def standalone(self) -> str:
        """Returns the picture as a file of its own: dark on white, whatever shows it.

        Example:
            >>> Picture(title="t", svg='<svg width="1">x</svg>', header=(), rows=()).standalone()
            '<svg xmlns="http://www.w3.org/2000/svg" color="#1b1f24" width="1">x</svg>'
        """
        return self.svg.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" color="{_DARK}" ', 1)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        title, caption = escape(printable(self.title)), escape(printable(self.caption))
        return f"<figure><figcaption><b>{title}</b><br>{caption}</figcaption>{self.svg}</figure>"


def load_altair() -> Any:
    """Returns the module `altair`.

    Raises:
        EngineUnavailable: altair or vl-convert is not installed.
    """
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise EngineUnavailable("drawing pictures", extra="report") from error
    return altair


def data(rows: Rows) -> Any:
    """Returns rows as a chart's data, their text made fit to show."""
    values = [{key: printable(v) if isinstance(v, str) else v for key, v in row.items()} for row in rows]
    return load_altair().Data(values=values)


def percent_axis(field: str, title: str, *, low: float = 0.0, high: float = 100.0) -> Any:
    """Returns an x channel in per cent (or percentage points)."""
    alt = load_altair()
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    return alt.X(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5))


def dots(*, x: Any, order: Sequence[str], colour: str = BLUE, split: str | None = None) -> Any:
    """Returns a chart without data: values as dots on their intervals, one row per name.

    Its data have `name`, `value`, `low` and `high`; a null bound draws no interval.

    Args:
        x: Channel of `value`.
        order: Names from top to bottom.
        colour: Of dots and intervals.
        split: Names are written in two lines, broken here; None keeps them in one.
    """
    alt = load_altair()
    axis = alt.Axis() if split is None else alt.Axis(labelExpr=f"split(datum.label, '{split}')")
    y = alt.Y("name:N", title=None, sort=[printable(name) for name in order], axis=axis)
    rules = alt.Chart().mark_rule(strokeWidth=3, opacity=0.6, color=colour).encode(y=y, x="low:Q", x2="high:Q")
    points = alt.Chart().mark_point(size=55, filled=True, opacity=1, color=colour).encode(y=y, x=x)
    return sized(alt.layer(rules, points))


def sized(chart: Any, *, rows: float = 1.0) -> Any:
    """Returns the chart with the common width, and its rows so many times the common height."""
    return chart.properties(width=PLOT_WIDTH, height=load_altair().Step(ROW_HEIGHT * rows))


def line_at(value: float) -> Any:
    """Returns a dashed vertical line to lay under a chart."""
    alt = load_altair()
    return alt.Chart(data([{"at": value}])).mark_rule(color=INK, strokeDash=[4, 3], opacity=0.7).encode(x="at:Q")


def panels(chart: Any, rows: Rows) -> Any:
    """Returns the chart once for each `kind` of its rows, one panel below the other, each under its name."""
    alt = load_altair()
    kinds = list(dict.fromkeys(printable(row["kind"]) for row in rows))
    row = alt.Row(
        "kind:N",
        title=None,
        sort=kinds,
        header=alt.Header(orient="top", labelAnchor="start", labelFontWeight="bold", labelPadding=2),
    )
    return chart.facet(data=data(rows), row=row).resolve_scale(y="independent").properties(spacing=10)


def draw(chart: Any, *, title: str) -> str:
    """Returns a chart as SVG in the common look.

    Args:
        chart: An altair chart.
        title: What it shows; becomes the text alternative.
    """
    look = (
        chart.configure(background="transparent", aria=False, font="system-ui, sans-serif", padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            **{f"{part}Color": INK for part in ("label", "title", "grid", "domain", "tick")},
            gridOpacity=0.15,
            domainOpacity=0.4,
            tickOpacity=0.4,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            labelLimit=_LABEL_LIMIT,
        )
        .configure_header(labelColor=INK, titleColor=INK, labelFontSize=11)
        .configure_legend(
            labelColor=INK, titleColor=INK, labelFontSize=11, orient="top", title=None, labelLimit=_LABEL_LIMIT
        )
    )
    buffer = io.StringIO()
    look.save(buffer, format="svg")
    return _for_a_page(buffer.getvalue(), printable(title))


def _for_a_page(svg: str, title: str) -> str:
    """Gives the root a role and a name, and takes its namespaces away, which HTML does not need."""
    text = escape(title, quote=True)
    return _ROOT.sub(
        lambda root: f'<svg {root[1]} role="img" aria-label="{text}"><title>{text}</title>', svg.strip(), count=1
    )


def reach_of(rows: Sequence[Mapping[str, Any]]) -> float:
    """Returns how far an axis of differences goes to both sides: the next multiple of 5 beyond every bound, in pp.

    Example:
        >>> reach_of([{"value": -3.0, "low": -7.5, "high": 1.5}]), reach_of([])
        (10.0, 5.0)
    """
    ends = [abs(row[key]) for row in rows for key in ("value", "low", "high") if row[key] is not None]
    return 5.0 * (max(ends, default=0.0) // 5 + 1)
