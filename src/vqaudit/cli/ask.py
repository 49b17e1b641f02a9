"""Commands that show how a question is asked: `formats`, `render`."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vqaudit.cli.app import app
from vqaudit.cli.console import say
from vqaudit.cli.options import (
    Answers,
    AsJson,
    ChatKwargs,
    Columns,
    Data,
    FormatsFile,
    ImageRoot,
    SkipBad,
    System,
    data_of,
    model_of,
)


@app.command("formats")
def formats_command(
    formats: FormatsFile = None,
    as_json: AsJson = False,
) -> None:
    """Lists the formats of the grid, and the interfaces."""
    from vqaudit.asking.custom import load_formats
    from vqaudit.asking.formats import FORMATS
    from vqaudit.asking.interfaces import INTERFACES

    grid = FORMATS if formats is None else load_formats(formats)
    if as_json:
        rows = [{"format": f.name, "example": f.list_options(("a cat", "a dog"), f.id_set.first(2))} for f in grid]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    console = Console()
    table = Table("format", "two options, as shown", title=f"{len(grid)} formats", title_justify="left")
    for format in grid:
        example = format.list_options(("a cat", "a dog"), format.id_set.first(2))
        table.add_row(escape(format.name), escape(example.replace("\n", " ⏎ ")))
    console.print(table)
    table = Table("interface", "ending", "place", "scored event", "aligned", title="Interfaces", title_justify="left")
    for i in INTERFACES.values():
        table.add_row(i.name, i.ending.name, i.place, i.event, "yes" if i.aligned else "[bold red]no[/]")
    console.print(table)


@app.command("render")
def render_command(
    context: typer.Context,
    data: Data,
    item: Annotated[str, typer.Option("--item", help="ID of the item.", metavar="ID")],
    format: Annotated[
        str | None, typer.Option("--format", help="As in upper/dot/line_break.", metavar="FORMAT")
    ] = None,
    order: Annotated[int, typer.Option("--order", help="Rotation, from 0.", min=0)] = 0,
    interface: Annotated[str, typer.Option("--interface", "-i", help="Interface.")] = "direct",
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Show the whole prompt through this model's chat template.")
    ] = None,
    formats: FormatsFile = None,
    system: System = None,
    chat_kwargs: ChatKwargs = None,
    columns: Columns = None,
    answers: Answers = None,
    skip_bad_items: SkipBad = False,
    image_root: ImageRoot = None,
    as_json: AsJson = False,
) -> None:
    """Prints exactly what the model sees, byte for byte; facts about it go to standard error."""
    from vqaudit.run import AskSpec
    from vqaudit.run.preview import Asked, preview

    dataset = data_of(context.params)
    engine = None if model is None else model_of(context.params)
    asked = Asked(format=format, formats=formats, rotation=order, interface=interface)
    shown = preview(dataset, item, asked=asked, engine=engine, spec=AskSpec(system=system))
    if as_json:
        typer.echo(json.dumps(shown.to_dict(), ensure_ascii=False, indent=1))
        return
    say(f"[dim]{escape(shown.headline)}[/]")
    sys.stdout.write(shown.text)
    sys.stdout.write("\n")
