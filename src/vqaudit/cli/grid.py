"""The command that reads tables of cells: `grid`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.options import AsJson, json_object


@app.command("grid")
def grid_command(
    table: Annotated[
        Path,
        typer.Argument(
            help="CSV or TSV file: dataset, model, one column per factor of the format, accuracy, coverage.",
            metavar="TABLE",
        ),
    ],
    methods: Annotated[
        Path | None,
        typer.Option("--methods", help="CSV or TSV file: dataset, model, method, accuracy, printed_rank."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", help='Which column is what, as in \'{"model": "checkpoint"}\'.', metavar="JSON"),
    ] = None,
    factors: Annotated[
        list[str] | None,
        typer.Option("--factor", help="Column that is a factor of the format. Repeat for several.", metavar="COLUMN"),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale", help="percent or share, where neither names nor values prove it.", metavar="percent|share"
        ),
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", help="Level that effects are told against; repeat.", metavar="FACTOR=LEVEL"),
    ] = None,
    min_coverage: Annotated[
        float, typer.Option("--min-coverage", help="Least coverage of coverage-neutral figures.", min=0.0, max=1.0)
    ] = 0.75,
    printed: Annotated[
        Path | None,
        typer.Option("--printed", help="CSV file of printed values: key, where, printed, tolerance, likely_cause."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of resamples of data sets.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Analyses accuracies by data set, model and format that someone published or measured elsewhere."""
    from vqaudit.analysis.cells import GridSpec, Layout, analyse_cells, read_cells, read_methods, read_printed
    from vqaudit.report.terminal.grid import grid_view

    layout = Layout(columns=_named(columns), factors=tuple(factors or ()), scale=scale)
    found = analyse_cells(
        read_cells(table, layout),
        None if methods is None else read_methods(methods, layout),
        printed=() if printed is None else read_printed(printed),
        spec=GridSpec(baseline=_levels(baseline or []), min_coverage=min_coverage, seed=seed),
    )
    if as_json:
        typer.echo(found.to_json(), nl=False)
    else:
        Console().print(grid_view(found))


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
