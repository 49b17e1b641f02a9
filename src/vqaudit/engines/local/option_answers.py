"""Answers to `OptionLikelihood`: the log-probability of each continuation after each prompt.

Knows how a continuation's own tokens are told from the prompt's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vqaudit.engines.base import OptionLikelihood, OptionScore, Outcome
from vqaudit.engines.local.asked import Asked, Tools, too_long
from vqaudit.engines.local.encoding import shared_prefix
from vqaudit.engines.local.outcomes import BadInput, bad_input, failed
from vqaudit.engines.local.plain import Row
from vqaudit.engines.local.scoring import option_score

__all__ = ["score_options"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Continuation:
    """A prompt and one text after it."""

    text: str
    token_ids: tuple[int, ...]
    """Of both, encoded together."""
    own: tuple[int, ...]
    """Those beyond what the encoding shares with the prompt's alone. A token that merges the prompt's end with the
    text's beginning is the continuation's: it cannot be predicted but as a whole."""


def score_options(asked: Sequence[Asked], tools: Tools) -> list[Outcome]:
    """Returns the outcomes of requests whose event is `OptionLikelihood`, in order."""
    prepared = [_prepare(one, tools) for one in asked]
    flat = [
        (place, continuation)
        for place, continuations in enumerate(prepared)
        if not isinstance(continuations, BadInput)
        for continuation in continuations
    ]
    rows = [Row(token_ids=one.token_ids, pictures=asked[place].pictures) for place, one in flat]
    scores: dict[int, OptionScore] = {}
    for index, logprobs in tools.path.continuation_logprobs(rows, [len(one.own) for _, one in flat]):
        scores[index] = option_score(flat[index][1].text, flat[index][1].own, logprobs[:-1])
    by_place: list[list[OptionScore]] = [[] for _ in asked]
    for index, (place, _) in enumerate(flat):
        by_place[place].append(scores[index])
    return [_outcome(*each) for each in zip(asked, prepared, by_place, strict=True)]


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
    prepared = [
        _Continuation(text=text, token_ids=ids, own=ids[shared_prefix(before, ids) :])
        for text, ids in zip(event.continuations, joint, strict=True)
    ]
    for continuation in prepared:
        if not continuation.own:
            return BadInput(f"the continuation {continuation.text!r} has no token of its own: nothing can be scored")
        if reason := too_long(len(before), len(continuation.token_ids) - len(before), tools):
            return BadInput(reason)
    return prepared


def _outcome(one: Asked, prepared: list[_Continuation] | BadInput, scores: list[OptionScore]) -> Outcome:
    if isinstance(prepared, BadInput):
        return bad_input(one.request, str(prepared))
    if any(score.logprob != score.logprob for score in scores):
        return failed(one.request, "the model's log-probabilities are not finite")
    return Outcome(
        trial=one.request.trial,
        option_scores=tuple(scores),
        tokens_computed=sum(len(continuation.token_ids) for continuation in prepared),
        tokens_reused=0,
    )
