"""The command line: parse, call, print. Knows no statistic and no model.

Exit codes: 0 done, 1 an error that the message explains, 2 wrong usage, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vqaudit.errors import PlanError, VqauditError

__all__ = ["app", "main"]

app = typer.Typer(
    name="vqaudit",
    help="Can a multiple-choice score of a vision-language model be trusted? Measure how much of it is the model.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

Data = Annotated[
    str, typer.Option("--data", "-d", help="JSONL, JSON, CSV, TSV or Parquet file, or [bold]demo[/].", metavar="FILE")
]
Model = Annotated[
    str,
    typer.Option("--model", "-m", help="Folder, hub ID or GGUF file, or [bold]demo[/].", metavar="PATH_OR_HUB_ID"),
]
DesignNames = Annotated[
    list[str] | None,
    typer.Option("--design", help="reference, grid or randomised (default); repeat to unite.", metavar="NAME"),
]
InterfaceNames = Annotated[
    list[str] | None,
    typer.Option(
        "--interface",
        "-i",
        help="Interface, direct by default; NAME@DESIGN gives it a design of its own. Repeat for several.",
        metavar="NAME[@DESIGN]",
    ),
]
Draws = Annotated[int, typer.Option("--draws", help="Randomised variants per item.", min=1)]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every draw.", min=0)]
Limit = Annotated[int | None, typer.Option("--limit", help="Only the first N items.", min=1)]
Reference = Annotated[
    str | None, typer.Option("--reference", help="Reference format, as in upper/dot/line_break.", metavar="FORMAT")
]
FormatsFile = Annotated[
    Path | None, typer.Option("--formats", help="JSON file with ID sets, delimiters, separators of your own.")
]
Orders = Annotated[str, typer.Option("--orders", help="circular, or dataset: the dataset's order alone.")]
System = Annotated[str | None, typer.Option("--system", help="System prompt.", metavar="TEXT")]
ChatKwargs = Annotated[
    str | None, typer.Option("--chat-kwargs", help="Arguments of the chat template.", metavar="JSON")
]
MaxPixels = Annotated[
    int | None, typer.Option("--image-max-pixels", help="Scale larger pictures down to N pixels.", min=1)
]
Budget = Annotated[
    str, typer.Option("--budget", help="Tokens of an exact reply: emitted (as the model emits IDs), paper, or N.")
]
MaxTokens = Annotated[int, typer.Option("--max-tokens", help="Limit of a free generation.", min=1)]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1, mps ...")]
Dtype = Annotated[str, typer.Option("--dtype", help="auto, float32, bfloat16 or float16.")]
Revision = Annotated[str | None, typer.Option("--revision", help="Branch, tag or commit on the hub.")]
TrustRemoteCode = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run code that comes with the model. Only if you trust its author.")
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns", help='Which column is what, as in \'{"question": "q", "answer": "gold"}\'.', metavar="JSON"
    ),
]
Answers = Annotated[
    str | None, typer.Option("--answers", help="How answers are written: letter, index0, index1, text or label.")
]
SkipBad = Annotated[bool, typer.Option("--skip-bad-items", help="Leave bad rows out; the run lists them.")]
ImageRoot = Annotated[
    Path | None, typer.Option("--image-root", help="Folder of the pictures; the data file's own by default.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
By = Annotated[str | None, typer.Option("--by", help="category: a row per category.")]
Runs = Annotated[list[Path], typer.Argument(help="Run directories.", metavar="RUN...")]
OneRun = Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")]


def _object(text: str | None, option: str) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"{option} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise typer.BadParameter(f'{option} must be a JSON object, as in \'{{"key": "value"}}\'')
    return value


def _columns(text: str) -> Any:
    """Which column is what; a list names one column per option or image."""
    from vqaudit.items import Columns as ColumnMap

    declared: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in _object(text, "--columns").items()
    }
    known = set(ColumnMap.__dataclass_fields__)
    if unknown := sorted(declared.keys() - known):
        raise typer.BadParameter(f"--columns has {', '.join(unknown)}; it knows {', '.join(sorted(known))}")
    return ColumnMap(**declared)


def _data_of(given: dict[str, Any]) -> Any:
    """The dataset that a command's options name."""
    from vqaudit.auditing import load_data

    options = {name: given.get(name) for name in ("answers", "image_root", "limit", "skip_bad_items")}
    if given["columns"] is not None:
        options["columns"] = _columns(given["columns"])
    return load_data(given["data"], **options)


def _model_of(given: dict[str, Any]) -> Any:
    """The engine that a command's options name."""
    from vqaudit.auditing import load_model

    spec = {name: given[name] for name in ("device", "dtype", "revision", "trust_remote_code") if name in given}
    return load_model(given["model"], chat_kwargs=_object(given["chat_kwargs"], "--chat-kwargs"), **spec)


_SETTINGS = ("draws", "seed", "reference", "formats", "orders", "system", "image_max_pixels", "max_tokens")


def _settings_of(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of `AuditSpec` that a command's options name."""
    budget = given["budget"]
    return {name: given[name] for name in _SETTINGS} | {
        "design": given["design"] or ["randomised"],
        "interface": given["interface"] or ["direct"],
        "budget": int(budget) if budget.isdigit() else budget,
    }


def _say(message: str) -> None:
    Console(stderr=True).print(message)


@app.command("run")
def run_command(
    context: typer.Context,
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Run directory.", metavar="RUN")],
    design: DesignNames = None,
    interface: InterfaceNames = None,
    draws: Draws = 1,
    seed: Seed = 0,
    limit: Limit = None,
    reference: Reference = None,
    formats: FormatsFile = None,
    orders: Orders = "circular",
    system: System = None,
    chat_kwargs: ChatKwargs = None,
    image_max_pixels: MaxPixels = None,
    budget: Budget = "emitted",
    max_tokens: MaxTokens = 512,
    device: Device = "auto",
    dtype: Dtype = "auto",
    revision: Revision = None,
    trust_remote_code: TrustRemoteCode = False,
    columns: Columns = None,
    answers: Answers = None,
    skip_bad_items: SkipBad = False,
    image_root: ImageRoot = None,
    page: Annotated[bool, typer.Option(help="Write page.html too.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Audits a model on a dataset; the same command goes on where it was stopped."""
    from vqaudit.auditing import audit

    with _stoppable():
        dataset = _data_of(context.params)
        engine = _model_of(context.params)
        run = audit(engine, dataset, out=out, progress=not quiet, **_settings_of(context.params))
        engine.close()
    _finish_run(run, page=page, quiet=quiet)


def _finish_run(run: Any, *, page: bool, quiet: bool) -> None:
    from vqaudit.errors import EngineUnavailable
    from vqaudit.records import write_text

    summary = run.summary()
    write_text(run.path / "summary.json", summary.to_json() + "\n")
    if not quiet:
        _print_summary(summary)
    if page:
        try:
            _say(f"[dim]page:[/] {escape(str(run.report(run.path / 'page.html')))}")
        except EngineUnavailable as error:
            _say(f"[dim]no page: {escape(str(error))}[/]")
    if summary.counts.done == 0:
        raise PlanError(f"no trial could be answered; see the errors in {run.path}")


def _print_summary(summary: Any) -> None:
    from vqaudit.report.terminal import summary_view

    Console().print(summary_view(summary))


@app.command("plan")
def plan_command(
    context: typer.Context,
    model: Model,
    data: Data,
    design: DesignNames = None,
    interface: InterfaceNames = None,
    draws: Draws = 1,
    seed: Seed = 0,
    limit: Limit = None,
    reference: Reference = None,
    formats: FormatsFile = None,
    orders: Orders = "circular",
    system: System = None,
    chat_kwargs: ChatKwargs = None,
    image_max_pixels: MaxPixels = None,
    budget: Budget = "emitted",
    max_tokens: MaxTokens = 512,
    device: Device = "auto",
    dtype: Dtype = "auto",
    revision: Revision = None,
    trust_remote_code: TrustRemoteCode = False,
    columns: Columns = None,
    answers: Answers = None,
    skip_bad_items: SkipBad = False,
    image_root: ImageRoot = None,
    timed: Annotated[bool, typer.Option(help="Answer a few trials to tell the time; nothing is kept.")] = True,
    as_json: AsJson = False,
) -> None:
    """Says what a run would cost: trials, pictures, tokens, time. Writes nothing and spends nothing."""
    from vqaudit.report.terminal import cost_view
    from vqaudit.run import estimate_cost, make_audit_plan, make_spec

    dataset = _data_of(context.params)
    spec = make_spec(_settings_of(context.params))
    plan = make_audit_plan(dataset.items, spec)
    engine = _model_of(context.params)
    cost = estimate_cost(plan, engine, spec=spec.asking, timed=timed)
    if as_json:
        typer.echo(json.dumps(cost.to_dict(), indent=1))
    else:
        Console().print(cost_view(cost.to_dict(), model=engine.name, data=dataset.name))


@app.command("summary")
def summary_command(run: OneRun, by: By = None, as_json: AsJson = False) -> None:
    """Shows what a run found."""
    from vqaudit.auditing import open_run

    summary = open_run(run).summary(by=by)
    if as_json:
        typer.echo(summary.to_json())
    else:
        _print_summary(summary)


@app.command("compare")
def compare_command(runs: Runs, as_json: AsJson = False) -> None:
    """Ranks runs over the same items, with paired differences and the ranking's uncertainty."""
    from vqaudit.analysis.summary import compare
    from vqaudit.records import RunTables
    from vqaudit.report.terminal import comparison_view

    if len(runs) < 2:
        raise typer.BadParameter("name at least two runs to compare")
    comparison = compare([RunTables.load(run) for run in runs])
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

    dataset = _data_of(context.params)
    engine = None if model is None else _model_of(context.params)
    asked = Asked(format=format, formats=formats, rotation=order, interface=interface)
    shown = preview(dataset, item, asked=asked, engine=engine, spec=AskSpec(system=system))
    if as_json:
        typer.echo(json.dumps(shown.to_dict(), ensure_ascii=False, indent=1))
        return
    _say(f"[dim]{escape(shown.headline)}[/]")
    sys.stdout.write(shown.text)
    sys.stdout.write("\n")


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"vqaudit {version('vqaudit')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def _interrupt(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def _stoppable() -> Iterator[None]:
    """Turns Ctrl-C and SIGTERM into exit code 130 with a word on how to go on."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except KeyboardInterrupt:
        _say("[yellow]stopped; what was answered is kept, and the same command goes on[/]")
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def main() -> None:
    """Runs the command line; errors of ours are one line on standard error."""
    try:
        app()
    except VqauditError as error:
        Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {escape(str(error))}")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
