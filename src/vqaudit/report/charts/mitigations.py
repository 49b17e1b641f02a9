"""A picture of remedies: how far each is from the grid, and what it costs.

Knows rows of a summary. Computes no figure.
"""

from __future__ import annotations

from vqaudit.analysis.mitigation import Mitigations
from vqaudit.analysis.mitigation.applied import MitigationRow
from vqaudit.report.charts.drawing import Picture, data, dots, draw, line_at, load_altair, percent_axis, reach_of, sized
from vqaudit.report.charts.formats import in_per_cent
from vqaudit.report.digits import UNKNOWN, count, difference, interval
from vqaudit.report.labels import method_label

__all__ = ["method_rows", "remedies"]


def remedies(found: Mitigations) -> Picture | None:
    """Returns each method's distance from the grid accuracy, the cheapest first; None where none has a distance."""
    shown = [
        (name, row) for name, row in _by_cost(found) if row.difference is not None and row.difference.value is not None
    ]
    if not shown:
        return None
    rows = [{"name": _labelled(name, row), **in_per_cent(row.difference)} for name, row in shown if row.difference]
    reach = reach_of(rows)
    axis = percent_axis("value", "minus the grid accuracy, pp", low=-reach, high=reach)
    points = dots(x=axis, order=[row["name"] for row in rows]).properties(data=data(rows))
    chart = sized(load_altair().layer(line_at(0.0), points))
    title = _title(shown)
    gold = f"the {found.gold_design} accuracy ({count(found.gold_passes)} prompts)"
    return Picture(
        title=title,
        caption=f"Accuracy by each method minus {gold}, paired by item, with 95 % intervals, the cheapest first; the "
        f"number is prompts per item. The line is no difference.",
        svg=draw(chart, title=title),
        header=("method", "prompts", "items", "accuracy", "minus the grid", "how"),
        rows=method_rows(found),
    )


def method_rows(found: Mitigations) -> tuple[tuple[str, ...], ...]:
    """Returns the table of methods, those that do not apply last with the reason."""
    rows = [
        (
            method_label(name),
            count(row.passes),
            count(row.items),
            interval(row.accuracy),
            difference(row.difference),
            row.note,
        )
        for name, row in _by_cost(found)
    ]
    missing = [(method_label(name), *([UNKNOWN] * 4), why) for name, why in found.not_applicable.items()]
    return (*rows, *missing)


def _by_cost(found: Mitigations) -> list[tuple[str, MitigationRow]]:
    return sorted(found.methods.items(), key=lambda pair: (pair[1].passes, pair[0]))


def _per_item(row: MitigationRow) -> float:
    return row.passes / row.items if row.items else 0.0


def _prompts(row: MitigationRow) -> str:
    number = f"{_per_item(row):.2g}"
    return f"{number} prompt" if number == "1" else f"{number} prompts"


def _labelled(name: str, row: MitigationRow) -> str:
    return f"{method_label(name)} · {_per_item(row):.2g}"


def _title(shown: list[tuple[str, MitigationRow]]) -> str:
    def error(pair: tuple[str, MitigationRow]) -> float:
        figure = pair[1].difference
        return abs(figure.value) if figure is not None and figure.value is not None else 2.0

    name, row = min(shown, key=error)
    return (
        f"Nearest to the grid is {method_label(name)}, {difference(row.difference)} from it for "
        f"{_prompts(row)} per item"
    )
