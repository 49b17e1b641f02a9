"""From an outcome to a record: what came back, and what it is read as.

Knows events, readings and the record's columns. Knows no engine. Readings never guess; correctness is not decided
here, since a record holds the option chosen and the item holds the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from vqaudit.asking.orders import apply_order
from vqaudit.asking.plan import Plan, Trial
from vqaudit.asking.prompts import Prompt
from vqaudit.engines.base import Outcome
from vqaudit.reading import Reading, read_exact, read_option_likelihoods, read_reply, read_scores
from vqaudit.records import segment_hash

__all__ = ["make_record"]

_SCORED = ("id-scores", "rationale-scores", "option-likelihood")


def _variant_columns(plan: Plan, trial: Trial, prompt: Prompt) -> dict[str, Any]:
    variant = trial.variant
    format = variant.format
    return {
        "trial": trial.id,
        "item": plan.items[trial.item].id,
        "id_set": None if format is None else format.id_set.name,
        "delimiter": None if format is None else format.delimiter.name,
        "separator": None if format is None else format.separator.name,
        "order": variant.order,
        "id_order": variant.id_order if format is not None else None,
        "interface": variant.interface.name,
        "ending": variant.interface.ending.name,
        "place": variant.interface.place,
        "event": variant.interface.event,
        "option_ids": prompt.option_ids,
        "segments": [segment_hash(segment) for segment in prompt.segments],
        "prefill": prompt.prefill or None,
    }


def _outcome_columns(outcome: Outcome) -> dict[str, Any]:
    reply = outcome.reply
    whole = outcome.prefixes[-1] if outcome.prefixes else reply
    further = whole[len(reply) :] if whole is not None and reply is not None and whole.startswith(reply) else None
    return {
        "reply": reply,
        "further": further or None,
        "reasoning": outcome.reasoning,
        "finish_reason": outcome.finish_reason,
        "budget": outcome.budget,
        "id_scores": [
            {
                "option_id": s.option_id,
                "logprob": s.logprob,
                "rank": s.rank,
                "token_ids": list(s.token_ids),
                "spelling": s.spelling,
                "in_place_logprob": s.in_place_logprob,
            }
            for s in outcome.id_scores
        ],
        "id_bound": outcome.id_bound,
        "id_mass": outcome.id_mass,
        "watch_mass": outcome.watch_mass,
        "end_given_id": outcome.end_given_id,
        "top_tokens": [{"token_id": t.token_id, "text": t.text, "logprob": t.logprob} for t in outcome.top_tokens],
        "option_scores": [
            {"logprob": s.logprob, "tokens": s.tokens, "characters": s.characters} for s in outcome.option_scores
        ],
        "seconds": outcome.seconds,
        "tokens_computed": outcome.tokens_computed,
        "tokens_reused": outcome.tokens_reused,
        "tokens_written": outcome.tokens_written,
        "tries": outcome.tries,
        "error": outcome.error,
    }


def _states(outcome: Outcome) -> dict[str, Any] | None:
    """What `records.states` keeps; no column of the record itself."""
    kept = outcome.states
    if kept is None:
        return None
    if not kept.lens:
        return {"values": kept.values}
    return {
        "values": kept.values,
        "lens_id_logprobs": [layer.id_logprobs for layer in kept.lens],
        "lens_id_ranks": [layer.id_ranks for layer in kept.lens],
        "lens_id_mass": [layer.id_mass for layer in kept.lens],
        "lens_watch_mass": [layer.watch_mass for layer in kept.lens],
    }


class _Read(NamedTuple):
    """What one outcome is read as."""

    strict: Reading
    lenient: Reading | None = None
    margin: float | None = None
    longer_id: str | None = None


def _longer_id(reply: str, prefixes: Sequence[str], option_ids: Sequence[str]) -> str | None:
    """The shown ID that the reply would have been with more tokens, if it is none yet."""
    if reply.strip() in option_ids:
        return None
    return next((text.strip() for text in prefixes if text.strip() in option_ids), None)


def _read_strictly(outcome: Outcome, option_ids: Sequence[str]) -> Reading:
    """Paper 1's exact event; a reply that a server withheld, or never began since thinking was cut, is called so."""
    if outcome.finish_reason == "content_filter":
        return Reading(outcome="refused", reason="withheld: content_filter")
    if outcome.finish_reason == "length" and outcome.reasoning and not (outcome.reply or "").strip():
        return Reading(outcome="truncated", reason="cut while thinking")
    return read_exact(outcome.reply, option_ids=option_ids)


def _read_reply_event(outcome: Outcome, option_ids: Sequence[str], options: Sequence[str]) -> _Read:
    reply = outcome.reply or ""
    whole = outcome.prefixes[-1] if outcome.prefixes else reply
    return _Read(
        strict=_read_strictly(outcome, option_ids),
        lenient=read_reply(
            whole,
            option_ids=option_ids,
            options=options,
            finish_reason=outcome.finish_reason,
            reasoning=outcome.reasoning,
        ),
        longer_id=_longer_id(reply, outcome.prefixes, option_ids),
    )


def _read(event: str, outcome: Outcome, option_ids: Sequence[str], options: Sequence[str]) -> _Read:
    if outcome.error is not None:
        return _Read(Reading(outcome="bad_input" if outcome.bad_input else "failed", reason=outcome.error))
    if outcome.finish_reason == "content_filter" and event in _SCORED:
        return _Read(Reading(outcome="refused", reason="withheld: content_filter"))
    if event == "reply":
        return _read_reply_event(outcome, option_ids, options)
    if event == "forced-token":
        return _Read(_read_strictly(outcome, option_ids))
    if event == "generation":
        reading = read_reply(
            outcome.reply,
            option_ids=option_ids,
            options=options,
            finish_reason=outcome.finish_reason,
            reasoning=outcome.reasoning,
        )
        return _Read(reading)
    if event in ("id-scores", "rationale-scores"):
        scores = [s.logprob for s in outcome.id_scores]
        scored = read_scores(scores, option_ids=option_ids, bound=outcome.id_bound)
    else:
        # Options without shown IDs are read by their place.
        places = option_ids or [str(i) for i in range(len(options))]
        likely = outcome.option_scores
        scored = read_option_likelihoods([s.logprob for s in likely], [s.tokens for s in likely], option_ids=places)
    return _Read(scored.reading, margin=scored.margin)


def _place(reading: Reading | None, option_ids: Sequence[str]) -> int | None:
    if reading is None or reading.option_id is None:
        return None
    return option_ids.index(reading.option_id) if option_ids else int(reading.option_id)


def _reading_columns(read: _Read, option_ids: Sequence[str], order: Sequence[int]) -> dict[str, Any]:
    position = _place(read.strict, option_ids)
    lenient = _place(read.lenient, option_ids)
    return {
        "outcome": read.strict.outcome,
        "position": position,
        "chosen": None if position is None else order[position],
        "reason": read.strict.reason or None,
        "margin": read.margin,
        "longer_id": read.longer_id,
        "lenient_outcome": None if read.lenient is None else read.lenient.outcome,
        "lenient_position": lenient,
        "lenient_chosen": None if lenient is None else order[lenient],
        "lenient_reason": None if read.lenient is None else read.lenient.reason or None,
    }


def make_record(
    plan: Plan, trial: Trial, prompt: Prompt, outcome: Outcome, *, attempt: int, worker: str
) -> dict[str, Any]:
    """Returns one row of `records.TRIAL_SCHEMA`, and under `states` what is kept beside it."""
    options = apply_order(trial.variant.order, plan.items[trial.item].options)
    read = _read(trial.variant.interface.event, outcome, prompt.option_ids, options)
    return (
        _variant_columns(plan, trial, prompt)
        | _outcome_columns(outcome)
        | _reading_columns(read, prompt.option_ids, trial.variant.order)
        | {"attempt": attempt, "worker": worker, "states": _states(outcome)}
    )
