"""Next-token distributions -> scores of option IDs, words and continuations.

Knows log-probabilities over a vocabulary, as float32 vectors on the CPU. Knows no model and no prompt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import torch

from vqaudit.engines.base import TOP_TOKENS, IDScore, OptionScore, TopToken
from vqaudit.engines.local.ids import IDPlan, Tokens
from vqaudit.engines.local.vocabulary import Vocabulary

__all__ = ["mass", "option_score", "read_ids", "top_tokens"]

Distribution = Callable[[Tokens], torch.Tensor]
"""Log-probabilities of the token after the prompt and some tokens."""


class IDReading(NamedTuple):
    """What one prompt's distributions say of the shown IDs."""

    scores: tuple[IDScore, ...]
    """By position."""
    mass: float
    """Probability that the reply begins with any shown ID, in any spelling that is counted."""


def read_ids(plan: IDPlan, after: Distribution, vocabulary: Vocabulary) -> IDReading:
    """Reads the IDs' scores where one position decides, or along their whole sequences where it does not.

    An ID's probability is the sum over its spellings (design.md, section 4), each times the probability that
    nothing extends it to another shown ID.

    Args:
        plan: How the IDs are written.
        after: Log-probabilities of the token after the prompt and the given tokens.
        vocabulary: What tokens read as.
    """
    along = plan.needs_sequences
    ways = plan.sequences if along else tuple(tuple((t,) for t in singles) for singles in plan.singles)
    logprobs = [{way: _sequence_logprob(way, after) for way in spellings} for spellings in ways]
    scores = tuple(_score(plan, index, given, after, vocabulary) for index, given in enumerate(logprobs))
    flat = {way: value for given in logprobs for way, value in given.items()}
    counted = [value for way, value in flat.items() if not any(way[:n] in flat for n in range(1, len(way)))]
    return IDReading(scores=scores, mass=min(math.exp(_log_sum(counted)), 1.0))


def _score(
    plan: IDPlan, index: int, given: dict[Tokens, float], after: Distribution, vocabulary: Vocabulary
) -> IDScore:
    extending = plan.extending[index]
    final = {way: value + _log_not(extending, after(way)) if extending else value for way, value in given.items()}
    best = max(given, key=lambda way: (_nan_last(given[way]), way))
    in_place = plan.in_place[index]
    return IDScore(
        option_id=plan.option_ids[index],
        logprob=min(_log_sum(final.values()), 0.0),
        rank=_rank(best[0], after(())) if len(best) == 1 else None,
        token_ids=best,
        spelling=vocabulary.decode(best),
        in_place_logprob=None if in_place is None else given.get(in_place),
    )


def _sequence_logprob(way: Tokens, after: Distribution) -> float:
    return sum(float(after(way[:n])[token]) for n, token in enumerate(way))


def _log_not(tokens: Iterable[int], logprobs: torch.Tensor) -> float:
    """Log-probability of all other tokens, from their own sum: 1 - p has no digits left where p is close to 1."""
    others = logprobs.clone()
    others[list(tokens)] = -math.inf
    return float(others.logsumexp(-1))


def _log_sum(values: Iterable[float]) -> float:
    """Log of the sum of exponentials of a few numbers, without the cost of a tensor."""
    terms = list(values)
    if any(map(math.isnan, terms)):
        return math.nan
    top = max(terms, default=-math.inf)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(term - top) for term in terms))


def _nan_last(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _rank(token: int, logprobs: torch.Tensor) -> int | None:
    """Rank from 1; ties rank alike; None where the distribution is not one."""
    value = logprobs[token]
    return None if value.isnan() else int((logprobs > value).sum()) + 1


def mass(tokens: Iterable[int], logprobs: torch.Tensor) -> float:
    """Returns the total probability of some tokens.

    Example:
        >>> round(mass([0, 2], torch.tensor([0.25, 0.5, 0.25]).log()), 6)
        0.5
    """
    return min(float(logprobs[sorted(set(tokens))].double().exp().sum()), 1.0)


def top_tokens(logprobs: torch.Tensor, vocabulary: Vocabulary) -> tuple[TopToken, ...]:
    """Returns the most probable tokens; none where the distribution is not one."""
    values, tokens = logprobs.topk(min(TOP_TOKENS, logprobs.numel()))
    if values.isnan().any():
        return ()
    pairs = zip(tokens.tolist(), values.tolist(), strict=True)
    return tuple(TopToken(token_id=t, text=vocabulary.text(t), logprob=min(value, 0.0)) for t, value in pairs)


def option_score(text: str, tokens: Sequence[int], logprobs: torch.Tensor) -> OptionScore:
    """Returns the score of a continuation from the distributions before each of its tokens.

    Args:
        text: The continuation.
        tokens: Its tokens: those beyond the encoding of the prompt alone.
        logprobs: One row per token: the distribution before it.
    """
    if len(tokens) != len(logprobs):
        raise ValueError(f"{len(tokens)} tokens, but {len(logprobs)} distributions")
    index = torch.tensor(list(tokens)).unsqueeze(-1)
    total = float(logprobs.gather(-1, index).double().sum())
    return OptionScore(logprob=min(total, 0.0), tokens=len(tokens), characters=len(text))
