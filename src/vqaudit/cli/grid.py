"""The command that reads tables of cells: `grid`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.options import AsJson, json_object

if TYPE_CHECKING:
    from vqaudit.analysis.cells import CellTable, Layout, MethodTable


_Table = Annotated[
    Path | None,
    typer.Argument(
        help="CSV or TSV file: dataset, model, one column per factor of the format, accuracy, coverage. Paper 1's "
        "published cells, which come with the package, where none is given.",
        metavar="TABLE",
        show_default=False,
    ),
]
_Paper = Annotated[
    bool, typer.Option("--paper", help="Paper 1's published cells and its mitigation table; the default.")
]
_Methods = Annotated[
    Path | None,
    typer.Option("--methods", help="CSV or TSV file: dataset, model, method, accuracy, printed_rank."),
]
_Columns = Annotated[
    str | None,
    typer.Option("--columns", help='Which column is what, as in \'{"model": "checkpoint"}\'.', metavar="JSON"),
]
_Factors = Annotated[
    list[str] | None,
    typer.Option("--factor", help="Column that is a factor of the format. Repeat for several.", metavar="COLUMN"),
]
_Scale = Annotated[
    str | None,
    typer.Option("--scale", help="percent or share, where neither names nor values prove it.", metavar="percent|share"),
]
_Baseline = Annotated[
    list[str] | None,
    typer.Option("--baseline", help="Level that effects are told against; repeat.", metavar="FACTOR=LEVEL"),
]
_MinCoverage = Annotated[
    float, typer.Option("--min-coverage", help="Least coverage of coverage-neutral figures.", min=0.0, max=1.0)
]
_Printed = Annotated[
    Path | None,
    typer.Option("--printed", help="CSV file of printed values: key, where, printed, tolerance, likely_cause."),
]


@app.command("grid")
def grid_command(
    table: _Table = None,
    paper: _Paper = False,
    methods: _Methods = None,
    columns: _Columns = None,
    factors: _Factors = None,
    scale: _Scale = None,
    baseline: _Baseline = None,
    min_coverage: _MinCoverage = 0.75,
    printed: _Printed = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of resamples of data sets.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Analyses accuracies by data set, model and format: paper 1's, or a table of your own."""
    from vqaudit.analysis.cells import GridSpec, Layout, analyse_cells, read_printed
    from vqaudit.report.terminal.grid import grid_view

    layout = Layout(columns=_named(columns), factors=tuple(factors or ()), scale=scale)
    _check_table(table, paper=paper, declared=layout != Layout())
    cells, known = _tables(table, methods, layout)
    found = analyse_cells(
        cells,
        known,
        printed=() if printed is None else read_printed(printed),
        spec=GridSpec(baseline=_levels(baseline or []), min_coverage=min_coverage, seed=seed),
    )
    if as_json:
        typer.echo(found.to_json(), nl=False)
    else:
        Console().print(grid_view(found))


def _check_table(table: Path | None, *, paper: bool, declared: bool) -> None:
    if table is not None and paper:
        raise typer.BadParameter(f"--paper takes paper 1's own cells; leave {str(table)!r} out, or --paper")
    if table is None and declared:
        raise typer.BadParameter("--columns, --factor and --scale describe a TABLE of your own; name its file")


def _tables(table: Path | None, methods: Path | None, layout: Layout) -> tuple[CellTable, MethodTable | None]:
    """The cells, and what methods gave; without a table of one's own those of paper 1."""
    from vqaudit.analysis.cells import paper1_cells, paper1_methods, read_cells, read_methods

    given = None if methods is None else read_methods(methods, layout)
    if table is not None:
        return read_cells(table, layout), given
    return paper1_cells(), given or paper1_methods()


def _named(columns: str | None) -> dict[str, str]:
    named = json_object(columns, "--columns")
    if wrong := [role for role, name in named.items() if not isinstance(name, str)]:
        raise typer.BadParameter(f"--columns gives {wrong[0]!r} no name of a column")
    return named


def _levels(texts: list[str]) -> dict[str, str]:
    levels = {}
    for text in texts:
        factor, equals, level = text.partition("=")
        if not (factor and equals and level):
            raise typer.BadParameter(f"{text!r} is not FACTOR=LEVEL, as in delimiter=dot")
        levels[factor.strip()] = level.strip()
    return levels
