"""Commands about a run directory as files: `status`, `compact`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live

from vqaudit.cli.app import app
from vqaudit.cli.options import AsJson, OneRun


@app.command("status")
def status_command(
    run: OneRun,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on showing it until the run is at rest.")] = False,
    every: Annotated[float, typer.Option("--every", help="Seconds between two looks with --watch.", min=0.2)] = 2.0,
    as_json: AsJson = False,
) -> None:
    """Says how far a run is, from any process that sees its directory, while it is being written or after."""
    from vqaudit.records import StatusReader
    from vqaudit.report.terminal import status_view

    reader = StatusReader(Path(run))
    status = reader.read()
    if as_json:
        typer.echo(json.dumps(status.to_dict(), indent=None if watch else 1))
        while watch and status.state == "running":
            time.sleep(every)
            status = reader.read()
            typer.echo(json.dumps(status.to_dict()))
        return
    console = Console()
    if not watch:
        console.print(status_view(status))
        return
    with Live(status_view(status), console=console, auto_refresh=False) as live:
        while status.state == "running":
            time.sleep(every)
            status = reader.read()
            live.update(status_view(status), refresh=True)


@app.command("compact")
def compact_command(run: OneRun, as_json: AsJson = False) -> None:
    """Writes the many small parts of a run at rest as a few large ones; every record is kept."""
    from vqaudit.records import compact, read_manifest
    from vqaudit.report.digits import count

    read_manifest(run)
    done = compact(Path(run))
    if as_json:
        typer.echo(json.dumps(done.to_dict(), indent=1))
        return
    before, after = (f"{size / 2**20:,.1f} MiB" for size in (done.bytes_before, done.bytes_after))
    typer.echo(
        f"{count(done.records)} records: {count(done.parts_before)} parts ({before}) are "
        f"{count(done.parts_after)} now ({after})"
    )
