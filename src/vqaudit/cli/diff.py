"""`diff`: why two scores of one model differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.options import AsJson

_SCORE = "What counts as right: auto (a log's own verdict where it has one, else reading), reading, lenient, logged."


@app.command("diff")
def diff_command(
    run_a: Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN_A")],
    run_b: Annotated[Path, typer.Argument(help="Another, of the same model.", metavar="RUN_B")],
    score_a: Annotated[str, typer.Option("--score-a", help=f"In A. {_SCORE}", metavar="KIND")] = "auto",
    score_b: Annotated[str, typer.Option("--score-b", help="In B, likewise.", metavar="KIND")] = "auto",
    interface_a: Annotated[str | None, typer.Option("--interface-a", help="Whose trials in A.", metavar="NAME")] = None,
    interface_b: Annotated[str | None, typer.Option("--interface-b", help="Whose trials in B.", metavar="NAME")] = None,
    flips: Annotated[int, typer.Option("--flips", help="Flipped pairs to show of each cause.", min=0)] = 3,
    as_json: AsJson = False,
) -> None:
    """Splits the difference of two scores into items, prompts, readings and replies, exactly."""
    from typing import cast

    from vqaudit.analysis.diff import diff_runs
    from vqaudit.analysis.diff_sides import ScoreKind
    from vqaudit.records import RunTables
    from vqaudit.report.terminal.diff import diff_view

    found = diff_runs(
        RunTables.load(run_a),
        RunTables.load(run_b),
        scores=(cast(ScoreKind, score_a), cast(ScoreKind, score_b)),
        interfaces=(interface_a, interface_b),
    )
    if as_json:
        typer.echo(found.to_json())
    else:
        Console().print(diff_view(found, flips=flips))
