"""Answers to `IDScores`: the shown IDs' probabilities after each prompt.

Knows which distributions a batch of prompts needs; `scoring` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from vqaudit.engines.base import HiddenStates, IDScores, Outcome
from vqaudit.engines.local.asked import Asked, Tools
from vqaudit.engines.local.ids import IDPlan, Tokens
from vqaudit.engines.local.outcomes import bad_input
from vqaudit.engines.local.scoring import mass, read_ids, top_tokens
from vqaudit.engines.local.sessions import Begin, Cost, Session
from vqaudit.engines.local.state_answers import depth_asked, hidden_states

__all__ = ["score_ids"]

_Known = dict[Tokens, torch.Tensor]
"""Log-probabilities of the token after the prompt and some tokens."""


def score_ids(asked: Sequence[Asked], begin: Begin, tools: Tools) -> list[Outcome]:
    """Returns the outcomes of requests whose event is `IDScores`, in order."""
    plans = [tools.ids.plan(one.request.option_ids, one.prompt) for one in asked]
    session = begin([one.row() for one in asked])
    first, states = _first(asked, plans, session, tools)
    behind = _distributions_behind(plans, session)
    outcomes = [
        _outcome(one, plan, {**known, (): start}, tools, cost)
        for one, plan, known, start, cost in zip(asked, plans, behind, first, session.costs(), strict=True)
    ]
    return [replace(outcome, states=kept) for outcome, kept in zip(outcomes, states, strict=True)]


def _first(
    asked: Sequence[Asked], plans: Sequence[IDPlan], session: Session, tools: Tools
) -> tuple[torch.Tensor, Sequence[HiddenStates | None]]:
    """The distributions of the next token, and the states that they were made from where those are asked for."""
    depth = depth_asked(asked)
    if depth is None:
        return session.first(), [None] * len(asked)
    caught = session.first_with_states(depth)
    return caught.logprobs, hidden_states(asked, plans, caught, tools)


def _distributions_behind(plans: Sequence[IDPlan], session: Session) -> list[_Known]:
    """For each prompt, the distributions after the token sequences that its plan needs."""
    wanted = [(place, context) for place, plan in enumerate(plans) for context in plan.contexts]
    behind: list[_Known] = [{} for _ in plans]
    for index, logprobs in session.after(wanted):
        place, context = wanted[index]
        behind[place] |= {context[: n + 1]: logprobs[n] for n in range(len(context))}
    return behind


def _outcome(one: Asked, plan: IDPlan, known: _Known, tools: Tools, cost: Cost) -> Outcome:
    request = one.request
    if not request.option_ids:
        return bad_input(request, "no option IDs are shown, so there is nothing to score")
    reading = read_ids(plan, known.__getitem__, tools.vocabulary)
    return Outcome(
        trial=request.trial,
        id_scores=reading.scores,
        id_mass=reading.mass,
        watch_mass=_watch_mass(one, plan, known[()], tools),
        top_tokens=top_tokens(known[()], tools.vocabulary),
        tokens_computed=cost.computed,
        tokens_reused=cost.reused,
    )


def _watch_mass(one: Asked, plan: IDPlan, first: torch.Tensor, tools: Tools) -> float | None:
    event = one.request.event
    if not isinstance(event, IDScores) or not event.watch:
        return None
    return mass(tools.ids.watched(event.watch, plan, one.prompt), first)
