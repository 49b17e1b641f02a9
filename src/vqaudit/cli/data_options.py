"""Options that say what is asked, and the dataset that they name. Knows no command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vqaudit.cli.console import quoted, say
from vqaudit.cli.options import json_object

if TYPE_CHECKING:
    from vqaudit.items import Columns, Dataset

__all__ = ["Data", "Limit", "RowOptions", "Split", "data_of"]

Data = Annotated[
    str,
    typer.Option(
        "--data",
        "-d",
        help="JSONL, JSON, CSV, TSV or Parquet file; a benchmark's NAME or NAME=LOCAL_COPY, as `vqaudit data` lists; "
        "or [bold]demo[/].",
        metavar="FILE_OR_NAME",
    ),
]
Split = Annotated[
    str | None, typer.Option("--split", help="Split of a named benchmark; its usual one by default.", metavar="SPLIT")
]
Limit = Annotated[int | None, typer.Option("--limit", help="Only the first N items.", min=1)]


@dataclass(frozen=True, kw_only=True, slots=True)
class RowOptions:
    """How a file's rows become items."""

    columns: Annotated[
        str | None,
        typer.Option(
            "--columns", help='Which column is what, as in \'{"question": "q", "answer": "gold"}\'.', metavar="JSON"
        ),
    ] = None
    answers: Annotated[
        str | None, typer.Option("--answers", help="How answers are written: letter, index0, index1, text or label.")
    ] = None
    skip_bad_items: Annotated[
        bool, typer.Option("--skip-bad-items", help="Leave bad rows out; the run lists them.")
    ] = False
    image_root: Annotated[
        Path | None, typer.Option("--image-root", help="Folder of the pictures; the data file's own by default.")
    ] = None
    fetch_images: Annotated[
        Path | None,
        typer.Option(
            "--fetch-images",
            help="Fetch pictures that are named by URL, each once, into this folder.",
            metavar="FOLDER",
        ),
    ] = None


def data_of(data: str, rows: RowOptions, *, split: str | None, limit: int | None = None) -> Dataset:
    """Returns the dataset that a command's options name.

    Raises:
        typer.BadParameter: The value of `--columns` is wrong.
        DatasetError: The data cannot be read.
    """
    from vqaudit.auditing import load_data

    options: dict[str, Any] = {
        "answers": rows.answers,
        "image_root": rows.image_root,
        "fetch_images": rows.fetch_images,
        "limit": limit,
        "skip_bad_items": rows.skip_bad_items,
        "split": split,
    }
    if rows.columns is not None:
        options["columns"] = _columns(rows.columns)
    dataset = load_data(data, **options)
    if (found := dataset.fetched) is not None:
        place = quoted(rows.fetch_images)
        say(f"[dim]pictures named by URL: {found.pictures:,} in {place}, {found.failed:,} could not be fetched[/]")
    return dataset


def _columns(text: str) -> Columns:
    """Which column is what; a list names one column per option or image."""
    from vqaudit.items import Columns

    declared: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in json_object(text, "--columns").items()
    }
    known = set(Columns.__dataclass_fields__)
    if unknown := sorted(declared.keys() - known):
        raise typer.BadParameter(f"--columns has {', '.join(unknown)}; it knows {', '.join(sorted(known))}")
    return Columns(**declared)
