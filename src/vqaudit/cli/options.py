"""Options that commands of several kinds share, and how a value that is JSON is read. Knows no command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["AsJson", "By", "CalibrateOn", "Details", "OneRun", "Runs", "flag", "json_object"]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
By = Annotated[str | None, typer.Option("--by", help="category: a row per category.")]
Details = Annotated[
    bool, typer.Option("--details", help="Effects, mitigations, confidence groups, position apart from ID too.")
]
CalibrateOn = Annotated[
    Path | None,
    typer.Option("--calibrate-on", help="Run of the same model to take PriDe's prior from.", metavar="RUN"),
]
Runs = Annotated[list[Path], typer.Argument(help="Run directories.", metavar="RUN...")]
OneRun = Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")]


def flag(name: str) -> str:
    """Returns how the option of a parameter is typed.

    Example:
        >>> flag("base_url")
        '--base-url'
    """
    return "--" + name.replace("_", "-")


def json_object(text: str | None, option: str) -> dict[str, Any]:
    """Returns an option's value, read as a JSON object; nothing given is an empty one.

    Raises:
        typer.BadParameter: It is no JSON, or no object.
    """
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"{option} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise typer.BadParameter(f'{option} must be a JSON object, as in \'{{"key": "value"}}\'')
    return value
