"""What a server's answers say of tokens and of prompts.

Knows usage and vLLM's `prompt_logprobs`. Sends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vqaudit.engines.base import OptionScore, Outcome, Request
from vqaudit.engines.continuations import ScoredPrompt, score_continuation
from vqaudit.engines.server.replies import ServerReply, Usage
from vqaudit.errors import EngineReplyError

__all__ = ["option_outcome", "scored_prompt", "with_usage"]

_ABOVE_ZERO = 1e-6
"""What a log-likelihood may be above 0 by rounding."""


def with_usage(outcome: Outcome, usage: Usage) -> Outcome:
    """Returns the outcome with its token columns: what was computed, taken from the server's cache, and written."""
    prompt, cached, written = usage.prompt, usage.cached, usage.written
    computed = None if prompt is None else prompt - min(cached or 0, prompt) + (written or 0)
    return replace(outcome, tokens_computed=computed, tokens_reused=cached, tokens_written=written)


def scored_prompt(reply: ServerReply) -> ScoredPrompt:
    """Returns the tokens of a prompt with their log-probabilities, out of vLLM's `prompt_logprobs`.

    Raises:
        EngineReplyError: As many entries as the prompt has tokens are not given, or one does not name its token.
    """
    entries = reply.prompt_logprobs
    if entries is None:
        raise EngineReplyError("the server returned no log-probabilities of the prompt")
    if reply.usage.prompt is not None and len(entries) != reply.usage.prompt:
        raise EngineReplyError(f"{len(entries)} log-probabilities for a prompt of {reply.usage.prompt} tokens")
    return [_entry(place, entry) for place, entry in enumerate(entries)]


def _entry(place: int, entry: Any) -> tuple[int, float | None]:
    if entry is None and place == 0:  # nothing stands before the first token
        return -1, None
    if not isinstance(entry, dict) or len(entry) != 1:
        raise EngineReplyError(f"position {place} of the prompt does not name exactly its own token")
    ((token, found),) = entry.items()
    logprob = found.get("logprob") if isinstance(found, dict) else found
    return int(token), None if logprob is None else float(logprob)


def option_outcome(
    request: Request, prompt: ScoredPrompt, joints: Sequence[ScoredPrompt], texts: Sequence[str]
) -> Outcome:
    """Returns the outcome of `OptionLikelihood`."""
    scores: list[OptionScore] = []
    for joint, text in zip(joints, texts, strict=True):
        score = score_continuation(prompt, joint, text=text)
        if score.logprob > _ABOVE_ZERO:
            raise EngineReplyError(f"a log-likelihood must be <= 0, got {score.logprob:.4g} for {text!r}")
        scores.append(score)
    return Outcome(trial=request.trial, option_scores=tuple(scores))
