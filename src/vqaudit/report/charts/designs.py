"""A picture of designs: what each costs, and how far it is from the full grid.

Knows rows of a benchmark. Computes no figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vqaudit.report.charts.drawing import BLUE, GREY, ORANGE, PLOT_WIDTH, Picture, data, draw, load_altair

__all__ = ["DesignCost", "cost_and_error"]


class DesignCost(NamedTuple):
    """One design at one cost."""

    design: str
    passes: float
    """Trials per item."""
    error: float
    """Mean absolute error of the grid accuracy, in percentage points."""


def cost_and_error(rows: Sequence[DesignCost], *, title: str) -> Picture:
    """Returns mean error against cost, both on logarithmic axes, one line per design.

    Args:
        rows: Designs; an error of 0 (the grid) cannot stand on a logarithmic axis and is in the table alone.
        title: What it shows, as one sentence.

    Raises:
        EngineUnavailable: The packages of the extra `report` are not installed.
    """
    alt = load_altair()
    shown = [row._asdict() for row in rows if row.error > 0]
    names = list(dict.fromkeys(row.design for row in rows))
    colour = alt.Color("design:N", sort=names, scale=alt.Scale(range=[ORANGE, BLUE, GREY]))
    x = alt.X("passes:Q", title="passes over the items", scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=5))
    y = alt.Y("error:Q", title="mean error, pp", scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=5))
    base = alt.Chart(data(shown)).encode(x=x, y=y, color=colour)
    chart = alt.layer(base.mark_line(), base.mark_point(filled=True, size=55, opacity=1))
    return Picture(
        title=title,
        svg=draw(chart.properties(width=2 * PLOT_WIDTH, height=PLOT_WIDTH), title=title),
        header=("design", "passes", "mean error, pp"),
        rows=tuple((row.design, f"{row.passes:g}", f"{row.error:.2f}") for row in rows),
    )
