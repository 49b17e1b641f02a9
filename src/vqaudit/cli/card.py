"""The command that writes a statement for a model card: `card`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vqaudit.cli.app import app
from vqaudit.cli.options import Runs


@app.command("card")
def card_command(
    runs: Runs,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; standard output by default.", metavar="FILE")
    ] = None,
    dated: Annotated[bool, typer.Option("--dated", help="Say on which day each run ended.")] = False,
) -> None:
    """Writes a robustness statement for a model card: Markdown with a Hugging Face model-index block."""
    from vqaudit.records import RunTables, write_text
    from vqaudit.report.card import card

    text = card([RunTables.load(run) for run in runs], dated=dated)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
        typer.echo(str(out))
