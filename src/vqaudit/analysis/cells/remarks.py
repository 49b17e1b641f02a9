"""What must be known before the figures of a table of cells are read, and what they say, in sentences.

Knows the table and the findings. Computes nothing that is not counted off them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from vqaudit.analysis.cells.accuracy import common_formats, present_models
from vqaudit.analysis.cells.methods import GOLD_METHOD, MethodTable
from vqaudit.analysis.cells.regression import INTERCEPT
from vqaudit.analysis.cells.schema import CoverageNeutral, GridFindings
from vqaudit.analysis.cells.table import CellTable

__all__ = ["findings_of", "warnings_of"]

_SHOWN = 3


def warnings_of(
    table: CellTable,
    methods: MethodTable | None,
    *,
    baseline: Mapping[str, str],
    coverage_neutral: CoverageNeutral | None,
) -> list[str]:
    """Returns what weakens the figures: uncovered levels first, then cells that are missing or cannot be."""
    return [
        *_uncovered(table, baseline),
        *_missing(table),
        *_partly_common(table),
        *_impossible(table),
        *_unknown_coverage(table),
        *_emptied(coverage_neutral),
        *table.notes,
        *(() if methods is None else _unmatched(table, methods)),
    ]


def _uncovered(table: CellTable, baseline: Mapping[str, str]) -> Iterator[str]:
    for factor, levels in table.factors.items():
        for level in levels if len(levels) > 1 else ():
            cells = _zero_cells(table, factor, level)
            if not cells:
                continue
            against = f", and every effect of {factor} is told against it" if level == baseline[factor] else ""
            yield (
                f"coverage is 0 in all {sum(cells.values())} cells of {level} ({factor}) of {' and '.join(cells)}: "
                "likelier a fault of measurement, such as a budget of tokens that is too small, than ignorance"
                f"{against}; see the effects without these models"
            )


def _zero_cells(table: CellTable, factor: str, level: str) -> dict[str, int]:
    """Returns, by model that has no coverage in any cell of a level, how many cells these are."""
    if table.coverage is None:
        return {}
    here, found = table.has_level(factor, level), {}
    for place, model in enumerate(table.models):
        mine = table.coverage[:, place][:, here]
        told = ~np.isnan(mine)
        if told.any() and (mine[told] == 0).all():
            found[model] = int(told.sum())
    return found


def _missing(table: CellTable) -> Iterator[str]:
    missing = table.expected - table.cells
    if not missing:
        return
    counts = {
        f"{dataset} / {model}": int((~table.present[d, m]).sum()) + table.expected_formats - len(table.formats)
        for d, dataset in enumerate(table.datasets)
        for m, model in enumerate(table.models)
    }
    short = sorted((name for name, count in counts.items() if count), key=lambda name: -counts[name])
    named = ", ".join(f"{name} {counts[name]}" for name in short[:_SHOWN])
    more = f" and {len(short) - _SHOWN} more pairs" if len(short) > _SHOWN else ""
    yield f"{missing} of {table.expected} cells are missing: {named}{more}; means run over what is there"


def _partly_common(table: CellTable) -> Iterator[str]:
    for place, dataset in enumerate(table.datasets):
        models = present_models(table, place)
        held = int(table.present[place].any(axis=0).sum())
        common = int(common_formats(table, place).sum())
        if models.size > 1 and common < held:
            yield f"pseudo-gold and ranks on {dataset} use the {common} of {held} formats that all its models have"


def _impossible(table: CellTable) -> Iterator[str]:
    if table.coverage is None:
        return
    with np.errstate(invalid="ignore"):
        wrong = np.argwhere(table.accuracy > table.coverage + 5e-4)
    if wrong.size:
        d, m, f = wrong[0]
        yield (
            f"accuracy is above coverage in {len(wrong)} cells, first {table.datasets[d]} / {table.models[m]} / "
            f"{table.format_names[f]}: a reply that is right is one of the IDs, so one of the two is wrong"
        )


def _unknown_coverage(table: CellTable) -> Iterator[str]:
    if table.coverage is None:
        return
    unknown = int((np.isnan(table.coverage) & table.present).sum())
    if unknown:
        yield f"{unknown} cells have an accuracy but no coverage; coverage-neutral figures leave them out"


def _emptied(neutral: CoverageNeutral | None) -> Iterator[str]:
    if neutral is not None and not neutral.kept:
        yield f"no cell has coverage of {100 * neutral.min_coverage:g} %: no coverage-neutral figure can be told"


def _unmatched(table: CellTable, methods: MethodTable) -> Iterator[str]:
    yield from (f"{methods.source}: {note}" for note in methods.notes)
    unknown = [name for name in methods.accuracy if name not in table.datasets]
    if unknown:
        yield f"{methods.source}: left out, since {table.source} does not have it: {', '.join(unknown)}"
    for dataset, by_method in methods.accuracy.items():
        if dataset in unknown:
            continue
        there = {table.models[place] for place in present_models(table, table.datasets.index(dataset))}
        for name, accuracies in by_method.items():
            if strangers := sorted(accuracies.keys() - there):
                yield f"{methods.source}: {', '.join(strangers)} has no cell on {dataset}; left out of {name}"
        for name in methods.methods:
            got = by_method.get(name, {})
            if not got.keys() & there:
                yield f"{methods.source}: {name} has no accuracy on {dataset}, so that it is not compared there"
            elif (without := sorted(there - got.keys())) and name != GOLD_METHOD:
                yield f"{methods.source}: {name} has no accuracy of {', '.join(without)} on {dataset}"


def findings_of(found: GridFindings) -> list[str]:
    """Returns what the figures say."""
    return [
        *_spread(found),
        *_leaders(found),
        *_disagreement(found),
        *_effect(found),
        *_interaction(found),
        *_recommended(found),
        *_methods(found),
    ]


def _spread(found: GridFindings) -> Iterator[str]:
    spreads = [
        (value, model, dataset)
        for dataset, by_model in found.spread_pp.items()
        for model, value in by_model.items()
        if value is not None
    ]
    if spreads:
        value, model, dataset = max(spreads)
        yield f"one model is up to {value:.1f} pp better in its best format than in its worst ({model} on {dataset})"


def _leaders(found: GridFindings) -> Iterator[str]:
    changing = {name: list(row.leads) for name, row in found.leaders.items() if len(row.leads) > 1}
    if found.leaders and not changing:
        yield "no format changes who is first, on any data set"
    for name, models in changing.items():
        formats = len(found.leaders[name].formats)
        leads = ", ".join(f"{model} in {found.leaders[name].leads[model]}" for model in models)
        yield f"who is first on {name} depends on the format: {leads} of {formats}"


def _disagreement(found: GridFindings) -> Iterator[str]:
    if found.most_different_formats:
        name, row = min(found.most_different_formats.items(), key=lambda entry: entry[1].spearman)
        moved = max(row.rank, key=lambda model: abs(row.rank[model][0] - row.rank[model][1]))
        before, after = row.rank[moved]
        yield (
            f"{row.a} and {row.b} rank the models of {name} with a correlation of {row.spearman:.2f}: "
            f"{moved} moves from {before} to {after}"
        )


def _effect(found: GridFindings) -> Iterator[str]:
    if found.lmm is None:
        return
    levels = {name: effect for name, effect in found.lmm.items() if name != INTERCEPT}
    name = max(levels, key=lambda level: abs(levels[level].coef_pp))
    sentence = f"the largest effect is {name}: {levels[name].coef_pp:+.1f} pp"
    beside = None if found.model_clustered is None else found.model_clustered.get(name)
    if beside is not None and beside.ci95 is not None:
        low, high = beside.ci95
        sentence += f", over models [{low:+.1f}, {high:+.1f}]"
        sentence += "" if low > 0 or high < 0 else ", which does not exclude 0"
    yield sentence
    without = found.lmm_without_zero_coverage_models
    if without is not None and name in without and without[name].coef_pp * levels[name].coef_pp < 0:
        names = " and ".join(found.zero_coverage_models)
        effect = f"{without[name].coef_pp:+.1f} pp"
        yield f"without {names}, which have cells of zero coverage, the effect of {name} is {effect}"


def _interaction(found: GridFindings) -> Iterator[str]:
    if found.sum_of_squares is None:
        return
    shares = {term.term: term.share for term in found.sum_of_squares}
    together = {factor: shares.get(f"model x {factor}", 0.0) for factor in found.factors}
    factor = max(together, key=lambda name: together[name])
    alone = shares.get(factor, 0.0)
    if together[factor] > alone:
        yield (
            f"what {factor} changes depends on the model: model x {factor} holds {100 * together[factor]:.0f} % of all "
            f"variation, {factor} itself {100 * alone:.0f} %"
        )


def _recommended(found: GridFindings) -> Iterator[str]:
    best = found.recommended_format
    if best is None:
        return
    sentence = f"{best.format} ranks models most like all formats do: mean correlation {best.mean_spearman:.3f}"
    if best.held_out_spearman is not None and best.chosen_share is not None:
        sentence += (
            f", {best.held_out_spearman:.3f} where it is chosen on the other data sets; "
            f"{100 * best.chosen_share:.0f} % of resamples of data sets choose it"
        )
    yield sentence


def _methods(found: GridFindings) -> Iterator[str]:
    for dataset, rows in (found.methods or {}).items():
        known = {name: row.spearman for name, row in rows.items() if row.spearman is not None}
        if known:
            best = max(known, key=lambda name: known[name])
            right, models = rows[best].correctly_ranked, rows[best].models
            yield f"{best} ranks {dataset} best: correlation {known[best]:.2f}, {right} of {models} models ranked right"
