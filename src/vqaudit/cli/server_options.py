"""Options of models behind servers, and the spec that they stand for. Knows no command."""

from __future__ import annotations

from typing import Annotated, Any

import typer

__all__ = [
    "ApiKeyEnv",
    "BaseUrl",
    "Concurrency",
    "ExtraBody",
    "ImageEncoding",
    "NoiseFloor",
    "PriceCached",
    "PriceIn",
    "PriceOut",
    "ReasoningTokens",
    "Retries",
    "Timeout",
    "is_server",
    "refuse_local_options",
    "refuse_server_options",
    "server_settings",
]

PREFIX = "openai:"
"""Begins the name of a model behind a server."""

BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", help="Where an openai:NAME's API begins; OpenAI's own by default.", metavar="URL"),
]
ApiKeyEnv = Annotated[
    str | None,
    typer.Option(
        "--api-key-env", help="Environment variable with the key; OPENAI_API_KEY by default.", metavar="VARIABLE"
    ),
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", help="Most requests open at one time; 16 by default.", min=1)
]
Timeout = Annotated[
    float | None, typer.Option("--timeout", help="Seconds after which a request is sent again; 120 by default.")
]
Retries = Annotated[
    int | None, typer.Option("--retries", help="How often a request is sent again; 6 by default.", min=0)
]
ReasoningTokens = Annotated[
    int | None, typer.Option("--reasoning-tokens", help="Tokens that a model may think for before its answer.", min=0)
]
ImageEncoding = Annotated[
    str | None, typer.Option("--image-encoding", help="How pictures are sent: png (exact, default) or jpeg.")
]
ExtraBody = Annotated[
    str | None, typer.Option("--extra-body", help="Further fields of every request to a server.", metavar="JSON")
]
PriceIn = Annotated[float | None, typer.Option("--price-in", help="Price of a million prompt tokens, in USD.", min=0.0)]
PriceCached = Annotated[
    float | None, typer.Option("--price-cached", help="The same for those in the server's cache.", min=0.0)
]
PriceOut = Annotated[
    float | None, typer.Option("--price-out", help="Price of a million written tokens, in USD.", min=0.0)
]
NoiseFloor = Annotated[
    int | None,
    typer.Option(
        "--noise-floor", help="Trials asked twice, to tell noise; 100 for servers, none else, by default.", min=0
    ),
]

_FIELDS = (
    *("base_url", "api_key_env", "concurrency", "timeout", "retries", "reasoning_tokens", "image_encoding"),
    *("price_in", "price_cached", "price_out"),
)
_LOCAL = {"device": "auto", "dtype": "auto", "revision": None, "trust_remote_code": False}
"""Options of models in this process, with their defaults."""


def is_server(model: str) -> bool:
    """Returns whether a name is that of a model behind a server."""
    return model.startswith(PREFIX)


def server_settings(given: dict[str, Any], chat_kwargs: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of `ServerSpec` that a command's options name.

    Args:
        given: The command's parameters.
        chat_kwargs: Variables for the chat template: they travel as `chat_template_kwargs`.
    """
    from vqaudit.cli.options import json_object

    spec = {name: given[name] for name in _FIELDS if given.get(name) is not None}
    body = json_object(given.get("extra_body"), "--extra-body")
    if chat_kwargs:
        body = {"chat_template_kwargs": chat_kwargs} | body
    return spec | ({"extra_body": body} if body else {})


def refuse_local_options(given: dict[str, Any]) -> None:
    """Refuses options of models in this process for a model behind a server.

    Raises:
        typer.BadParameter: Such an option was given.
    """
    if wrong := [name for name, default in _LOCAL.items() if given.get(name, default) != default]:
        raise typer.BadParameter(f"{_flag(wrong[0])} is for models in this process, not for {given['model']}")


def refuse_server_options(given: dict[str, Any]) -> None:
    """Refuses options of servers for a model that is none's.

    Raises:
        typer.BadParameter: Such an option was given.
    """
    if wrong := [name for name in (*_FIELDS, "extra_body") if given.get(name) is not None]:
        raise typer.BadParameter(f"{_flag(wrong[0])} is for models behind servers: --model openai:NAME")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
