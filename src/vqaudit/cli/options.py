"""Options that several commands share, and what their values stand for. Knows no command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

Data = Annotated[
    str, typer.Option("--data", "-d", help="JSONL, JSON, CSV, TSV or Parquet file, or [bold]demo[/].", metavar="FILE")
]
Model = Annotated[
    str,
    typer.Option("--model", "-m", help="Folder, hub ID or GGUF file, or [bold]demo[/].", metavar="PATH_OR_HUB_ID"),
]
DesignNames = Annotated[
    list[str] | None,
    typer.Option(
        "--design",
        help="reference, grid, two-stage, scrambled-ids or randomised (default); repeat to unite.",
        metavar="NAME",
    ),
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
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        help="Draw on until half-width=0.01 (this dataset) or items-half-width=0.05 (items like these) is reached.",
        metavar="TARGET",
    ),
]
MaxDraws = Annotated[int, typer.Option("--max-draws", help="Most draws per item with a target.", min=1)]
HalfWidth = Annotated[
    float | None,
    typer.Option("--half-width", help="Say how many draws a half-width takes, as in 0.01.", metavar="SHARE"),
]
ConfirmOrders = Annotated[
    int, typer.Option("--confirm-orders", help="Orders per item and format in the second of two stages.", min=1)
]
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
Details = Annotated[
    bool, typer.Option("--details", help="Effects, mitigations, confidence groups, position apart from ID too.")
]
CalibrateOn = Annotated[
    Path | None,
    typer.Option("--calibrate-on", help="Run of the same model to take PriDe's prior from.", metavar="RUN"),
]
Runs = Annotated[list[Path], typer.Argument(help="Run directories.", metavar="RUN...")]
OneRun = Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")]


def json_object(text: str | None, option: str) -> dict[str, Any]:
    """Returns an option's value, read as a JSON object; nothing given is an empty one."""
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
        name: tuple(v) if isinstance(v, list) else v for name, v in json_object(text, "--columns").items()
    }
    known = set(ColumnMap.__dataclass_fields__)
    if unknown := sorted(declared.keys() - known):
        raise typer.BadParameter(f"--columns has {', '.join(unknown)}; it knows {', '.join(sorted(known))}")
    return ColumnMap(**declared)


def data_of(given: dict[str, Any]) -> Any:
    """The dataset that a command's options name."""
    from vqaudit.auditing import load_data

    options = {name: given.get(name) for name in ("answers", "image_root", "limit", "skip_bad_items")}
    if given["columns"] is not None:
        options["columns"] = _columns(given["columns"])
    return load_data(given["data"], **options)


def model_of(given: dict[str, Any]) -> Any:
    """The engine that a command's options name."""
    from vqaudit.auditing import load_model

    spec = {name: given[name] for name in ("device", "dtype", "revision", "trust_remote_code") if name in given}
    return load_model(given["model"], chat_kwargs=json_object(given["chat_kwargs"], "--chat-kwargs"), **spec)


_SETTINGS = ("draws", "seed", "reference", "formats", "orders", "system", "image_max_pixels", "max_tokens")
_ROUNDS = ("until", "max_draws", "confirm_orders")


def settings_of(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of `AuditSpec` that a command's options name."""
    budget = given["budget"]
    rounds = {name: given[name] for name in _ROUNDS if name in given}
    return (
        {name: given[name] for name in _SETTINGS}
        | rounds
        | {
            "design": given["design"] or ["randomised"],
            "interface": given["interface"] or ["direct"],
            "budget": int(budget) if budget.isdigit() else budget,
        }
    )
