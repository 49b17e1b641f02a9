"""A picture of confidence groups: what levels change where the model is sure, and where it is not.

Knows rows of a summary. Computes no figure.
"""

from __future__ import annotations

from typing import Any

from vqaudit.analysis.confidence import ConfidenceGroup, ConfidenceRanking
from vqaudit.report.charts.drawing import (
    BLUE,
    GREY,
    ORANGE,
    PLOT_WIDTH,
    Picture,
    draw,
    load_altair,
    panels,
    percent_axis,
)
from vqaudit.report.digits import count, interval, pct
from vqaudit.report.labels import factor_label
from vqaudit.report.story import in_grid_order

__all__ = ["confidence_by_level"]

_BAR = 9
_NAMES = {"top": "surest fifth", "middle": "middle", "bottom": "least sure fifth"}


def confidence_by_level(ranking: ConfidenceRanking) -> Picture:
    """Returns the accuracy by level in each confidence group (paper 1, Fig. 7): quartiles over items, and the mean."""
    groups = ranking.groups
    rows = [row for group in groups for row in _rows(group)]
    title = _title(groups)
    sizes = ", ".join(f"{_NAMES[group.group]} {count(group.items)}" for group in groups)
    apart = " That format's own trials are left out." if ranking.left_out else ""
    return Picture(
        title=title,
        caption=f"Accuracy by level: bars hold the middle half of items, dots are means. Items are ranked by the score "
        f"of the right ID in {ranking.format} ({ranking.interface}).{apart} Items: {sizes}.",
        svg=draw(_chart(rows), title=title),
        header=("", "level", "group", "accuracy", "quartiles over items"),
        rows=tuple(_table_row(name, level, group) for name, level, group in _flat(groups)),
    )


def _title(groups: list[ConfidenceGroup]) -> str:
    by_name = {group.group: group for group in groups}
    parts = [
        f"{interval(by_name[name].accuracy)} of the {_NAMES[name]}" for name in ("top", "bottom") if name in by_name
    ]
    return f"Over all formats the model is right in {' and '.join(parts)} of its items"


def _flat(groups: list[ConfidenceGroup]) -> list[tuple[str, Any, ConfidenceGroup]]:
    found = []
    for factor in groups[0].levels:
        names = in_grid_order(level.level for level in groups[0].levels[factor])
        for name in names:
            for group in groups:
                found += [(factor, level, group) for level in group.levels[factor] if level.level == name]
    return found


def _rows(group: ConfidenceGroup) -> list[dict[str, Any]]:
    return [
        {
            "kind": factor_label(factor),
            "name": level.level,
            "group": _NAMES[group.group],
            "value": None if level.accuracy.value is None else 100 * level.accuracy.value,
            "low": 100 * level.quartiles[0],
            "high": 100 * level.quartiles[2],
        }
        for factor, levels in group.levels.items()
        for level in levels
    ]


def _table_row(factor: str, level: Any, group: ConfidenceGroup) -> tuple[str, ...]:
    return (
        factor_label(factor),
        level.level,
        _NAMES[group.group],
        interval(level.accuracy),
        ", ".join(pct(value) for value in level.quartiles),
    )


def _chart(rows: list[dict[str, Any]]) -> Any:
    alt = load_altair()
    names = list(_NAMES.values())
    y = alt.Y("name:N", title=None, sort=in_grid_order(row["name"] for row in rows))
    offset = alt.YOffset("group:N", sort=names)
    colour = alt.Color(
        "group:N", scale=alt.Scale(domain=names, range=[BLUE, GREY, ORANGE]), legend=alt.Legend(columns=3)
    )
    bars = (
        alt.Chart().mark_bar(height=5, opacity=0.45).encode(y=y, yOffset=offset, x="low:Q", x2="high:Q", color=colour)
    )
    x = percent_axis("value", "accuracy, %")
    points = alt.Chart().mark_point(size=28, filled=True, opacity=1).encode(y=y, yOffset=offset, x=x, color=colour)
    layers = alt.layer(bars, points).properties(width=PLOT_WIDTH, height=alt.Step(_BAR, **{"for": "offset"}))
    return panels(layers, rows)
