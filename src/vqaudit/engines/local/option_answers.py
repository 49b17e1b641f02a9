"""Answers to `OptionLikelihood`: the log-probability of each continuation after each prompt.

Knows how a continuation's own tokens are told from the prompt's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from vqaudit.engines.base import OptionLikelihood, OptionScore, Outcome
from vqaudit.engines.local.asked import Asked, Tools, too_long
from vqaudit.engines.local.encoding import shared_prefix
from vqaudit.engines.local.outcomes import BadInput, bad_input, failed
from vqaudit.engines.local.scoring import option_score
from vqaudit.engines.local.sessions import Begin, Cost, Row, Session

__all__ = ["score_options"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Continuation:
    """A prompt and one text after it."""

    text: str
    stem: tuple[int, ...]
    """What both encodings share: the prompt, but for tokens that merge its end with the text's beginning."""
    own: tuple[int, ...]
    """Those beyond: a token that merges prompt and text is the text's, since it cannot be predicted but as a whole."""


def score_options(asked: Sequence[Asked], begin: Begin, tools: Tools) -> list[Outcome]:
    """Returns the outcomes of requests whose event is `OptionLikelihood`, in order."""
    prepared = [_prepare(one, tools) for one in asked]
    stems: dict[tuple[int, tuple[int, ...]], int] = {}
    for place, continuations in enumerate(prepared):
        for one in () if isinstance(continuations, BadInput) else continuations:
            stems.setdefault((place, one.stem), len(stems))
    if not stems:
        return [_outcome(one, each, [], Cost(0, 0)) for one, each in zip(asked, prepared, strict=True)]
    session = begin([Row(token_ids=stem, pictures=asked[place].pictures) for place, stem in stems])
    flat = [
        (place, stems[place, one.stem], one)
        for place, continuations in enumerate(prepared)
        if not isinstance(continuations, BadInput)
        for one in continuations
    ]
    scores: list[list[OptionScore]] = [[] for _ in asked]
    for (place, _, _), score in zip(flat, _scores([(row, one) for _, row, one in flat], session), strict=True):
        scores[place].append(score)
    costs = [Cost(0, 0) for _ in asked]
    for (place, _), cost in zip(stems, session.costs(), strict=True):
        costs[place] = Cost(costs[place].computed + cost.computed, costs[place].reused + cost.reused)
    return [_outcome(*each) for each in zip(asked, prepared, scores, costs, strict=True)]


def _scores(flat: Sequence[tuple[int, _Continuation]], session: Session) -> list[OptionScore]:
    """The distribution before a continuation's first token is its stem's; the others follow its own tokens."""
    first = session.first()
    longer = [(index, row, one.own[:-1]) for index, (row, one) in enumerate(flat) if len(one.own) > 1]
    behind = {longer[n][0]: found for n, found in session.after([(row, own) for _, row, own in longer])}
    return [
        option_score(
            one.text, one.own, torch.cat([first[row : row + 1], *([behind[index]] if index in behind else [])])
        )
        for index, (row, one) in enumerate(flat)
    ]


def _prepare(one: Asked, tools: Tools) -> list[_Continuation] | BadInput:
    event = one.request.event
    assert isinstance(event, OptionLikelihood)
    if not event.continuations:
        return BadInput("there is no continuation to score")
    before = one.prompt.token_ids
    try:
        joint = tools.encoder.encode_with(one.prompt, event.continuations)
    except BadInput as refusal:
        return refusal
    cuts = [shared_prefix(before, ids) for ids in joint]
    prepared = [
        _Continuation(text=text, stem=ids[:cut], own=ids[cut:])
        for text, ids, cut in zip(event.continuations, joint, cuts, strict=True)
    ]
    for continuation in prepared:
        if not continuation.own:
            return BadInput(f"the continuation {continuation.text!r} has no token of its own: nothing can be scored")
        if reason := too_long(len(continuation.stem), len(continuation.own), tools):
            return BadInput(reason)
    return prepared


def _outcome(one: Asked, prepared: list[_Continuation] | BadInput, scores: list[OptionScore], cost: Cost) -> Outcome:
    if isinstance(prepared, BadInput):
        return bad_input(one.request, str(prepared))
    if any(score.logprob != score.logprob for score in scores):
        return failed(one.request, "the model's log-probabilities are not finite")
    return Outcome(
        trial=one.request.trial,
        option_scores=tuple(scores),
        tokens_computed=cost.computed,
        tokens_reused=cost.reused,
    )
