"""A comparison of runs in a terminal.

Knows the comparison. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType

from vqaudit.analysis.comparison import Comparison, FormatRanks
from vqaudit.report.digits import count, difference, interval, pct, probability
from vqaudit.report.terminal.comparison_details import detail_parts
from vqaudit.report.terminal.layout import View, bar, bullets, columns, dim, plain, section

__all__ = ["comparison_view"]


def comparison_view(comparison: Comparison) -> View:
    """Returns what `rich` prints of several runs: the ranking with its uncertainty, then paired differences.

    Args:
        comparison: From `vqaudit.analysis.compare`.
    """
    return View(_parts(comparison))


def _parts(comparison: Comparison) -> Iterator[RenderableType]:
    measured = comparison.measure.replace("_", " ")
    yield plain(f"{len(comparison.runs)} runs by {measured}", "bold")
    yield dim(
        f"{count(comparison.common_items)} items that all of them hold alike "
        f"({count(comparison.common_clusters)} independent)"
    )
    if comparison.warnings:
        yield section("Beware", bullets(comparison.warnings, style="yellow"))
    if comparison.statements:
        yield section("What can be said", bullets(comparison.statements))
    if comparison.statements_this_dataset:
        yield section("On this dataset as it stands", bullets(comparison.statements_this_dataset))
    yield _ranking(comparison)
    yield _pairs(comparison)
    if comparison.format_ranks is not None:
        yield _format_ranks(comparison.format_ranks)
    if comparison.details is not None:
        yield from detail_parts(comparison.details)
    if comparison.reasons:
        yield section("What these runs cannot tell", bullets(comparison.reasons.values(), style="dim"))


def _ranking(comparison: Comparison) -> Group:
    table = columns("rank", "", "accuracy", "", "best in", right=(2, 4), folding=(1,))
    for run in comparison.runs:
        place = str(run.rank) if run.rank_low == run.rank_high else f"{run.rank} [{run.rank_low}, {run.rank_high}]"
        table.add_row(place, plain(run.name), plain(interval(run.accuracy)), bar(run.accuracy, 16), pct(run.p_best))
    legend = "rank with the 95 % interval it may have; best in: share of resamples of items in which it is first"
    return section("Ranking", table, dim(legend))


def _pairs(comparison: Comparison) -> Group:
    table = columns("", "minus", "difference", "adjusted p", "told apart", right=(2, 3), folding=(0, 1))
    for pair in comparison.pairs:
        table.add_row(
            plain(pair.a),
            plain(pair.b),
            plain(difference(pair.difference)),
            probability(pair.p_adjusted),
            "yes" if pair.better else "no",
        )
    return section("Paired differences", table)


def _format_ranks(ranks: FormatRanks) -> Group:
    places = len(ranks.counts)
    table = columns("", *(f"rank {place + 1}" for place in range(places)), right=range(1, places + 1), folding=(0,))
    for name, counts in ranks.counts.items():
        table.add_row(plain(name), *(count(number) for number in counts))
    share = pct(ranks.closest_shares.get(ranks.closest, 0.0))
    near = f"nearest to the grid's ranking: {ranks.closest} (in {share} of resamples of items)"
    return section(f"In how many of {ranks.formats} formats a run has which rank", table, dim(near))
