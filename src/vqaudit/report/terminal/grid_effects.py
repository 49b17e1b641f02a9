"""Effects of factor levels in a terminal: the mixed model, models as the units, and shares of variation.

Knows the findings of a table of cells. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from vqaudit.analysis.cells.effects import Effect
from vqaudit.analysis.cells.regression import INTERCEPT
from vqaudit.analysis.cells.schema import GridFindings
from vqaudit.analysis.estimates import Estimate
from vqaudit.report.digits import UNKNOWN, bounds, pct, probability, signed
from vqaudit.report.terminal.layout import bullets, columns, dim, plain, section, share_bar

__all__ = ["effect_parts"]

_MOST_TERMS = 8


def effect_parts(found: GridFindings) -> Iterator[RenderableType]:
    """Yields the sections on effects that the table allows."""
    if found.lmm is not None:
        yield _mixed_model(found, found.lmm)
    if found.leave_one_model_out is not None and found.lmm is not None:
        yield _left_out(found.leave_one_model_out, list(found.lmm))
    if found.sum_of_squares is not None:
        yield _squares(found)


def _mixed_model(found: GridFindings, effects: dict[str, Effect]) -> RenderableType:
    names = ("", "effect", "over cells", "p", "over models", "p", "covered")
    table = columns(*names, right=range(1, len(names)), folding=(0,))
    over_models = found.model_clustered or {}
    covered = found.lmm_without_zero_coverage_models or {}
    for level, effect in effects.items():
        if level == INTERCEPT:
            continue
        cells = (signed(effect.coef_pp / 100), _bounds(effect), _p(effect))
        models = (_bounds(over_models.get(level)), _p(over_models.get(level)))
        table.add_row(plain(level), *map(plain, (*cells, *models, _coefficient(covered.get(level)))))
    return section("Effects on accuracy in pp", table, *(dim(line) for line in _legend(found, effects)), *_notes(found))


def _legend(found: GridFindings, effects: dict[str, Effect]) -> Iterator[str]:
    baseline = "/".join(found.baseline.values())
    yield f"against {baseline}, where accuracy is {effects[INTERCEPT].coef_pp:.1f} %"
    yield "95 % intervals; over cells: paper 1's mixed model, with cells as its units; over models: with models"
    if found.lmm_without_zero_coverage_models is not None:
        yield f"covered: the effect without {', '.join(found.zero_coverage_models)} (cells of zero coverage)"


def _notes(found: GridFindings) -> Iterator[RenderableType]:
    if found.lmm_fit is not None and found.lmm_fit.notes:
        yield bullets(found.lmm_fit.notes, style="yellow")


def _bounds(effect: Effect | None) -> str:
    if effect is None or effect.ci95 is None:
        return UNKNOWN
    low, high = effect.ci95
    return bounds(Estimate(value=effect.coef_pp / 100, low=low / 100, high=high / 100), signed=True)


def _p(effect: Effect | None) -> str:
    return UNKNOWN if effect is None else probability(effect.p).replace("< 0.001", "<.001")


def _coefficient(effect: Effect | None) -> str:
    return UNKNOWN if effect is None else signed(effect.coef_pp / 100)


def _left_out(by_model: dict[str, dict[str, Effect]], levels: list[str]) -> RenderableType:
    table = columns("", "lowest", "without", "highest", "without", right=(1, 3), folding=(0, 2, 4))
    for level in levels:
        found = [(effects[level].coef_pp, model) for model, effects in by_model.items() if level in effects]
        if level == INTERCEPT or not found:
            continue
        (low, lowest), (high, highest) = min(found), max(found)
        figures = (signed(low / 100), lowest, signed(high / 100), highest)
        table.add_row(plain(level), *map(plain, figures))
    return section("The same effects with one model left out", table)


def _squares(found: GridFindings) -> RenderableType:
    terms = found.sum_of_squares or []
    table = columns("", "share", "", right=(1,), folding=(0,))
    for term in terms[:_MOST_TERMS]:
        table.add_row(plain(term.term), plain(pct(term.share)), share_bar(term.share))
    rest = terms[_MOST_TERMS:]
    if rest:
        share = sum(term.share for term in rest)
        table.add_row(dim(f"{len(rest)} more terms"), plain(pct(share)), share_bar(share))
    return section("Where accuracies differ: share of the total sum of squares", table)
