"""Pictures of several runs: their ranking, their paired differences, their ranks over formats.

Knows a comparison. Computes no figure.
"""

from __future__ import annotations

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
    reach_of,
    sized,
)
from vqaudit.report.charts.formats import in_per_cent
from vqaudit.report.charts.said import over
from vqaudit.report.digits import count, difference, interval, pct, probability
from vqaudit.report.untrusted import printable

__all__ = ["format_rank_bars", "run_differences", "run_ranking"]

_MINUS = " minus "
"""Between the names of a pair; the label breaks there."""


def run_ranking(comparison: Comparison) -> Picture:
    """Returns accuracy by run, best first, with intervals."""
    rows = [{"name": run.name, **in_per_cent(run.accuracy)} for run in comparison.runs]
    title = _ranking_title(comparison)
    order = [run.name for run in comparison.runs]
    chart = dots(x=percent_axis("value", "accuracy, %"), order=order).properties(data=data(rows))
    return Picture(
        title=title,
        caption="Accuracy of each run on the items that all of them hold, with 95 % intervals; "
        f"{over(run.accuracy for run in comparison.runs)}.",
        svg=draw(chart, title=title),
        header=("rank", "95 % interval of the rank", "run", "accuracy", "best in"),
        rows=tuple(
            (str(r.rank), f"{r.rank_low} to {r.rank_high}", r.name, interval(r.accuracy), pct(r.p_best))
            for r in comparison.runs
        ),
    )


def _ranking_title(comparison: Comparison) -> str:
    first = comparison.runs[0]
    if first.rank_high > 1:
        return f"{first.name} reads highest, but other items could rank it {first.rank_low} to {first.rank_high}"
    return f"{first.name} is first, and stays so whatever items of the same kind are drawn (95 %)"


def run_differences(comparison: Comparison) -> Picture | None:
    """Returns the paired difference of every two runs with its interval, and where there is none a line."""
    shown = [pair for pair in comparison.pairs if pair.difference.value is not None]
    if not shown:
        return None
    rows = [{"name": f"{pair.a}{_MINUS}{pair.b}", **in_per_cent(pair.difference)} for pair in shown]
    reach = reach_of(rows)
    axis = percent_axis("value", "difference, pp", low=-reach, high=reach)
    points = dots(x=axis, order=[row["name"] for row in rows], split=_MINUS).properties(data=data(rows))
    chart = load_altair().layer(line_at(0.0), points)
    apart = sum(pair.better is not None for pair in shown)
    title = f"{apart} of {len(shown)} pairs of runs can be told apart"
    return Picture(
        title=title,
        caption="Paired differences of accuracy with 95 % intervals; the line is no difference. Told apart: at 5 % "
        f"over all pairs; {over(pair.difference for pair in shown)}.",
        svg=draw(sized(chart, rows=1.6), title=title),
        header=("run", "minus", "difference", "p, adjusted for all pairs", "told apart"),
        rows=tuple(
            (p.a, p.b, difference(p.difference), probability(p.p_adjusted), "yes" if p.better else "no") for p in shown
        ),
    )


def _ranks_title(ranks: FormatRanks) -> str:
    name, numbers = max(ranks.counts.items(), key=lambda pair: pair[1][0])
    if numbers[0] == ranks.formats:
        return f"{name} has rank 1 in all {ranks.formats} formats"
    return f"The format decides who is first: {name} has rank 1 in {numbers[0]} of {ranks.formats} formats"


def format_rank_bars(ranks: FormatRanks) -> Picture:
    """Returns in how many formats each run has which rank (paper 1, Fig. 3)."""
    alt = load_altair()
    places = [f"rank {place + 1}" for place in range(len(ranks.counts))]
    rows = [
        {"name": name, "rank": places[place], "formats": number, "place": place}
        for name, numbers in ranks.counts.items()
        for place, number in enumerate(numbers)
    ]
    title = _ranks_title(ranks)
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
        caption=f"In how many of {ranks.formats} formats each run has which rank (paper 1, Fig. 3).",
        svg=draw(sized(chart), title=title),
        header=("run", *places),
        rows=tuple((name, *(count(number) for number in numbers)) for name, numbers in ranks.counts.items()),
    )
