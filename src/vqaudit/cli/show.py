"""Commands that read run directories: `summary`, `compare`, `report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.console import print_summary
from vqaudit.cli.options import AsJson, By, CalibrateOn, Details, OneRun, Runs

if TYPE_CHECKING:
    from vqaudit.analysis.mitigation import Calibration
    from vqaudit.records import RunTables


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
def compare_command(
    runs: Runs,
    details: Details = False,
    interfaces: Annotated[
        bool,
        typer.Option(
            "--interfaces", help="Instead, what each run loses from bare-scores to cot-prefix; runs over any items."
        ),
    ] = False,
    calibrate_on: Annotated[
        list[Path] | None,
        typer.Option(
            "--calibrate-on", help="Run to take PriDe's prior from; repeat, one for every model.", metavar="RUN"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ranks runs over the same items, with paired differences and the ranking's uncertainty."""
    from vqaudit.analysis.summary import compare
    from vqaudit.records import RunTables
    from vqaudit.report.names import run_names
    from vqaudit.report.terminal import comparison_view

    if interfaces:
        _compare_interfaces(runs, as_json=as_json)
        return
    if len(runs) < 2:
        raise typer.BadParameter("name at least two runs to compare")
    tables = [RunTables.load(run) for run in runs]
    names = run_names(tables)
    comparison = compare(
        tables,
        names=names,
        details=details or as_json or bool(calibrate_on),
        calibration=_calibrations(dict(zip(names, tables, strict=True)), calibrate_on) if calibrate_on else None,
    )
    if as_json:
        typer.echo(comparison.to_json())
    else:
        Console().print(comparison_view(comparison))


def _calibrations(runs: dict[str, RunTables], calibrate_on: list[Path]) -> dict[str, Calibration]:
    """The run of its model that each run takes its prior from; a prior of another model would be of no use."""
    from vqaudit.analysis.mitigation import Calibration
    from vqaudit.records import RunTables

    others = [RunTables.load(run) for run in calibrate_on]
    found = {}
    for name, tables in runs.items():
        same = [other for other in others if other.manifest.model == tables.manifest.model]
        if len(same) != 1:
            raise typer.BadParameter(
                f"{len(same)} runs of --calibrate-on are of {tables.manifest.model!r}; give one for every model"
            )
        found[name] = Calibration(run=same[0])
    return found


def _compare_interfaces(runs: list[Path], *, as_json: bool) -> None:
    from vqaudit.analysis.interfaces.across import across_runs
    from vqaudit.records import RunTables
    from vqaudit.report.terminal.interfaces import across_view

    found = across_runs([RunTables.load(run) for run in runs])
    if as_json:
        typer.echo(found.to_json())
    else:
        Console().print(across_view(found))


@app.command("report")
def report_command(
    runs: Runs,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path("page.html"),
    pictures: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="The data that were asked: their pictures are kept small with the runs."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every figure into this folder as well.")
    ] = None,
    figure_format: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="svg, png or pdf; several are allowed. Default: svg.")
    ] = None,
) -> None:
    """Writes the page: one self-contained HTML file, with every figure and every trial."""
    from vqaudit.records import RunTables
    from vqaudit.report.charts import KINDS
    from vqaudit.report.page import write_page

    kinds = figure_format or ["svg"]
    if unknown := sorted(set(kinds) - set(KINDS)):
        raise typer.BadParameter(f"{', '.join(unknown)} is no kind of figure; choose among {', '.join(KINDS)}")
    if pictures is not None:
        _add_pictures(runs, pictures)
    tables = [RunTables.load(run) for run in runs]
    typer.echo(str(write_page(tables, out)))
    if figures is not None:
        _write_figures(tables, figures, kinds)


def _add_pictures(runs: list[Path], data: str) -> None:
    from vqaudit.auditing import load_data, open_run

    dataset = load_data(data)
    for run in runs:
        open_run(run).add_pictures(dataset)


def _write_figures(tables: list[RunTables], folder: Path, kinds: list[str]) -> None:
    from vqaudit.report.charts import save_pictures
    from vqaudit.report.figures import all_figures

    for path in save_pictures(all_figures(tables), folder, kinds=kinds):
        typer.echo(str(path))
