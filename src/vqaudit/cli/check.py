"""The command that decides by limits: `check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.options import AsJson, OneRun

_LIMITS = ("min_accuracy", "min_worst", "min_coverage", "max_spread", "max_drop")


def _limit(option: str, meaning: str) -> Any:
    return typer.Option(option, help=f"{meaning}, as a share: 0.6 is 60 %.", metavar="SHARE", min=0.0, max=1.0)


@app.command("check")
def check_command(
    run: OneRun,
    against: Annotated[
        Path | None, typer.Option("--against", help="Run to compare with, over the same items.", metavar="BASELINE")
    ] = None,
    min_accuracy: Annotated[float | None, _limit("--min-accuracy", "Least grid accuracy")] = None,
    min_worst: Annotated[float | None, _limit("--min-worst", "Least accuracy in the worst format")] = None,
    min_coverage: Annotated[float | None, _limit("--min-coverage", "Least coverage of replies")] = None,
    max_spread: Annotated[float | None, _limit("--max-spread", "Most that formats may lie apart")] = None,
    max_drop: Annotated[float | None, _limit("--max-drop", "Most that the run may lie below BASELINE")] = None,
    markdown: Annotated[
        str | None,
        typer.Option("--markdown", help="Write the decision as Markdown into this file; - prints it.", metavar="FILE"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Decides whether a run meets limits, by the bounds of intervals: exits 0 passes, 1 fails, 3 cannot tell."""
    from vqaudit.analysis.gate import Limits, check_run
    from vqaudit.records import RunTables, write_text
    from vqaudit.report.gate import gate_markdown
    from vqaudit.report.terminal.gate import gate_view

    given: dict[str, float | None] = dict(
        zip(_LIMITS, (min_accuracy, min_worst, min_coverage, max_spread, max_drop), strict=True)
    )
    _check_usage(given, against)
    if as_json and markdown == "-":
        raise typer.BadParameter("--json and --markdown - both print; give --markdown a file")
    baseline = None if against is None else RunTables.load(against)
    gate = check_run(RunTables.load(run), Limits(**given), against=baseline)
    if markdown is not None and markdown != "-":
        write_text(Path(markdown), gate_markdown(gate))
    if as_json:
        typer.echo(gate.to_json(), nl=False)
    elif markdown == "-":
        typer.echo(gate_markdown(gate), nl=False)
    else:
        Console().print(gate_view(gate))
    raise typer.Exit(gate.exit_code)


def _check_usage(given: dict[str, float | None], against: Path | None) -> None:
    if all(limit is None for limit in given.values()):
        flags = ", ".join("--" + name.replace("_", "-") for name in _LIMITS)
        raise typer.BadParameter(f"nothing to check; set one of {flags}")
    if (given["max_drop"] is None) != (against is None):
        raise typer.BadParameter("--max-drop and --against go together: a drop is one from a baseline")
