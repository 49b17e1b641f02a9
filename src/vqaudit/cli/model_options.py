"""Options that say who answers, and what loads the model that they name. Knows no command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vqaudit.cli.options import flag, json_object
from vqaudit.cli.server_options import ServerOptions, is_server, refuse_server_options, server_settings

if TYPE_CHECKING:
    from vqaudit.engines.base import Engine

__all__ = ["ChatKwargs", "Device", "Dtype", "LocalOptions", "Model", "maker_of"]

Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="Folder, hub ID or GGUF file, openai:NAME (a server), vllm:NAME, or [bold]demo[/] (also [bold]demo-1[/]).",
        metavar="PATH_OR_HUB_ID",
    ),
]
ChatKwargs = Annotated[
    str | None, typer.Option("--chat-kwargs", help="Arguments of the chat template.", metavar="JSON")
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1, mps ...")]
Dtype = Annotated[str, typer.Option("--dtype", help="auto, float32, bfloat16 or float16.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalOptions:
    """How a model in this process is loaded."""

    device: Device = "auto"
    dtype: Dtype = "auto"
    revision: Annotated[str | None, typer.Option("--revision", help="Branch, tag or commit on the hub.")] = None
    trust_remote_code: Annotated[
        bool,
        typer.Option("--trust-remote-code", help="Run code that comes with the model. Only if you trust its author."),
    ] = False


def maker_of(
    model: str,
    *,
    local: LocalOptions | None = None,
    server: ServerOptions | None = None,
    chat_kwargs: str | None = None,
    several: bool = False,
) -> Callable[[], Engine]:
    """Returns what loads the model that a command's options name, wherever it is called.

    Args:
        model: Its name.
        local: Options of models in this process.
        server: Options of models behind servers.
        chat_kwargs: Variables for the chat template, as JSON.
        several: Whether the options are those of several models, so that some need not be this one's.

    Raises:
        typer.BadParameter: An option is of the other kind of model, or holds no JSON.
    """
    from vqaudit.auditing import load_model

    local, server = local or LocalOptions(), server or ServerOptions()
    variables = json_object(chat_kwargs, "--chat-kwargs")
    if is_server(model):
        if not several:
            _refuse_local_options(local, model)
        return partial(load_model, model, **server_settings(server, variables))
    if not several:
        refuse_server_options(server)
    return partial(load_model, model, **_local_settings(local, model), chat_kwargs=variables)


def _local_settings(local: LocalOptions, model: str) -> dict[str, Any]:
    spec = asdict(local)
    if model.startswith("vllm:") and spec.pop("device") != "auto":
        raise typer.BadParameter("--device is not vLLM's to choose; set CUDA_VISIBLE_DEVICES for vllm:NAME")
    return spec


def _refuse_local_options(local: LocalOptions, model: str) -> None:
    usual = asdict(LocalOptions())
    if wrong := [name for name, value in asdict(local).items() if value != usual[name]]:
        raise typer.BadParameter(f"{flag(wrong[0])} is for models in this process, not for {model}")
