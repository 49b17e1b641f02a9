"""What a server was found to be able to do, and what it cannot be asked.

Knows events. Sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from vqaudit.engines.base import Event, ForcedToken, Generation, IDScores, OptionLikelihood, RationaleScores
from vqaudit.errors import UnsupportedEvent

__all__ = ["Abilities", "check_events"]

_ELSEWHERE = "a local model (--model FOLDER_OR_HUB_ID), vllm:NAME or a vLLM server"
"""Engines that can score what a plain server cannot."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Abilities:
    """What the probe found."""

    kind: str = "unknown"
    """Who owns the model, as `/models` says: `vllm`, `llamacpp`, `openai` ..."""
    logprobs: bool = False
    """Whether tokens come with their log-probabilities and those of likely others."""
    top_logprobs: int = 0
    """How many others may be asked for."""
    prompt_logprobs: bool = False
    """vLLM: the log-probabilities of a prompt's own tokens, and a prompt that the assistant has begun."""
    thinks: bool = False
    """Whether the model thinks before it answers."""
    limit: str = "max_tokens"
    """What the limit of new tokens is called."""
    temperature: bool = True
    """Whether temperature 0 is accepted."""
    seed: bool = True
    """Whether a seed is accepted."""
    tokenize: str | None = None
    """`PATH#FIELD`: where, below the root, the server tokenises, and what a text is called there; None: nowhere."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the same as JSON values."""
        return asdict(self)


def check_events(events: Iterable[Event], can: Abilities, *, who: str, thinking: int) -> None:
    """Refuses events that this server cannot score.

    Args:
        events: One of each interface.
        can: What the probe found.
        who: Model and address, for the message.
        thinking: Tokens that the model may think for.

    Raises:
        UnsupportedEvent: Names the event, why, and engines that can.
    """
    for event in events:
        if (why := _refusal(event, can, thinking)) is not None:
            raise UnsupportedEvent(f"{who} cannot score {type(event).__name__}: {why}")


def _refusal(event: Event, can: Abilities, thinking: int) -> str | None:
    if can.thinks and isinstance(event, IDScores | OptionLikelihood | RationaleScores):
        return (
            "it thinks before it answers, so the next token is no answer; turn thinking off, as in "
            '--extra-body \'{"chat_template_kwargs": {"enable_thinking": false}}\', or ask for replies '
            "(--interface direct or free-cot)"
        )
    if can.thinks and isinstance(event, ForcedToken):
        return (
            "it thinks before it answers, so its first token is no answer; turn thinking off or use another interface"
        )
    if can.thinks and not thinking and not isinstance(event, Generation):
        return (
            "it thinks before it answers, and a short reply would be cut while it does; allow --reasoning-tokens 4096, "
            'or turn thinking off, as in --extra-body \'{"chat_template_kwargs": {"enable_thinking": false}}\''
        )
    if isinstance(event, IDScores):
        if event.states is not None:
            return f"a server hands over no hidden states; use {_ELSEWHERE.partition(',')[0]}"
        return None if can.logprobs else f"it returns no log-probabilities; use {_ELSEWHERE}"
    if isinstance(event, OptionLikelihood):
        why = "it returns no log-probabilities of a given text (vLLM's prompt_logprobs)"
        return None if can.prompt_logprobs else f"{why}; use {_ELSEWHERE}"
    if isinstance(event, RationaleScores):
        return f"it would have to go on behind its own rationale; use {_ELSEWHERE.partition(',')[0]}"
    return None
