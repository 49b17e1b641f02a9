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
from vqaudit.report.charts.said import over
from vqaudit.report.digits import UNKNOWN, count, difference, interval, pct
from vqaudit.report.story import position_shares
from vqaudit.report.untrusted import printable

__all__ = ["first_positions", "interface_accuracies", "position_choice"]

_EVEN = 2.0
"""Percentage points within which a position counts as chosen as often as it should be."""


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
    even = all(abs(row["stands"] - 100 / len(rows)) <= 0.05 for row in rows)
    trials = sum(share.shown for share in shares)
    title = _position_title(rows)
    return Picture(
        title=title,
        caption="Selection frequency of each position: chosen of shown, adding to 100 % (bars); where right options "
        f"stand (lines{', evenly' if even else ''}). {count(max(s.shown for s in shares))} trials of items that may be "
        f"permuted, {count(trials)} options shown.",
        svg=draw(_bars_and_ticks(rows), title=title),
        header=("position", "shown", "chosen", "right option there", "accuracy there"),
        rows=tuple((s.name, count(s.shown), pct(s.chosen), pct(s.answers), pct(s.right)) for s in shares),
    )


def _position_title(rows: Sequence[dict[str, Any]]) -> str:
    far = max(rows, key=lambda row: abs(row["chosen"] - row["stands"]))
    if abs(far["chosen"] - far["stands"]) < _EVEN:
        return "Every position is chosen about as often as right options stand there"
    more = "more" if far["chosen"] > far["stands"] else "less"
    return (
        f"Position {far['name']} is chosen {more} often than right options stand there: "
        f"{pct(far['chosen'] / 100)} against {pct(far['stands'] / 100)}"
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
    if by_chance:
        chart = sized(alt.layer(line_at(100 * by_chance[0]), chart))
    title = _interface_title(shown)
    return Picture(
        title=title,
        caption=f"Accuracy by interface with 95 % intervals{'; the line is chance' if by_chance else ''}; "
        f"{over(row.accuracy for row in shown.values())}.",
        svg=draw(chart, title=title),
        header=("interface", "accuracy", "chance", "below the best aligned", "ID mass", "verdict"),
        rows=tuple(_interface_row(name, row) for name, row in shown.items()),
    )


def _interface_title(shown: Mapping[str, InterfaceRow]) -> str:
    if len(shown) == 1:
        name, row = next(iter(shown.items()))
        return f"{name} reads {interval(row.accuracy)}"
    low = min(shown, key=lambda name: shown[name].accuracy.value or 0.0)
    high = max(shown, key=lambda name: shown[name].accuracy.value or 0.0)
    ends = [f"{pct(shown[name].accuracy.value)} by {name}" for name in (low, high)]
    return f"The same model scores {ends[0]} and {ends[1]}"


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
    title = _first_title(shown)
    return Picture(
        title=title,
        caption="Share of trials that chose the first position (dots, 95 % intervals), and in which the right option "
        f"stands there (lines); {over(row.first_position_rate for row in shown.values())}.",
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


def _first_title(shown: Mapping[str, InterfaceRow]) -> str:
    fond = [name for name, row in shown.items() if (row.first_position_excess.low or 0.0) > 0]
    if not fond:
        return "No interface chooses the first position more often than it is right, as far as these items tell"
    most = max(fond, key=lambda name: shown[name].first_position_excess.value or 0.0)
    return f"{most} chooses the first position too often: {difference(shown[most].first_position_excess)}"


def _times_100(value: float | None) -> float | None:
    return None if value is None else 100 * value
