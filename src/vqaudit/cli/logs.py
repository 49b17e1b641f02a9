"""The command that reads other harnesses' logs: `import`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vqaudit.cli.app import app
from vqaudit.cli.console import print_summary, quoted, say
from vqaudit.cli.options import By, json_object

if TYPE_CHECKING:
    from vqaudit.logs import KnownItem, Log

_FORMATS = (
    "lm-eval, lmms-eval, inspect, helm, evalscope, llava, llava-scienceqa, mmmu-pro, mmmu, vlmevalkit or table; found "
    "out from the log's fields where not named."
)


@app.command("import")
def import_command(
    logs: Annotated[
        list[Path], typer.Argument(help="Logs of one model: JSONL, JSON, CSV, TSV, XLSX, .eval.", metavar="LOG...")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Run directory to write.")],
    format: Annotated[str | None, typer.Option("--format", help=_FORMATS, metavar="NAME")] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="Which column of a plain table is what, as in reply=output; repeat, or give a JSON object. "
            "docs/logs.md lists the fields.",
            metavar="FIELD=COLUMN",
        ),
    ] = None,
    items: Annotated[
        str | None,
        typer.Option(
            "--items",
            help="Data set with the right answers, options, categories: a file, another log, or a benchmark's name.",
            metavar="FILE_OR_NAME",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Who answered; what the log says by default.", metavar="NAME")
    ] = None,
    changes: Annotated[
        Path | None,
        typer.Option("--changes", help="CSV or JSONL file to write: every reply that the log read differently."),
    ] = None,
    by: By = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no summary.")] = False,
) -> None:
    """Reads another harness's per-sample log into a run directory, reads its replies anew and says what changed."""
    from vqaudit.auditing import open_run
    from vqaudit.logs import LogSpec, merge_logs, read_log, with_items, write_run

    known = {} if items is None else _known_items(items)
    spec = LogSpec(format=format, columns=_mapping(columns or []), items=known)
    log = merge_logs(_by_name(logs, {path: read_log(path, spec) for path in logs}))
    log = with_items(log, known) if known else log
    source = logs[0].name if len(logs) == 1 else f"{logs[0].name} and {len(logs) - 1} more"
    written = write_run(log, out, source=source, model=model)
    left = f", {written.left_out:,} left out" if written.left_out else ""
    say(f"{written.rows:,} rows of {written.items:,} questions{left}, read as [bold]{log.format}[/] into {quoted(out)}")
    if changes is not None:
        _write_changes(out, changes)
    if not quiet:
        print_summary(open_run(out).summary(by=by, details=False))


def _by_name(paths: list[Path], read: dict[Path, Log]) -> dict[str, Log]:
    """Names every log by its task, else by its file; two of one name get their number."""
    names: dict[str, Log] = {}
    for path in paths:
        name = read[path].dataset or path.stem
        names[name if name not in names else f"{name} {len(names) + 1}"] = read[path]
    return names


def _mapping(texts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        if text.lstrip().startswith("{"):
            found |= {field: str(column) for field, column in json_object(text, "--map").items()}
            continue
        field, equals, column = text.partition("=")
        if not (field.strip() and equals and column.strip()):
            raise typer.BadParameter(f"{text!r} is not FIELD=COLUMN, as in reply=output")
        found[field.strip()] = column.strip()
    return found


def _known_items(items: str) -> dict[str, KnownItem]:
    """What the data set says of its samples; a log that names right answers is one too."""
    from vqaudit.auditing import load_data
    from vqaudit.logs import KnownItem, known_items, read_log

    if Path(items).suffix.lower() in (".xlsx", ".eval"):
        return known_items(read_log(items))
    return {
        item.id: KnownItem(
            options=tuple(item.options),
            answer=item.answer,
            question=item.question,
            category=item.category,
            cluster=item.cluster,
        )
        for item in load_data(items).items
    }


def _write_changes(run: Path, path: Path) -> None:
    from vqaudit.analysis.as_logged import changes
    from vqaudit.analysis.frame import analysis_frame
    from vqaudit.records import RunTables, write_text

    tables = RunTables.load(run)
    rows = [change.model_dump(mode="json") for change in changes(tables, analysis_frame(tables))]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_text(path, lines if path.suffix == ".jsonl" else _as_csv(rows))
    say(f"{len(rows):,} replies that the log read differently: {quoted(path)}")


def _as_csv(rows: list[dict[str, Any]]) -> str:
    import polars as pl

    from vqaudit.analysis.as_logged import Change
    from vqaudit.report.export import as_csv

    # Replies are what others wrote: one that begins a formula must not run in a spreadsheet.
    return as_csv(pl.DataFrame(rows, schema=list(Change.model_fields), infer_schema_length=None))
