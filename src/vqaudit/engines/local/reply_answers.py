"""Answers to `Reply`, `ForcedToken` and `Generation`: greedy replies.

Knows what is read from the tokens of a reply and from the distributions on its way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from vqaudit.engines.base import ForcedToken, Generation, Outcome, Reply, Request
from vqaudit.engines.local.asked import Asked, Tools
from vqaudit.engines.local.encoding import Prompt
from vqaudit.engines.local.ids import Tokens
from vqaudit.engines.local.outcomes import NOT_FINITE, failed
from vqaudit.engines.local.scoring import read_ids, top_tokens
from vqaudit.engines.local.sessions import Begin, Cost, Generated

__all__ = ["reply_to", "tokens_to_generate"]


def _reply_budget(event: Reply, prompt: Prompt, tools: Tools) -> int:
    """New tokens that an exact reply may have."""
    if isinstance(event.budget, int):
        return event.budget
    if event.budget == "paper":
        return tools.ids.paper(event.vocabulary)
    return tools.ids.emitted(event.vocabulary, prompt)


def tokens_to_generate(request: Request, prompt: Prompt, tools: Tools) -> int:
    """Returns how many tokens are generated for a reply; 0 for events that generate none."""
    event = request.event
    if isinstance(event, Reply):
        return _reply_budget(event, prompt, tools) + event.further
    if isinstance(event, ForcedToken):
        return 1
    return event.max_tokens if isinstance(event, Generation) else 0


def reply_to(asked: Sequence[Asked], begin: Begin, tools: Tools) -> list[Outcome]:
    """Returns the outcomes of requests that generate equally many tokens, in order."""
    limit = max(tokens_to_generate(one.request, one.prompt, tools) for one in asked)
    session = begin([one.row() for one in asked])
    generated = session.generate(limit)
    return [
        _outcome(one, reply, cost, tools) for one, reply, cost in zip(asked, generated, session.costs(), strict=True)
    ]


def _outcome(one: Asked, generated: Generated, cost: Cost, tools: Tools) -> Outcome:
    if not generated.finite:
        return failed(one.request, NOT_FINITE)
    event = one.request.event
    outcome = Outcome(
        trial=one.request.trial,
        reply=tools.vocabulary.decode(generated.tokens),
        finish_reason="stop" if generated.ended else "length",
        top_tokens=top_tokens(generated.first, tools.vocabulary),
        tokens_computed=cost.computed,
        tokens_reused=cost.reused,
    )
    if isinstance(event, Generation):
        return outcome
    budget = _reply_budget(event, one.prompt, tools) if isinstance(event, Reply) else 1
    return _with_ids(one, generated, _within(outcome, generated, budget, tools), tools)


def _within(outcome: Outcome, generated: Generated, budget: int, tools: Tools) -> Outcome:
    """Cuts the reply to its budget and keeps how it went on."""
    ends = range(budget, len(generated.tokens) + 1)
    reply, *prefixes = tools.vocabulary.decode_each([generated.tokens[:end] for end in ends] or [generated.tokens])
    return replace(outcome, reply=reply, prefixes=tuple(prefixes), budget=budget)


def _with_ids(one: Asked, generated: Generated, outcome: Outcome, tools: Tools) -> Outcome:
    """Adds what the same distributions say of the shown IDs."""
    option_ids = one.request.option_ids
    if not option_ids:
        return outcome
    outcome = replace(outcome, end_given_id=_end_given_id(option_ids, generated, tools))
    plan = tools.ids.plan(option_ids, one.prompt)
    if not plan.one_position:  # the first distribution alone does not tell these IDs apart
        return outcome
    known: dict[Tokens, torch.Tensor] = {(): generated.first}
    reading = read_ids(plan.first_only, known.__getitem__, tools.vocabulary)
    return replace(outcome, id_scores=reading.scores, id_mass=reading.mass)


def _end_given_id(option_ids: Sequence[str], generated: Generated, tools: Tools) -> float | None:
    """Probability of an end right after the longest shown ID with which the reply begins."""
    steps = range(1, len(generated.tokens) + 1)
    spelled = [text.strip() for text in tools.vocabulary.decode_each([generated.tokens[:n] for n in steps])]
    at = {text: n for n, text in reversed(list(zip(steps, spelled, strict=True))) if text in option_ids}
    if not at:
        return None
    place = at[max(at, key=len)]
    return generated.end_probabilities[place] if place < len(generated.end_probabilities) else None
