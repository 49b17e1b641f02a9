"""A few cheap requests at the start: what does this server accept, and what does it return?

Knows the API's parameters and how servers refuse them. Knows no trial.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from vqaudit.engines.base import Image
from vqaudit.engines.messages import GO_ON
from vqaudit.engines.server.abilities import Abilities
from vqaudit.engines.server.faults import BadRequest, Busy, Withheld
from vqaudit.engines.server.replies import ServerReply, read_completion
from vqaudit.engines.server.spec import ServerSpec
from vqaudit.engines.server.wire import Wire
from vqaudit.errors import EngineError

__all__ = ["probe", "sampling", "sees_pictures"]

_Send = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Sends a chat completion and waits as long as it takes."""

_QUESTION = "Reply with the letter A and nothing else."
_PICTURE_QUESTION = "Reply with the letter A if you see a picture, and nothing else."
_TOKENS = 8
"""New tokens of a probe's reply: room for the letter, and for what a chatty model puts before it."""
_FEWER = 5
"""Likely tokens that servers with the lowest limit give."""
_WAYS = 8
"""Ways to ask that are tried at most; there are fewer, since each leaves out one of five things more."""
_NAMED = 10
"""Models that a message names at most."""
_TOKENIZERS: tuple[tuple[str, str], ...] = (
    ("/tokenize", "prompt"),
    ("/tokenize", "content"),
    ("/extras/tokenize", "input"),
)
"""Paths below the root, and what the text is called there: vLLM, llama.cpp, llama-cpp-python."""


def sampling(can: Abilities, spec: ServerSpec, *, limit: int) -> dict[str, Any]:
    """Returns the fields that make decoding greedy and limit it, as far as the server accepts them."""
    fields: dict[str, Any] = {can.limit: limit}
    if can.temperature:
        fields["temperature"] = 0
    if can.seed:
        fields["seed"] = spec.seed
    return fields


async def probe(wire: Wire, send: _Send, model: str, spec: ServerSpec) -> Abilities:
    """Asks a server what it can; drops, one by one, fields that it refuses by name.

    Raises:
        EngineError: It cannot be asked at all: no such model, no access, or it refuses the plainest request.
    """
    listed = await _patiently_listed(wire)
    kind = next((str(entry.get("owned_by") or "unknown") for entry in listed), "unknown")
    try:
        can, reply = await _negotiate(
            send, model, spec, Abilities(kind=kind, logprobs=True, top_logprobs=spec.top_logprobs)
        )
    except EngineError as error:
        names = [str(entry.get("id")) for entry in listed]
        raise EngineError(f"{error}{_known(names, model)}") from None
    thinks = reply.reasoning is not None or bool(reply.usage.thought)
    tops = max((len(position.top) for position in reply.positions), default=0)
    can = replace(can, thinks=thinks, logprobs=can.logprobs and tops > 1, tokenize=await _tokenizer(wire, model))
    if not can.logprobs:
        can = replace(can, top_logprobs=0)
    return replace(can, prompt_logprobs=kind == "vllm" and await _scores_prompts(send, model, can, spec))


async def _patiently_listed(wire: Wire) -> list[Mapping[str, Any]]:
    try:
        return await wire.models()
    except Busy:
        return []  # the chat request tells, and has patience


def _known(names: list[str], model: str) -> str:
    if not names or model in names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"; the server lists {', '.join(names[:_NAMED])}{more}"


async def _negotiate(send: _Send, model: str, spec: ServerSpec, can: Abilities) -> tuple[Abilities, ServerReply]:
    for _ in range(_WAYS):
        body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": _QUESTION}]}
        body |= sampling(can, spec, limit=_TOKENS + spec.reasoning_tokens)
        if can.logprobs:
            body |= {"logprobs": True, "top_logprobs": can.top_logprobs}
        try:
            return can, read_completion(await send(body | spec.extra_body))
        except BadRequest as error:
            fewer = _without(can, str(error))
            if fewer is None:
                raise EngineError(f"a plain request was refused: {error}") from None
            can = fewer
    raise EngineError(f"model {model!r} refuses every way to be asked that vqaudit knows")


def _without(can: Abilities, refusal: str) -> Abilities | None:
    """The abilities without what the message names; without log-probabilities where it names nothing of ours."""
    said = refusal.lower()
    if can.limit == "max_tokens" and "max_tokens" in said:
        return replace(can, limit="max_completion_tokens")
    if can.temperature and "temperature" in said:
        return replace(can, temperature=False)
    if can.seed and re.search(r"\bseed\b", said):
        return replace(can, seed=False)
    if can.logprobs and can.top_logprobs > _FEWER and ("top_logprobs" in said or "logprobs" not in said):
        return replace(can, top_logprobs=_FEWER)
    if can.logprobs:
        return replace(can, logprobs=False, top_logprobs=0)
    return None


async def _tokenizer(wire: Wire, model: str) -> str | None:
    for path, key in _TOKENIZERS:
        try:
            answer = await wire.post(path, {"model": model, key: "A", "add_special_tokens": False})
        except Busy:
            return None
        except Exception:  # whatever stands at that address, it is no tokenizer
            continue
        tokens = answer.get("tokens") if isinstance(answer, Mapping) else None
        if isinstance(tokens, list) and tokens:
            return f"{path}#{key}"
    return None


async def _scores_prompts(send: _Send, model: str, can: Abilities, spec: ServerSpec) -> bool:
    messages = [{"role": "user", "content": _QUESTION}, {"role": "assistant", "content": "A"}]
    body = {"model": model, "messages": messages, "prompt_logprobs": 0}
    body |= GO_ON | sampling(can, spec, limit=1)
    try:
        return bool(read_completion(await send(body | spec.extra_body)).prompt_logprobs)
    except BadRequest:
        return False


async def sees_pictures(
    send: _Send, model: str, can: Abilities, spec: ServerSpec, picture: Callable[[Image], dict[str, Any]]
) -> str | None:
    """Returns why the model takes no picture, or None where it does."""
    from PIL import Image as Pillow

    grey = Image(digest="probe", pixels=Pillow.new("RGB", (64, 64), (127, 127, 127)))
    content = [picture(grey), {"type": "text", "text": _PICTURE_QUESTION}]
    body = {"model": model, "messages": [{"role": "user", "content": content}]}
    body |= sampling(can, spec, limit=_TOKENS + spec.reasoning_tokens)
    try:
        read_completion(await send(body | spec.extra_body))
    except (BadRequest, Busy) as error:  # some servers fail where they should refuse
        return str(error)
    except Withheld:
        return None  # whoever filters a picture has taken it
    return None
