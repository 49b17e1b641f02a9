"""A picture of effects: what each level does to accuracy, with both kinds of interval.

Knows rows of a summary. Computes no figure.
"""

from __future__ import annotations

from typing import Any

from vqaudit.analysis.effects import Effects
from vqaudit.analysis.effects.findings import FactorEffects, LevelEffect
from vqaudit.report.charts.drawing import (
    BLUE,
    PLOT_WIDTH,
    ROW_HEIGHT,
    Picture,
    draw,
    line_at,
    load_altair,
    panels,
    percent_axis,
    reach_of,
)
from vqaudit.report.charts.formats import in_per_cent
from vqaudit.report.digits import bounds, count, difference, probability
from vqaudit.report.labels import factor_label
from vqaudit.report.movers import level_label, movers

__all__ = ["level_effects"]


def level_effects(effects: Effects) -> Picture:
    """Returns the deviation of every level from its factor's mean (paper 1, Fig. 4), one panel per factor."""
    flat = [(name, factor, level) for name, factor in effects.factors.items() for level in factor.levels]
    rows = [_row(name, level) for name, _, level in flat]
    told = [mover for mover in movers(effects) if mover.told]
    title = told[0].sentence if told else "No level makes a difference that these items can tell"
    exact = all(level.deviation_this_dataset.low is None for _, _, level in flat)
    second = (
        "for this dataset it is exact: the whole grid was asked" if exact else "thick: this dataset, draws repeated"
    )
    return Picture(
        title=title,
        caption="Accuracy at each level minus the mean over its factor's levels, in percentage points. Thin: 95 % "
        f"interval for items like these; {second}. {effects.model}; {count(effects.clusters)} independent items, "
        f"{count(effects.trials)} trials.",
        svg=draw(_chart(rows), title=title),
        header=("", "level", "deviation, items like these", "this dataset", "against the baseline", "by a logit", "p"),
        rows=tuple(_table_row(name, factor, level) for name, factor, level in flat),
    )


def _row(name: str, level: LevelEffect) -> dict[str, Any]:
    inner = in_per_cent(level.deviation_this_dataset)
    return {
        "kind": factor_label(name),
        "name": level_label(name, level.level),
        **in_per_cent(level.deviation),
        "inner_low": inner["low"],
        "inner_high": inner["high"],
    }


def _table_row(name: str, factor: FactorEffects, level: LevelEffect) -> tuple[str, ...]:
    return (
        factor_label(name),
        level_label(name, level.level),
        difference(level.deviation),
        bounds(level.deviation_this_dataset, signed=True) or "exact",
        "baseline" if level.effect is None else difference(level.effect),
        difference(level.logit_effect),
        probability(factor.p_value),
    )


def _chart(rows: list[dict[str, Any]]) -> Any:
    alt = load_altair()
    reach = reach_of(rows)
    y = alt.Y("name:N", title=None, sort=[row["name"] for row in rows])
    x = percent_axis("value", "deviation, pp", low=-reach, high=reach)
    thin = alt.Chart().mark_rule(strokeWidth=1.5, color=BLUE).encode(y=y, x="low:Q", x2="high:Q")
    thick = (
        alt.Chart().mark_rule(strokeWidth=5, opacity=0.45, color=BLUE).encode(y=y, x="inner_low:Q", x2="inner_high:Q")
    )
    points = alt.Chart().mark_point(size=50, filled=True, opacity=1, color=BLUE).encode(y=y, x=x)
    layers = alt.layer(line_at(0.0), thin, thick, points).properties(width=PLOT_WIDTH, height=alt.Step(ROW_HEIGHT))
    return panels(layers, rows)
