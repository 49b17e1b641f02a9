"""The command that knows models by name: `models`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.options import AsJson

if TYPE_CHECKING:
    from vqaudit.engines.models import ModelEntry

_OWN = 60
"""Tokens that a row has for itself: options, ending, reply."""


@app.command("models")
def models_command(
    name: Annotated[
        str | None, typer.Argument(help="Short name or hub ID; none lists the models.", metavar="NAME")
    ] = None,
    prefix: Annotated[
        int, typer.Option("--prefix", help="Tokens of picture and question that prompts share.", min=1)
    ] = 2048,
    rows: Annotated[int, typer.Option("--rows", help="Prompts in one batch.", min=1)] = 48,
    dtype: Annotated[str, typer.Option("--dtype", help="float32, bfloat16 or float16.")] = "bfloat16",
    as_json: AsJson = False,
) -> None:
    """Lists models known by name, or tells one's engine, memory and traps. Any hub ID works without an entry."""
    from vqaudit.engines.models import MODELS, find_model
    from vqaudit.engines.models.memory import BYTES

    if dtype not in BYTES:
        raise typer.BadParameter(f"--dtype {dtype!r}: choose from {', '.join(BYTES)}")
    chosen = list(MODELS.values()) if name is None else [find_model(name)]
    told = [_told(entry, prefix=prefix, rows=rows, dtype=dtype) for entry in chosen]
    if as_json:
        typer.echo(json.dumps(told if name is None else told[0], ensure_ascii=False, indent=1))
        return
    from vqaudit.report.terminal.models import model_view, models_view

    Console().print(models_view(told) if name is None else model_view(told[0]))


def _told(entry: ModelEntry, *, prefix: int, rows: int, dtype: str) -> dict[str, Any]:
    from vqaudit.engines.models import memory_needed

    memory = memory_needed(entry.shape, prefix=prefix, rows=rows, own=_OWN, dtype=dtype)
    stated = {"prefix": prefix, "rows": rows, "own": _OWN, "dtype": dtype}
    return entry.to_dict() | {"memory_gib": {key: round(v, 2) for key, v in asdict(memory).items()} | stated}
