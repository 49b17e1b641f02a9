"""What a comparison tells on request, in a terminal: remedies across runs, leaders by format, effects.

Knows the comparison's details. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType

from vqaudit.analysis.cells.ranks import Disagreement, Leaders
from vqaudit.analysis.comparison_details import ComparisonDetails
from vqaudit.analysis.mitigation import MitigationTable, RedrawRow
from vqaudit.report.digits import UNKNOWN, count
from vqaudit.report.labels import method_label
from vqaudit.report.terminal.details import effects_part
from vqaudit.report.terminal.layout import bullets, columns, dim, plain, section

__all__ = ["detail_parts"]

_SAME = 1 - 1e-9
"""Correlation above which two rankings are the same; where that holds of the least alike, no two differ."""


def detail_parts(details: ComparisonDetails) -> Iterator[RenderableType]:
    """Yields the sections below a comparison."""
    if details.mitigations is not None:
        yield _mitigations(details.mitigations)
    if details.format_leaders is not None:
        yield _leaders(details.format_leaders)
    if details.most_different_formats is not None:
        yield from _disagreement(details.most_different_formats)
    if details.effects is not None:
        yield effects_part(details.effects)
    if details.reasons:
        yield section("Details that these runs cannot tell", bullets(details.reasons.values(), style="dim"))


def _mitigations(found: MitigationTable) -> Group:
    ranks = columns("rank by", *(str(place) for place in range(1, len(found.gold_rank) + 1)), folding=range(9))
    ordered = sorted(found.gold_rank, key=lambda name: found.gold_rank[name])
    ranks.add_row(dim("grid"), *(plain(f"{name} {found.gold_pct[name]:.1f} %") for name in ordered))
    for method, row in found.methods.items():
        names = sorted(row.rank, key=lambda name: row.rank[name])
        label = method_label(method)
        ranks.add_row(dim(label), *(plain(f"{name} {row.accuracy_pct[name]:.1f} %") for name in names))
    table = columns("", "Spearman", "ranked right", "mean error", "passes", right=(1, 2, 3, 4), folding=(0,))
    for method, row in found.methods.items():
        table.add_row(
            plain(method_label(method)),
            _rho(row.spearman),
            plain(f"{row.correctly_ranked} of {row.models}"),
            plain(f"{row.mean_error_pp:.1f} pp"),
            count(found.passes[method]),
        )
    if found.redraws is not None:
        table.add_row(*_redrawn(found.redraws, len(found.gold_rank)))
    table.add_row(plain("grid", "bold"), "", "", "", count(found.gold_passes))
    lacking = [f"{method_label(name)}: {reason}" for name, reason in found.not_applicable.items()]
    bodies: list[RenderableType] = [table, plain(" "), ranks]
    return section("Remedies against the grid's ranking", *bodies, bullets(lacking, style="dim"))


def _redrawn(row: RedrawRow, runs: int) -> tuple[RenderableType, ...]:
    return (
        plain(f"randomised, mean of {row.draws}"),
        _rho(row.spearman),
        plain(f"{row.correctly_ranked:.1f} of {runs}"),
        plain(f"{row.mean_error_pp:.1f} pp"),
        count(row.passes),
    )


def _rho(value: float | None) -> RenderableType:
    return plain(UNKNOWN if value is None else f"{value:.3f}")


def _leaders(found: Leaders) -> Group:
    said = [f"{name} is first in {number} of {len(found.formats)} formats" for name, number in found.leads.items()]
    low, high = found.gap_range_pp
    said.append(f"the first is ahead of the second by {low:.1f} to {high:.1f} pp")
    return section("Leaders by format", bullets(said))


def _disagreement(found: Disagreement) -> Iterator[Group]:
    if found.spearman > _SAME:
        return
    table = columns("", found.a, found.b, right=(1, 2), folding=(0,))
    for name, (first, second) in found.accuracy_pct.items():
        places = found.rank[name]
        table.add_row(plain(name), plain(f"{first:.1f} % ({places[0]})"), plain(f"{second:.1f} % ({places[1]})"))
    yield section("The two formats that disagree most", table, dim(f"Spearman of their rankings {found.spearman:.3f}"))
