"""Which answer belongs to which event."""

from __future__ import annotations

from collections.abc import Sequence

from vqaudit.engines.base import IDScores, OptionLikelihood, Outcome, RationaleScores, Request
from vqaudit.engines.local.asked import Asked, Tools
from vqaudit.engines.local.encoding import Prompt
from vqaudit.engines.local.id_answers import score_ids
from vqaudit.engines.local.option_answers import score_options
from vqaudit.engines.local.rationale_answers import score_after_rationale, tokens_around
from vqaudit.engines.local.reply_answers import reply_to, tokens_to_generate
from vqaudit.engines.local.sessions import Begin

__all__ = ["answer_event", "continues", "tokens_after"]


def answer_event(asked: Sequence[Asked], begin: Begin, tools: Tools) -> list[Outcome]:
    """Returns the outcomes of requests with one kind of event and equally many new tokens, in order."""
    event = asked[0].request.event
    if isinstance(event, IDScores):
        return score_ids(asked, begin, tools)
    if isinstance(event, OptionLikelihood):
        return score_options(asked, begin, tools)
    if isinstance(event, RationaleScores):
        return score_after_rationale(asked, begin, tools)
    return reply_to(asked, begin, tools)


def tokens_after(request: Request, prompt: Prompt, tools: Tools) -> int:
    """Returns how many tokens behind its prompt a request will take; those of continuations are not counted here."""
    event = request.event
    if isinstance(event, IDScores | RationaleScores):
        plan = tools.ids.plan(request.option_ids, prompt)
        before = tokens_around(event) if isinstance(event, RationaleScores) else 0
        return before + max(map(len, plan.contexts), default=0)
    return tokens_to_generate(request, prompt, tools)


def continues(request: Request, prompt: Prompt, tools: Tools) -> bool:
    """Returns whether tokens behind the prompt are computed other than one after the other."""
    event = request.event
    if isinstance(event, OptionLikelihood):
        return bool(event.continuations)
    if isinstance(event, RationaleScores):  # once to write the rationale, once to score behind it
        return True
    return isinstance(event, IDScores) and bool(tools.ids.plan(request.option_ids, prompt).contexts)
