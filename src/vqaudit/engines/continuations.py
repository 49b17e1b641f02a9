"""The likelihood of a continuation, out of the log-probabilities of whole prompts.

Knows token numbers and log-probabilities. Knows neither model nor server.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vqaudit.engines.base import OptionScore
from vqaudit.errors import EngineReplyError

__all__ = ["ScoredPrompt", "score_continuation"]

ScoredPrompt = Sequence[tuple[int, float | None]]
"""Token and log-probability at each position of a prompt; the first position has none."""
_MERGED = 2
"""Tokens at the prompt's end that may change when a text follows."""


def score_continuation(prompt: ScoredPrompt, joint: ScoredPrompt, *, text: str) -> OptionScore:
    """Returns the summed log-probability of the tokens of `joint` beyond what it shares with `prompt`.

    Paper 1, Eq. 9: the sum runs over the option's own tokens, the end token excluded.

    Args:
        prompt: The prompt alone.
        joint: The prompt with the continuation after it, and nothing behind that.
        text: The continuation, for messages and its length in characters.

    Raises:
        EngineReplyError: The two do not begin alike, nothing is left, or a position has no log-probability.

    Example:
        >>> score_continuation([(5, None), (7, -1.0)], [(5, None), (7, -1.0), (9, -0.5), (3, -0.2)], text="a cat")
        OptionScore(logprob=-0.7, tokens=2, characters=5)
    """
    shared = 0
    for (before, _), (after, _) in zip(prompt, joint, strict=False):
        if before != after:
            break
        shared += 1
    if shared < len(prompt) - _MERGED:
        raise EngineReplyError(
            f"the prompt shares {shared} of its {len(prompt)} tokens with itself and {text!r} behind it: "
            "the chat template changes what was written before"
        )
    own = [logprob for _, logprob in joint[shared:]]
    if not own:
        raise EngineReplyError(f"no token is left for the continuation {text!r}")
    known = [logprob for logprob in own if logprob is not None and math.isfinite(logprob)]
    if len(known) < len(own):
        raise EngineReplyError(f"{len(known)} log-probabilities for the {len(own)} tokens of {text!r}")
    return OptionScore(logprob=math.fsum(known), tokens=len(known), characters=len(text))
