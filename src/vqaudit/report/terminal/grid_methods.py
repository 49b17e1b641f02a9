"""Mitigation methods and printed values in a terminal.

Knows the findings of a table of cells. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from vqaudit.analysis.cells.methods import MethodRow
from vqaudit.analysis.cells.printed import PrintedRow
from vqaudit.analysis.cells.schema import GridFindings
from vqaudit.report.digits import UNKNOWN
from vqaudit.report.terminal.layout import columns, dim, plain, rows, section
from vqaudit.report.terminal.wide import blocks, head

__all__ = ["method_parts"]


def method_parts(found: GridFindings) -> Iterator[RenderableType]:
    """Yields the sections on methods and on printed values, where there are any."""
    if found.methods is not None:
        bodies = [body for dataset, methods in found.methods.items() for body in _dataset(found, dataset, methods)]
        legend = (
            "accuracy in %, in brackets the rank; bold where it is the pseudo-gold rank",
            "Spearman: average ranks at ties; of printed ranks: models that tie share the better one",
        )
        yield section("Methods against pseudo-gold", *bodies, *map(dim, legend))
    if found.printed_differences is not None:
        yield _printed(found.printed_differences)


def _dataset(found: GridFindings, dataset: str, methods: dict[str, MethodRow]) -> Iterator[RenderableType]:
    for names in blocks(list(methods)):
        yield _table(found, dataset, {name: methods[name] for name in names})
        yield plain(" ")


def _table(found: GridFindings, dataset: str, methods: dict[str, MethodRow]) -> Table:
    table = columns(dataset, "gold", *map(head, methods), right=range(1, len(methods) + 2), folding=(0,))
    for model, gold in found.pseudo_gold_rank[dataset].items():
        table.add_row(plain(model), str(gold), *(_cell(row, model, gold) for row in methods.values()))
    table.add_row(dim("Spearman"), "", *_figures([row.spearman for row in methods.values()]))
    printed = [row.spearman_of_competition_ranks for row in methods.values()]
    table.add_row(dim("of printed ranks"), "", *_figures(printed))
    right = [f"{row.correctly_ranked} of {row.models}" for row in methods.values()]
    table.add_row(dim("ranked right"), "", *map(plain, right))
    return table


def _cell(row: MethodRow, model: str, gold: int) -> RenderableType:
    if model not in row.rank:
        return plain(UNKNOWN)
    rank = row.rank[model]
    return plain(f"{row.accuracy_pct[model]:.2f} ({rank})", "bold" if rank == gold else "")


def _figures(values: Sequence[float | None]) -> list[RenderableType]:
    return [plain(UNKNOWN if value is None else f"{value:.3f}".replace("-", "−")) for value in values]


def _printed(found: list[PrintedRow]) -> RenderableType:
    differing = [row for row in found if row.kind == "differs"]
    rounded = [row for row in found if row.kind == "rounding"]
    bodies: list[RenderableType] = [rows([_difference(row) for row in differing], folding=(1,))]
    if not differing:
        bodies = [plain("none differs by more than its rounding")]
    if rounded:
        table = columns("only by the rounding of what was printed", "printed", "ours", right=(1, 2), folding=(0,))
        for row in rounded:
            table.add_row(plain(_name(row)), plain(_short(row.printed)), plain(_short(row.ours)))
        bodies += [plain(" "), table]
    return section("Printed values that differ", *bodies)


def _difference(row: PrintedRow) -> tuple[RenderableType, RenderableType]:
    figures = f"printed {_short(row.printed)}, ours {_short(row.ours)}"
    return plain("•"), Group(plain(f"{_name(row)}: {figures}"), dim(f"{row.where}; {row.likely_cause}"))


def _name(row: PrintedRow) -> str:
    return row.key.replace("/", " / ").replace("~1", "/")


def _short(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".").replace("-", "−")
