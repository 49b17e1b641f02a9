"""Commands that read run directories: `summary`, `compare`, `report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.console import print_summary
from vqaudit.cli.options import AsJson, By, CalibrateOn, Details, OneRun, Runs


@app.command("summary")
def summary_command(
    run: OneRun,
    by: By = None,
    details: Details = False,
    calibrate_on: CalibrateOn = None,
    as_json: AsJson = False,
) -> None:
    """Shows what a run found."""
    from vqaudit.auditing import open_run
    from vqaudit.report.terminal import details_view

    wanted = details or as_json or calibrate_on is not None
    summary = open_run(run).summary(by=by, details=wanted, calibrate_on=calibrate_on)
    if as_json:
        typer.echo(summary.to_json())
        return
    print_summary(summary)
    if wanted:
        Console().print(details_view(summary))


@app.command("compare")
def compare_command(runs: Runs, details: Details = False, as_json: AsJson = False) -> None:
    """Ranks runs over the same items, with paired differences and the ranking's uncertainty."""
    from vqaudit.analysis.summary import compare
    from vqaudit.records import RunTables
    from vqaudit.report.terminal import comparison_view

    if len(runs) < 2:
        raise typer.BadParameter("name at least two runs to compare")
    comparison = compare([RunTables.load(run) for run in runs], details=details or as_json)
    if as_json:
        typer.echo(comparison.to_json())
    else:
        Console().print(comparison_view(comparison))


@app.command("report")
def report_command(
    runs: Runs,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path("page.html"),
) -> None:
    """Writes the page: one self-contained HTML file."""
    from vqaudit.records import RunTables
    from vqaudit.report.page import write_page

    path = write_page([RunTables.load(run) for run in runs], out)
    typer.echo(str(path))
