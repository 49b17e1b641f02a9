"""Answers to `RationaleScores`: a greedy rationale, a cue, and the shown IDs' probabilities behind both.

Knows how the two halves are joined. `reply_answers` and `id_answers` know each half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vqaudit.engines.base import IDScores, Outcome, RationaleScores
from vqaudit.engines.local.asked import Asked, Tools
from vqaudit.engines.local.id_answers import score_ids
from vqaudit.engines.local.outcomes import NOT_FINITE, BadInput, bad_input, failed
from vqaudit.engines.local.sessions import Begin, Cost, Generated

__all__ = ["kept_rationale", "score_after_rationale", "tokens_around"]


def score_after_rationale(asked: Sequence[Asked], begin: Begin, tools: Tools) -> list[Outcome]:
    """Returns the outcomes of requests whose event is `RationaleScores` with equal limits, in order."""
    session = begin([one.row() for one in asked])
    generated = session.generate(max(_event(one).max_tokens for one in asked))
    found: dict[int, Outcome] = {}
    longer: dict[int, Asked] = {}
    rationales = [
        kept_rationale(tools.vocabulary.decode(reply.tokens), _event(one).cue)
        for one, reply in zip(asked, generated, strict=True)
    ]
    for place, (one, rationale) in enumerate(zip(asked, rationales, strict=True)):
        behind = _behind(one, rationale, tools) if generated[place].finite else failed(one.request, NOT_FINITE)
        if isinstance(behind, Outcome):
            found[place] = behind
        else:
            longer[place] = behind
    scored = score_ids(list(longer.values()), begin, tools) if longer else []
    costs = session.costs()
    for place, outcome in zip(longer, scored, strict=True):
        found[place] = _joined(outcome, rationales[place], generated[place], costs[place])
    return [found[place] for place in range(len(asked))]


def tokens_around(event: RationaleScores) -> int:
    """Returns the most tokens that rationale and cue can take; a token is at least a byte."""
    return event.max_tokens + len(event.cue.encode()) + 1


def kept_rationale(rationale: str, cue: str) -> str:
    r"""Returns the rationale up to the last place where it says the cue itself, outer line breaks at its end dropped.

    Example:
        >>> kept_rationale("There is one dog.\nThe answer is B.", "The answer is")
        'There is one dog.'
    """
    place = rationale.lower().rfind(cue.lower()) if cue else -1
    return (rationale if place < 0 else rationale[:place]).rstrip()


def _event(one: Asked) -> RationaleScores:
    event = one.request.event
    assert isinstance(event, RationaleScores)
    return event


def _behind(one: Asked, rationale: str, tools: Tools) -> Asked | Outcome:
    """The same request once the rationale and the cue are written."""
    event = _event(one)
    joint = f"{rationale}\n{event.cue}" if rationale else event.cue
    try:
        prompt = tools.encoder.extend(one.prompt, joint)
    except BadInput as refusal:
        return bad_input(one.request, str(refusal))
    return replace(one, prompt=prompt, request=replace(one.request, event=IDScores(watch=event.watch)))


def _joined(scored: Outcome, rationale: str, generated: Generated, cost: Cost) -> Outcome:
    return replace(
        scored,
        reply=rationale,
        finish_reason="stop" if generated.ended else "length",
        tokens_computed=cost.computed + (scored.tokens_computed or 0),
        tokens_reused=cost.reused + (scored.tokens_reused or 0),
    )
