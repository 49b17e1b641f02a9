"""Pictures of choices: which position is chosen, and which interface reads what.

Knows rows of a summary. Computes no figure but shares of counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vqaudit.analysis.interfaces import InterfaceRow
from vqaudit.analysis.selection import PositionRow
from vqaudit.report.charts.drawing import (
    BLUE,
    INK,
    ORANGE,
    PLOT_WIDTH,
    ROW_HEIGHT,
    Picture,
    data,
    dots,
    draw,
    line_at,
    load_altair,
    percent_axis,
    sized,
)
from vqaudit.report.charts.formats import in_per_cent
from vqaudit.report.digits import UNKNOWN, count, difference, interval, pct
from vqaudit.report.story import position_shares
from vqaudit.report.untrusted import printable

__all__ = ["first_positions", "interface_accuracies", "position_choice"]


def position_choice(positions: Sequence[PositionRow]) -> Picture | None:
    """Returns how often each position is chosen, beside where the right options stand; None where none was chosen."""
    shares = position_shares(positions)
    standing = sum(share.answers or 0.0 for share in shares)
    if not standing or any(share.frequency is None for share in shares):
        return None
    rows = [
        {"name": s.name, "chosen": 100 * (s.frequency or 0.0), "stands": 100 * (s.answers or 0.0) / standing}
        for s in shares
    ]
    title = "Selection frequency of each position (bars), and where the right options stand (lines): even"
    if any(abs(row["stands"] - 100 / len(rows)) > 0.05 for row in rows):
        title = title.removesuffix(": even")
    return Picture(
        title=title,
        svg=draw(_bars_and_ticks(rows), title=title),
        header=("position", "shown", "chosen", "right option there", "accuracy there"),
        rows=tuple((s.name, count(s.shown), pct(s.chosen), pct(s.answers), pct(s.right)) for s in shares),
    )


def _bars_and_ticks(rows: Sequence[dict[str, Any]]) -> Any:
    alt = load_altair()
    most = max(max(row["chosen"], row["stands"]) for row in rows)
    high = min(100.0, 10 * (most // 10 + 1))
    y = alt.Y("name:N", title="position", sort=[row["name"] for row in rows])
    base = alt.Chart(data(rows))
    bars = base.mark_bar(color=BLUE, height={"band": 0.7}).encode(
        y=y, x=percent_axis("chosen", "selection frequency, %", high=high)
    )
    ticks = base.mark_tick(color=INK, thickness=3, size=ROW_HEIGHT).encode(y=y, x="stands:Q")
    return alt.layer(bars, ticks).properties(width=PLOT_WIDTH, height=alt.Step(ROW_HEIGHT + 4))


def interface_accuracies(interfaces: Mapping[str, InterfaceRow]) -> Picture | None:
    """Returns accuracy by interface with its interval, chance as a line."""
    shown = {name: row for name, row in interfaces.items() if row.accuracy.value is not None}
    if not shown:
        return None
    rows = [{"name": name, **in_per_cent(row.accuracy)} for name, row in shown.items()]
    alt = load_altair()
    chart = dots(x=percent_axis("value", "accuracy, %"), order=list(shown)).properties(data=data(rows))
    by_chance = [row.chance for row in shown.values() if row.chance is not None]
    title = "Accuracy by interface with 95 % intervals"
    if by_chance:
        chart, title = sized(alt.layer(line_at(100 * by_chance[0]), chart)), f"{title}; the line is chance"
    return Picture(
        title=title,
        svg=draw(chart, title=title),
        header=("interface", "accuracy", "chance", "below the best aligned", "ID mass", "verdict"),
        rows=tuple(_interface_row(name, row) for name, row in shown.items()),
    )


def _interface_row(name: str, row: InterfaceRow) -> tuple[str, ...]:
    mass = UNKNOWN if row.id_mass is None else pct(row.id_mass.value)
    return name, interval(row.accuracy), pct(row.chance), difference(row.gap), mass, row.verdict or UNKNOWN


def first_positions(interfaces: Mapping[str, InterfaceRow]) -> Picture | None:
    """Returns the first-position rate of each interface beside the share of right options that stand there."""
    shown = {name: row for name, row in interfaces.items() if row.first_position_rate.value is not None}
    if not shown:
        return None
    rows = [
        {"name": name, **in_per_cent(row.first_position_rate), "stands": _times_100(row.answer_first_rate.value)}
        for name, row in shown.items()
    ]
    alt = load_altair()
    y = alt.Y("name:N", title=None, sort=[printable(name) for name in shown])
    ticks = alt.Chart().mark_tick(color=INK, thickness=3, size=ROW_HEIGHT - 4).encode(y=y, x="stands:Q")
    axis = percent_axis("value", "first position, % of trials")
    chart = alt.layer(dots(x=axis, order=list(shown), colour=ORANGE), ticks, data=data(rows))
    title = "First-position rate by interface (dots), and where the right options stand first (lines)"
    return Picture(
        title=title,
        svg=draw(sized(chart), title=title),
        header=("interface", "chose the first position", "right option there", "difference"),
        rows=tuple(
            (
                name,
                interval(row.first_position_rate),
                interval(row.answer_first_rate),
                difference(row.first_position_excess),
            )
            for name, row in shown.items()
        ),
    )


def _times_100(value: float | None) -> float | None:
    return None if value is None else 100 * value
