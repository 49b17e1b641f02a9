"""From a reply whose tokens are listed to an outcome: cut at its budget, with the IDs' probabilities beside it.

Knows replies and lists of likely tokens. Knows neither model nor server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from vqaudit.engines.base import TOP_TOKENS, Outcome, Reply, Request
from vqaudit.engines.listed import ListedIDs, ListedPosition, read_listed

__all__ = ["ListedReply", "id_outcome", "reply_outcome"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedReply:
    """One greedy reply."""

    text: str
    """Without thinking; a refusal's words where the model refused."""
    reasoning: str | None = None
    finish_reason: Literal["stop", "length", "content_filter"] | None = None
    positions: Sequence[ListedPosition] = ()
    """Its tokens with the likely ones beside each; empty where none are listed."""


def reply_outcome(request: Request, reply: ListedReply, *, budget: int | None = None) -> Outcome:
    """Returns the outcome of a reply, cut at its budget where one is given.

    Tokens of white space before the first word do not count: the model emits them before an ID.

    Args:
        request: A `Reply`, `ForcedToken` or `Generation`.
        reply: What came back.
        budget: New tokens of an exact reply; None = the whole reply.
    """
    text, prefixes = (reply.text, ()) if budget is None else _cut(reply, budget)
    listed = _listed(request, reply)
    return Outcome(
        trial=request.trial,
        reply=text,
        prefixes=prefixes,
        reasoning=reply.reasoning,
        finish_reason=reply.finish_reason,
        budget=budget if isinstance(request.event, Reply) else None,
        id_scores=() if listed is None else listed.scores,
        id_bound=None if listed is None else listed.bound,
        id_mass=None if listed is None else listed.mass,
        top_tokens=reply.positions[0].top[:TOP_TOKENS] if reply.positions else (),
    )


def _listed(request: Request, reply: ListedReply) -> ListedIDs | None:
    """The IDs' probabilities beside a reply, where they can be told from its first tokens."""
    if not request.option_ids or not reply.positions or not reply.positions[0].top:
        return None
    return read_listed(reply.positions, request.option_ids)


def _cut(reply: ListedReply, budget: int) -> tuple[str, tuple[str, ...]]:
    """The text within the budget, and the text after each further token."""
    whole = list(accumulate(position.text for position in reply.positions))
    if not whole or not _same_text(whole[-1], reply.text):
        return reply.text, ()
    blanks = sum(not text.strip() for text in whole)
    ends = [_clipped(text, reply.text) for text in whole]
    first = min(len(ends), budget + blanks)
    return ends[first - 1], tuple(dict.fromkeys(ends[first:])) or ((ends[first - 1],) if reply.text else ())


def _same_text(tokens: str, text: str) -> bool:
    """Whether the tokens spell the reply, but for outer white space and an end token."""
    return tokens.strip().startswith(text.strip())


def _clipped(written: str, text: str) -> str:
    """Without an end token: no more characters than the reply has, outer white space aside."""
    body, lead = text.strip(), len(written) - len(written.lstrip())
    return written[: lead + len(body)]


def id_outcome(request: Request, reply: ListedReply) -> Outcome:
    """Returns the outcome of `IDScores`.

    Raises:
        EngineReplyError: The server listed no likely tokens.
    """
    found = read_listed(reply.positions, request.option_ids)
    return Outcome(
        trial=request.trial,
        id_scores=found.scores,
        id_bound=found.bound,
        id_mass=found.mass,
        top_tokens=reply.positions[0].top[:TOP_TOKENS],
    )
