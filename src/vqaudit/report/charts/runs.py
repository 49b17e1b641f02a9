"""Pictures of several runs: their ranking, their paired differences, their ranks over formats.

Knows a comparison. Computes no figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vqaudit.analysis.comparison import Comparison, FormatRanks
from vqaudit.report.charts.drawing import (
    INK,
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
from vqaudit.report.digits import count, difference, interval, pct, probability
from vqaudit.report.untrusted import printable

__all__ = ["format_rank_bars", "run_differences", "run_ranking"]


def run_ranking(comparison: Comparison) -> Picture:
    """Returns accuracy by run, best first, with intervals."""
    rows = [{"name": run.name, **in_per_cent(run.accuracy)} for run in comparison.runs]
    title = "Accuracy of each run on the items that all of them hold, with 95 % intervals"
    order = [run.name for run in comparison.runs]
    chart = dots(x=percent_axis("value", "accuracy, %"), order=order).properties(data=data(rows))
    return Picture(
        title=title,
        svg=draw(chart, title=title),
        header=("rank", "95 % interval of the rank", "run", "accuracy", "best in"),
        rows=tuple(
            (str(r.rank), f"{r.rank_low} to {r.rank_high}", r.name, interval(r.accuracy), pct(r.p_best))
            for r in comparison.runs
        ),
    )


def run_differences(comparison: Comparison) -> Picture | None:
    """Returns the paired difference of every two runs with its interval, and where there is none a line."""
    shown = [pair for pair in comparison.pairs if pair.difference.value is not None]
    if not shown:
        return None
    rows = [{"name": f"{pair.a} - {pair.b}", **in_per_cent(pair.difference)} for pair in shown]
    reach = _reach(rows)
    axis = percent_axis("value", "difference, pp", low=-reach, high=reach)
    points = dots(x=axis, order=[row["name"] for row in rows]).properties(data=data(rows))
    chart = load_altair().layer(line_at(0.0), points)
    title = "Paired differences of accuracy with 95 % intervals; the line is no difference"
    return Picture(
        title=title,
        svg=draw(sized(chart), title=title),
        header=("run", "minus", "difference", "p, adjusted for all pairs", "told apart"),
        rows=tuple(
            (p.a, p.b, difference(p.difference), probability(p.p_adjusted), "yes" if p.better else "no") for p in shown
        ),
    )


def _reach(rows: Sequence[dict[str, Any]]) -> float:
    bounds = [abs(row[key]) for row in rows for key in ("value", "low", "high") if row[key] is not None]
    return 5 * (max(bounds) // 5 + 1)


def format_rank_bars(ranks: FormatRanks) -> Picture:
    """Returns in how many formats each run has which rank (paper 1, Fig. 3)."""
    alt = load_altair()
    places = [f"rank {place + 1}" for place in range(len(ranks.counts))]
    rows = [
        {"name": name, "rank": places[place], "formats": number, "place": place}
        for name, numbers in ranks.counts.items()
        for place, number in enumerate(numbers)
    ]
    title = f"In how many of {ranks.formats} formats each run has which rank"
    chart = (
        alt.Chart(data(rows))
        .mark_bar(height={"band": 0.7}, stroke=INK, strokeWidth=0.5)
        .encode(
            y=alt.Y("name:N", title=None, sort=[printable(name) for name in ranks.counts]),
            x=alt.X("formats:Q", title="formats", scale=alt.Scale(domain=[0, ranks.formats], nice=False)),
            color=alt.Color("rank:N", sort=places, scale=alt.Scale(scheme="cividis", reverse=True)),
            order="place:Q",
        )
    )
    return Picture(
        title=title,
        svg=draw(sized(chart), title=title),
        header=("run", *places),
        rows=tuple((name, *(count(number) for number in numbers)) for name, numbers in ranks.counts.items()),
    )
