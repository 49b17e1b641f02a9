"""The command that knows benchmarks by name: `data`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.data_options import Limit, RowOptions, Split, data_of
from vqaudit.cli.groups import with_groups
from vqaudit.cli.options import AsJson

if TYPE_CHECKING:
    from vqaudit.items import Dataset


@app.command("data")
@with_groups
def data_command(
    *,
    data: Annotated[
        str | None,
        typer.Argument(help="Benchmark, NAME=LOCAL_COPY, or a file; none lists the benchmarks.", metavar="NAME"),
    ] = None,
    stats: Annotated[
        bool, typer.Option("--stats", help="Read the data and count: questions, options, picture sizes.")
    ] = False,
    split: Split = None,
    limit: Limit = None,
    rows: RowOptions,
    as_json: AsJson = False,
) -> None:
    """Lists the benchmarks that are known by name; describes one, or counts what is in its data (or in a file)."""
    if data is None:
        _list(as_json=as_json)
        return
    from vqaudit.items.benchmarks import find_benchmark, parse_name

    wanted = parse_name(data)
    if wanted is None and "." not in data and "/" not in data and data != "demo":
        find_benchmark(data)
    entry = None if wanted is None else wanted.entry.to_dict()
    if entry is None or stats:
        _count(data_of(data, rows, split=split, limit=limit), entry, as_json=as_json)
    elif as_json:
        typer.echo(json.dumps(entry, ensure_ascii=False, indent=1))
    else:
        from vqaudit.report.terminal.benchmarks import benchmark_view

        Console().print(benchmark_view(entry))


def _list(*, as_json: bool) -> None:
    from vqaudit.items.benchmarks import BENCHMARKS
    from vqaudit.report.terminal.benchmarks import benchmarks_view

    entries = [entry.to_dict() for entry in BENCHMARKS.values()]
    if as_json:
        typer.echo(json.dumps(entries, ensure_ascii=False, indent=1))
    else:
        Console().print(benchmarks_view(entries))


def _count(dataset: Dataset, entry: dict[str, Any] | None, *, as_json: bool) -> None:
    from vqaudit.items.statistics import dataset_statistics
    from vqaudit.report.terminal.benchmarks import statistics_view

    found = dataset_statistics(dataset).to_dict()
    published = [] if entry is None else entry["published"]
    if as_json:
        shown = {"name": dataset.name, "origin": dataset.origin, "digest": dataset.digest, "counted": found}
        shown |= {"published": published, "warnings": list(dataset.warnings)}
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=1))
    else:
        view = statistics_view(found, name=dataset.name, published=published, warnings=dataset.warnings)
        Console().print(view)
