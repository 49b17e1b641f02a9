"""`lint`: is the event that is scored the event that was asked for?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.options import AsJson


@app.command("lint")
def lint_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Task files, results, sample logs, Inspect logs, runs, folders.", metavar="PATH..."),
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules and leave.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help="Show every finding, not a few of each kind.")] = False,
    as_json: AsJson = False,
) -> None:
    """Checks how other people's tasks ask and score; exit code 1 where a finding is an error."""
    from vqaudit.lint import RULES, lint_paths
    from vqaudit.report.terminal.lint import lint_view, rules_view

    if rules:
        listed = [{"name": r.name, "severity": r.severity, "asks": r.asks, "advice": r.advice} for r in RULES]
        if as_json:
            typer.echo(json.dumps(listed, indent=1))
        else:
            Console().print(rules_view(listed))
        return
    if not paths:
        raise typer.BadParameter("name at least one file or folder", param_hint="PATH...")
    report = lint_paths(paths)
    if as_json:
        typer.echo(json.dumps(report.to_dict(), indent=1, ensure_ascii=False))
    else:
        Console().print(lint_view(report.to_dict(), show_all=show_all))
    if report.failed:
        raise typer.Exit(1)
