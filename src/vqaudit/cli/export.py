"""The command that writes tables: `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from vqaudit.cli.app import app
from vqaudit.cli.options import Runs


@app.command("export")
def export_command(
    runs: Runs,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write into.", metavar="DIR")] = Path("tables"),
    kind: Annotated[
        Literal["csv", "parquet", "both"], typer.Option("--format", help="csv, parquet or both.", metavar="KIND")
    ] = "both",
) -> None:
    """Writes every table of a run as CSV and Parquet: summary, trials, items, and paper 1's layout for `grid`."""
    from vqaudit.records import RunTables
    from vqaudit.report.export import GRID, KINDS, export_runs

    kinds = KINDS if kind == "both" else (kind,)
    written = export_runs([RunTables.load(run) for run in runs], out, kinds=kinds)
    typer.echo(f"{len(written)} files in {out}")
    if not any(path.stem == GRID for path in written):
        typer.echo(f"no {GRID}: accuracies of single formats need the design grid", err=True)
