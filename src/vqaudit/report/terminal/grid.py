"""The findings of a table of cells in a terminal.

Knows the findings. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from rich.console import Group, RenderableType

from vqaudit.analysis.cells.schema import GridFindings
from vqaudit.report.digits import UNKNOWN, count, pct, signed
from vqaudit.report.terminal.grid_effects import effect_parts
from vqaudit.report.terminal.grid_methods import method_parts
from vqaudit.report.terminal.layout import View, bullets, columns, dim, plain, section
from vqaudit.report.terminal.wide import blocks, head

__all__ = ["grid_view"]

_FACTORS = 3
"""As many fit beside one another."""
_MOST_RANKS = 10
"""Above as many models, ranks are told as best and worst."""
Ranges = dict[str, dict[str, tuple[float, float] | None]]


def grid_view(found: GridFindings) -> View:
    """Returns what `rich` prints of a table of cells: what weakens it first, then what it says, then its figures.

    Args:
        found: From `vqaudit.analysis.cells.analyse_cells`.

    Example:
        >>> from rich.console import Console
        >>> from vqaudit.analysis.cells import analyse_cells, read_cells
        >>> Console().print(grid_view(analyse_cells(read_cells("grid.csv"))))  # doctest: +SKIP
    """
    return View(_parts(found))


def _parts(found: GridFindings) -> Iterator[RenderableType]:
    yield plain(found.source, "bold")
    yield dim(_size(found))
    yield dim(" x ".join(f"{len(levels)} {name}" for name, levels in found.factors.items()))
    if found.warnings:
        yield section("Beware", bullets(found.warnings, style="yellow"))
    if found.findings:
        yield section("Findings", bullets(found.findings))
    yield from _pseudo_gold(found)
    yield _deviations(found)
    yield from _coverage(found)
    yield from effect_parts(found)
    yield from _ranks(found)
    yield from _leaders(found)
    yield from _disagreements(found)
    yield from _recommended(found)
    yield from method_parts(found)
    if found.reasons:
        yield section("What this table cannot tell", bullets(_unknown(found), style="dim"))


def _unknown(found: GridFindings) -> Iterator[str]:
    """Yields each reason once, with all that it keeps from being told."""
    for reason in dict.fromkeys(found.reasons.values()):
        keys = [key.replace("_", " ") for key, why in found.reasons.items() if why == reason]
        yield f"{', '.join(keys)}: {reason}"


def _size(found: GridFindings) -> str:
    parts = [_many(len(found.models), "model"), _many(len(found.datasets), "data set")]
    held = f"{count(found.cells.present)} of {count(found.cells.expected)} cells"
    return f"{' x '.join(parts)} x {_many(_formats(found), 'format')}: {held}"


def _formats(found: GridFindings) -> int:
    return prod(len(levels) for levels in found.factors.values())


def _many(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _pseudo_gold(found: GridFindings) -> Iterator[RenderableType]:
    tables: list[RenderableType] = []
    for names in blocks(found.datasets):
        table = columns("", *map(head, names), right=range(1, len(names) + 1), folding=(0,))
        for model in found.models:
            table.add_row(plain(model), *(plain(_gold(found, name, model)) for name in names))
        tables.append(table)
    legend = dim("mean over the formats that all models of a data set have; in brackets the rank")
    yield section("Pseudo-gold accuracy in %", *tables, legend)


def _gold(found: GridFindings, dataset: str, model: str) -> str:
    accuracy = found.pseudo_gold_accuracy_pct[dataset][model]
    if accuracy is None:
        return UNKNOWN
    return f"{accuracy:.1f} ({found.pseudo_gold_rank[dataset][model]})"


def _deviations(found: GridFindings) -> RenderableType:
    legend = "least and largest over levels and data sets, from the model's mean on the data set"
    bodies: list[RenderableType] = [_ranges(found, found.accuracy_deviation_range_pp), dim(legend)]
    neutral, kept = found.coverage_neutral_deviation_range_pp, found.coverage_neutral
    if neutral is not None and kept is not None:
        share = f"{100 * kept.min_coverage:g} %"
        bodies += [plain(" "), dim(f"without the {count(kept.dropped)} cells whose coverage is below {share}:")]
        bodies += [_ranges(found, neutral)]
    return section("Accuracy of factor levels, deviation in pp", *bodies)


def _ranges(found: GridFindings, ranges: Ranges) -> RenderableType:
    tables: list[RenderableType] = []
    for factors in blocks(list(found.factors), _FACTORS):
        table = columns("", *map(head, factors), right=range(1, len(factors) + 1), folding=(0,))
        for model in found.models:
            table.add_row(plain(model), *(plain(_range(ranges[factor][model])) for factor in factors))
        tables.append(table)
    return Group(*tables)


def _range(values: tuple[float, float] | None) -> str:
    return UNKNOWN if values is None else f"{signed(values[0] / 100)} to {signed(values[1] / 100)}"


def _coverage(found: GridFindings) -> Iterator[RenderableType]:
    if found.coverage_pct is None or found.coverage_range_pct is None:
        return
    tables: list[RenderableType] = []
    for factors in blocks(list(found.factors), _FACTORS):
        table = columns("", "lowest cell", *factors, right=(1,), folding=(0, *range(2, 2 + len(factors))))
        for model in found.models:
            cells = found.coverage_range_pct[model]
            lowest = (plain(_lowest_level(found, factor, model)) for factor in factors)
            table.add_row(plain(model), plain(UNKNOWN if cells is None else pct(cells[0] / 100)), *lowest)
        tables.append(table)
    legend = dim("lowest cell; then, by factor, the level with the lowest mean on any data set")
    yield section("Coverage", *tables, legend)


def _lowest_level(found: GridFindings, factor: str, model: str) -> str:
    by_dataset = {} if found.coverage_pct is None else found.coverage_pct[factor][model]
    known = [(value, level) for row in by_dataset.values() for level, value in row.items() if value is not None]
    if not known:
        return UNKNOWN
    value, level = min(known, key=lambda entry: entry[0])
    return f"{pct(value / 100)} {level}" if value < 99.95 else pct(value / 100)


def _ranks(found: GridFindings) -> Iterator[RenderableType]:
    if not found.rank_counts:
        return
    few = len(found.models) <= _MOST_RANKS
    bodies: list[RenderableType] = []
    for dataset, counts in found.rank_counts.items():
        formats = found.formats_in_common[dataset]
        bodies += [plain(f"{dataset}, {_many(formats, 'format')}")]
        bodies += [_rank_counts(counts) if few else _rank_ranges(found, dataset), plain(" ")]
    legend = dim("in how many formats a model has which rank; models that tie share the better one")
    yield section("Ranks over formats", *bodies, legend)


def _rank_counts(counts: dict[str, list[int]]) -> RenderableType:
    places = len(next(iter(counts.values())))
    table = columns("", *(f"{place}." for place in range(1, places + 1)), right=range(1, places + 1), folding=(0,))
    for model, row in counts.items():
        table.add_row(plain(model), *(plain(str(number)) if number else dim("·") for number in row))
    return table


def _rank_ranges(found: GridFindings, dataset: str) -> RenderableType:
    table = columns("", "best", "worst", right=(1, 2), folding=(0,))
    for model, (best, worst) in found.rank_range[dataset].items():
        table.add_row(plain(model), str(best), str(worst))
    return table


def _leaders(found: GridFindings) -> Iterator[RenderableType]:
    if not found.leaders:
        return
    table = columns("", "first", "gap to the second, pp", right=(2,), folding=(0, 1))
    for dataset, row in found.leaders.items():
        leads = ", ".join(f"{model} in {number}" for model, number in row.leads.items())
        low, high = row.gap_range_pp
        table.add_row(plain(dataset), plain(leads), plain(f"{low:.3f} to {high:.3f}"))
    yield section("Who is first, by format", table)


def _disagreements(found: GridFindings) -> Iterator[RenderableType]:
    if not found.most_different_formats:
        return
    table = columns("", "formats", "correlation", right=(2,), folding=(0, 1))
    for dataset, row in found.most_different_formats.items():
        formats = Group(plain(row.a), plain(row.b))
        table.add_row(plain(dataset), formats, plain(_number(row.spearman)))
    yield section("The two formats whose rankings agree least", table)


def _number(value: float | None, digits: int = 2) -> str:
    return UNKNOWN if value is None else f"{value:.{digits}f}".replace("-", "−")


def _recommended(found: GridFindings) -> Iterator[RenderableType]:
    best = found.recommended_format
    if best is None:
        return
    lines = [
        ("format", best.format),
        ("correlation with pseudo-gold ranks", _number(best.mean_spearman, 3)),
        ("a format at random", _number(best.average_spearman, 3)),
        ("chosen on the other data sets", _number(best.held_out_spearman, 3)),
        ("chosen in resamples of data sets", pct(best.chosen_share)),
    ]
    table = columns("", "", folding=(0, 1))
    table.show_header = False
    for label, value in lines:
        table.add_row(dim(label), plain(value))
    yield section("One format that ranks most like all of them", table)
