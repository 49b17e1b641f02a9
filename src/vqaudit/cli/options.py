"""Options that several commands share, and what their values stand for. Knows no command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

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
Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="Folder, hub ID or GGUF file, openai:NAME (a server), vllm:NAME, or [bold]demo[/].",
        metavar="PATH_OR_HUB_ID",
    ),
]
DesignNames = Annotated[
    list[str] | None,
    typer.Option(
        "--design",
        help="reference, grid, two-stage, permuted, scrambled-ids, whose-a or randomised (default); repeat to unite.",
        metavar="NAME",
    ),
]
InterfaceNames = Annotated[
    list[str] | None,
    typer.Option(
        "--interface",
        "-i",
        help="Interface, direct by default, or EVENT:ENDING/PLACE as in scores:answer-cue; NAME@DESIGN gives it a "
        "design of its own. Repeat for several.",
        metavar="NAME[@DESIGN]",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option("--preset", help="interfaces: everything that paper 2 measures, in one run.", metavar="NAME"),
]
EndingsFile = Annotated[
    Path | None, typer.Option("--endings", help="JSON file with endings of your own, for EVENT:ENDING.")
]
AnswerCue = Annotated[
    str | None,
    typer.Option(
        "--answer-cue", help="What follows a rationale before IDs are scored; The answer is by default.", metavar="TEXT"
    ),
]
Watch = Annotated[
    list[str] | None,
    typer.Option(
        "--watch",
        help="Word whose probability is recorded beside the IDs', instead of the default set; repeat, or none.",
        metavar="WORD",
    ),
]
Permutations = Annotated[
    int, typer.Option("--permutations", help="Seeded permutations of the contents in the design permuted.", min=1)
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
KeepStates = Annotated[
    str | None,
    typer.Option(
        "--keep-states",
        help="Keep hidden states beside ID scores, for vqaudit internals: those of the last layer, or of all.",
        metavar="last|all",
    ),
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

    options = {name: given.get(name) for name in ("answers", "image_root", "limit", "skip_bad_items", "split")}
    if given["columns"] is not None:
        options["columns"] = _columns(given["columns"])
    return load_data(given["data"], **options)


def model_of(given: dict[str, Any]) -> Any:
    """The engine that a command's options name."""
    return maker_of(given)()


def maker_of(given: dict[str, Any]) -> Any:
    """What makes the engine that a command's options name, wherever it is called."""
    from functools import partial

    from vqaudit.auditing import load_model

    return partial(load_model, given["model"], **model_settings(given))


def model_settings(given: dict[str, Any], *, several: bool = False) -> dict[str, Any]:
    """The fields of the spec of a model's engine that a command's options name.

    Args:
        given: The command's parameters.
        several: Whether the options are those of several models, so that some need not be this one's.
    """
    from vqaudit.cli.server_options import is_server, refuse_local_options, refuse_server_options, server_settings

    chat_kwargs = json_object(given.get("chat_kwargs"), "--chat-kwargs")
    if is_server(given["model"]):
        if not several:
            refuse_local_options(given)
        return server_settings(given, chat_kwargs)
    if not several:
        refuse_server_options(given)
    spec = {name: given[name] for name in ("device", "dtype", "revision", "trust_remote_code") if name in given}
    if given["model"].startswith("vllm:") and spec.pop("device", "auto") != "auto":
        raise typer.BadParameter("--device is not vLLM's to choose; set CUDA_VISIBLE_DEVICES for vllm:NAME")
    return spec | {"chat_kwargs": chat_kwargs}


_SETTINGS = ("draws", "seed", "reference", "formats", "orders", "system", "image_max_pixels", "max_tokens")
_ROUNDS = (
    *("noise_floor", "until", "max_draws", "confirm_orders"),
    *("endings", "answer_cue", "permutations", "keep_states"),
)


def settings_of(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of `AuditSpec` that a command's options name."""
    budget = given["budget"]
    rounds = {name: given[name] for name in _ROUNDS if name in given}
    watch = {"watch": [word for word in given["watch"] if word != "none"]} if given.get("watch") else {}
    return (
        {name: given[name] for name in _SETTINGS}
        | rounds
        | watch
        | _asked(given)
        | {"budget": int(budget) if budget.isdigit() else budget}
    )


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    """Designs and interfaces, or the preset that names them; with a preset, only what was typed beside it."""
    if given.get("preset") is None:
        return {"design": given["design"] or ["randomised"], "interface": given["interface"] or ["direct"]}
    from vqaudit.run.presets import PRESETS

    typed = {"design": tuple(given["design"])} if given["design"] else {}
    orders = PRESETS.get(given["preset"], {}).get("orders", given["orders"])
    return typed | {"preset": given["preset"], "interface": given["interface"] or [], "orders": orders}
