"""A picture of the vocabulary by layer: when the model turns to the IDs, or away from them.

Knows findings of `vqaudit internals`. Computes no figure.
"""

from __future__ import annotations

from typing import Any

from vqaudit.analysis.internals import VocabularyFindings
from vqaudit.report.charts.drawing import BLUE, GREY, ORANGE, PLOT_WIDTH, Picture, data, draw, load_altair
from vqaudit.report.digits import UNKNOWN, count, pct
from vqaudit.report.untrusted import printable

__all__ = ["id_mass_by_layer"]

_HEIGHT = 170


def id_mass_by_layer(found: VocabularyFindings) -> Picture | None:
    """Returns the ID mass that each layer would give, by condition (paper 2, Eq. 8); None for one layer."""
    shown = {name: rows for name, rows in found.conditions.items() if len(rows) > 1}
    if not shown:
        return None
    rows = [
        {"condition": name, "layer": row.layer, "value": 100 * row.id_mass.value}
        for name, layers in shown.items()
        for row in layers
        if row.id_mass.value is not None
    ]
    title = _title(found)
    return Picture(
        title=title,
        caption="Probability of the shown IDs over the whole vocabulary, as each layer would say through the model's "
        f"own last norm and output embedding; {count(found.trials)} trials.",
        svg=draw(_chart(rows, list(shown)), title=title),
        header=("condition", "layer", "ID mass", "watched words", "rank of the right ID", "P(right ID) among IDs"),
        rows=tuple(
            (
                name,
                str(row.layer),
                pct(row.id_mass.value),
                UNKNOWN if row.watch_mass is None else pct(row.watch_mass.value),
                UNKNOWN if row.right_rank.value is None else f"{row.right_rank.value:,.1f}",
                pct(row.right_probability.value),
            )
            for name, layers in found.conditions.items()
            for row in layers
        ),
    )


def _title(found: VocabularyFindings) -> str:
    last = {name: rows[-1].id_mass.value for name, rows in found.conditions.items() if rows}
    said = ", ".join(f"{pct(value)} under {name}" for name, value in last.items())
    return f"At the last layer the IDs have a probability of {said}"


def _chart(rows: list[dict[str, Any]], names: list[str]) -> Any:
    alt = load_altair()
    shown = [printable(name) for name in names]
    colour = alt.Color("condition:N", sort=shown, scale=alt.Scale(range=[BLUE, ORANGE, GREY]))
    shape = alt.Shape("condition:N", sort=shown)
    x = alt.X("layer:Q", title="layer", axis=alt.Axis(tickMinStep=1, format="d"))
    y = alt.Y("value:Q", title="ID mass, %", scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(tickCount=5))
    base = alt.Chart(data(rows)).encode(x=x, y=y, color=colour)
    points = base.mark_point(filled=True, size=45, opacity=1).encode(shape=shape)
    return alt.layer(base.mark_line(), points).properties(width=PLOT_WIDTH, height=_HEIGHT)
