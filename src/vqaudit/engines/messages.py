"""A request as chat messages, in the shape that servers and vLLM share.

Knows message shapes. Sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vqaudit.engines.base import Image, ImagePart, Request, TextPart

__all__ = ["GO_ON", "chat_messages"]

GO_ON = {"add_generation_prompt": False, "continue_final_message": True}
"""How vLLM, in this process or as a server, is told to go on where the assistant's turn has begun."""


def chat_messages(
    request: Request, picture: Callable[[Image], dict[str, Any]], *, prefill: str | None = None
) -> list[dict[str, Any]]:
    """Returns the messages of a request: system, user with pictures in place, assistant where it has begun.

    The same request gives the same bytes, and requests that begin alike give messages that begin alike: that is what
    servers' prefix caches go by.

    Args:
        request: The request.
        picture: Turns a picture into a part of a message.
        prefill: What the assistant's turn begins with, instead of the request's own.
    """
    messages: list[dict[str, Any]] = []
    if request.system is not None:
        messages.append({"role": "system", "content": request.system})
    messages.append({"role": "user", "content": _content(request, picture)})
    begun = request.prefill if prefill is None else prefill
    if begun:
        messages.append({"role": "assistant", "content": begun})
    return messages


def _content(request: Request, picture: Callable[[Image], dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Plain text where there is no picture: some servers know nothing else."""
    if not any(isinstance(part, ImagePart) for part in request.parts):
        return "".join(part.text for part in request.parts if isinstance(part, TextPart))
    return [
        {"type": "text", "text": part.text} if isinstance(part, TextPart) else picture(request.images[part.index])
        for part in request.parts
    ]
