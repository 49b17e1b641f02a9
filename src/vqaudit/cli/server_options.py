"""Options of models behind servers, and the spec that they stand for. Knows no command."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from vqaudit.cli.options import flag, json_object

__all__ = ["NoiseFloor", "ServerOptions", "is_server", "refuse_server_options", "server_settings"]

_PREFIX = "openai:"
"""Begins the name of a model behind a server."""

NoiseFloor = Annotated[
    int | None,
    typer.Option(
        "--noise-floor", help="Trials asked twice, to tell noise; 100 for servers, none else, by default.", min=0
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerOptions:
    """Where a server is and how it is asked; None is the default of `engines.server.ServerSpec`."""

    base_url: Annotated[
        str | None,
        typer.Option("--base-url", help="Where an openai:NAME's API begins; OpenAI's own by default.", metavar="URL"),
    ] = None
    api_key_env: Annotated[
        str | None,
        typer.Option(
            "--api-key-env", help="Environment variable with the key; OPENAI_API_KEY by default.", metavar="VARIABLE"
        ),
    ] = None
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", help="Most requests open at one time; 16 by default.", min=1)
    ] = None
    timeout: Annotated[
        float | None, typer.Option("--timeout", help="Seconds after which a request is sent again; 120 by default.")
    ] = None
    retries: Annotated[
        int | None, typer.Option("--retries", help="How often a request is sent again; 6 by default.", min=0)
    ] = None
    reasoning_tokens: Annotated[
        int | None,
        typer.Option("--reasoning-tokens", help="Tokens that a model may think for before its answer.", min=0),
    ] = None
    image_encoding: Annotated[
        str | None, typer.Option("--image-encoding", help="How pictures are sent: png (exact, default) or jpeg.")
    ] = None
    extra_body: Annotated[
        str | None, typer.Option("--extra-body", help="Further fields of every request to a server.", metavar="JSON")
    ] = None
    price_in: Annotated[
        float | None, typer.Option("--price-in", help="Price of a million prompt tokens, in USD.", min=0.0)
    ] = None
    price_cached: Annotated[
        float | None, typer.Option("--price-cached", help="The same for those in the server's cache.", min=0.0)
    ] = None
    price_out: Annotated[
        float | None, typer.Option("--price-out", help="Price of a million written tokens, in USD.", min=0.0)
    ] = None

    def given(self) -> dict[str, Any]:
        """Returns the options that were typed, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def is_server(model: str) -> bool:
    """Returns whether a name is that of a model behind a server."""
    return model.startswith(_PREFIX)


def server_settings(server: ServerOptions, chat_kwargs: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of `ServerSpec` that a command's options name.

    Args:
        server: The options.
        chat_kwargs: Variables for the chat template: they travel as `chat_template_kwargs`.

    Raises:
        typer.BadParameter: `--extra-body` is no JSON object.
    """
    spec = server.given()
    body = json_object(spec.pop("extra_body", None), "--extra-body")
    if chat_kwargs:
        body = {"chat_template_kwargs": chat_kwargs} | body
    return spec | ({"extra_body": body} if body else {})


def refuse_server_options(server: ServerOptions) -> None:
    """Refuses options of servers for a model that is none's.

    Raises:
        typer.BadParameter: Such an option was given.
    """
    if wrong := list(server.given()):
        raise typer.BadParameter(f"{flag(wrong[0])} is for models behind servers: --model openai:NAME")
