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
from vqaudit.cli.asking_options import EndingsFile, FormatsFile, System
from vqaudit.cli.console import quoted, say
from vqaudit.cli.data_options import Data, RowOptions, Split, data_of
from vqaudit.cli.groups import with_groups
from vqaudit.cli.model_options import ChatKwargs, maker_of
from vqaudit.cli.options import AsJson


@app.command("formats")
def formats_command(
    formats: FormatsFile = None,
    endings: EndingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Lists the formats of the grid, the interfaces, and the endings and events that can be combined."""
    from vqaudit.asking.custom import load_endings, load_formats
    from vqaudit.asking.endings import ENDINGS
    from vqaudit.asking.formats import FORMATS
    from vqaudit.asking.interfaces import EVENTS, INTERFACES

    grid = FORMATS if formats is None else load_formats(formats)
    if as_json:
        rows = [{"format": f.name, "example": f.list_options(("a cat", "a dog"), f.id_set.first(2))} for f in grid]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    console = Console()
    table = Table("format", "two options, as shown", title=f"{len(grid)} formats", title_justify="left")
    for format in grid:
        example = format.list_options(("a cat", "a dog"), format.id_set.first(2))
        table.add_row(quoted(format.name), quoted(example.replace("\n", " ⏎ ")))
    console.print(table)
    table = Table("interface", "ending", "place", "scored event", "aligned", title="Interfaces", title_justify="left")
    for i in INTERFACES.values():
        table.add_row(i.name, i.ending.name, i.place, i.event, "yes" if i.aligned else "[bold red]no[/]")
    console.print(table)
    table = Table("ending", "text", "asks for", "invites", title="Endings", title_justify="left")
    for ending in (ENDINGS if endings is None else load_endings(endings)).values():
        table.add_row(quoted(ending.name), quoted(ending.text or "(nothing)"), ending.asks, ending.strength)
    console.print(table)
    events = ", ".join(f"{name} ({event})" for name, (event, _) in EVENTS.items())
    console.print(escape(f"Any of them combine as EVENT:ENDING[/PLACE]. Events: {events}; places: user, assistant."))


@app.command("render")
@with_groups
def render_command(
    *,
    data: Data,
    item: Annotated[str, typer.Option("--item", help="ID of the item.", metavar="ID")],
    split: Split = None,
    format: Annotated[
        str | None, typer.Option("--format", help="As in upper/dot/line_break.", metavar="FORMAT")
    ] = None,
    order: Annotated[int, typer.Option("--order", help="Rotation, from 0.", min=0)] = 0,
    interface: Annotated[
        str, typer.Option("--interface", "-i", help="Interface, or EVENT:ENDING/PLACE as in scores:answer-cue.")
    ] = "direct",
    endings: EndingsFile = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Show the whole prompt through this model's chat template.")
    ] = None,
    formats: FormatsFile = None,
    system: System = None,
    chat_kwargs: ChatKwargs = None,
    rows: RowOptions,
    as_json: AsJson = False,
) -> None:
    """Prints exactly what the model sees, byte for byte; facts about it go to standard error."""
    from vqaudit.report.untrusted import printable
    from vqaudit.run import AskSpec
    from vqaudit.run.preview import Asked, preview

    dataset = data_of(data, rows, split=split)
    engine = None if model is None else maker_of(model, chat_kwargs=chat_kwargs)()
    asked = Asked(format=format, formats=formats, rotation=order, interface=interface, endings=endings)
    shown = preview(dataset, item, asked=asked, engine=engine, spec=AskSpec(system=system))
    if as_json:
        typer.echo(json.dumps(shown.to_dict(), ensure_ascii=False, indent=1))
        return
    say(f"[dim]{quoted(shown.headline)}[/]")
    # A file or pipe gets the bytes; a terminal would obey control characters among them, so it gets their pictures.
    sys.stdout.write(printable(shown.text) if sys.stdout.isatty() else shown.text)
    sys.stdout.write("\n")
