"""Reads which option a set of scores stands for. A tie, a gap or a number that is none stands for nothing.

Knows numbers, IDs and token strings. Knows neither prompts nor models.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from vqaudit.errors import EngineReplyError
from vqaudit.reading.reading import Reading

__all__ = [
    "CombinedSpellings",
    "ScoreReading",
    "check_log_probabilities",
    "combine_spellings",
    "read_option_likelihoods",
    "read_scores",
]

_ABOVE_ZERO = 1e-6
_SENTINEL = -9000.0
"""Servers write -9999 for "no such entry"; no float32 softmax gets there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreReading:
    """The option that a set of scores stands for, and by how much."""

    reading: Reading
    margin: float | None = None
    """Best minus second best score: 0.0 for a tie, None where there is no finite second or nothing was read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CombinedSpellings:
    """The log-probabilities of the shown IDs, out of a server's list of likely tokens."""

    scores: Mapping[str, float | None]
    """Per shown ID; None where no spelling of it is listed."""
    bound: float | None
    """The smallest listed log-probability: an ID that is not listed has no more. None for an empty list."""
    ignored: int
    """Entries without text, without a number, or with a sentinel."""


def read_scores(
    scores: Sequence[float | None], *, option_ids: Sequence[str], bound: float | None = None
) -> ScoreReading:
    """Reads one score per shown ID: the largest wins.

    A score of minus infinity is a probability of zero and may lose; anything else that is not finite, a missing score
    or an exact tie at the top is `ambiguous`. A missing score that is known to be no larger than `bound` may lose too:
    then the margin is the least that it can be. The scores need not be log-probabilities, see
    `check_log_probabilities`.

    Args:
        scores: One per shown ID, larger is better; None where the engine gave none.
        option_ids: The shown IDs.
        bound: No missing score is larger; None where nothing is known of them.

    Raises:
        ValueError: As many scores as IDs are not given.

    Example:
        >>> result = read_scores([-0.3, -1.5, -2.0], option_ids=["A", "B", "C"])
        >>> result.reading.option_id, round(result.margin, 1)
        ('A', 1.2)
        >>> read_scores([-0.7, -0.7], option_ids=["A", "B"]).reading.reason
        'tie: A, B'
        >>> read_scores([-0.3, None], option_ids=["A", "B"], bound=-2.5).margin
        2.2
    """
    if len(scores) != len(option_ids):
        raise ValueError(f"{len(scores)} scores for {len(option_ids)} option IDs")
    given = [score for score in scores if score is not None]
    missing = [option_id for option_id, score in zip(option_ids, scores, strict=True) if score is None]
    if missing and given and bound is not None:
        return _read_bounded(scores, option_ids, bound)
    if missing or not given:
        return _nothing(f"missing score: {', '.join(missing)}" if missing else "no scores")
    if any(math.isnan(score) or score == math.inf for score in given) or max(given) == -math.inf:
        return _nothing("non-finite score")
    best = max(given)
    winners = [option_id for option_id, score in zip(option_ids, given, strict=True) if score == best]
    if len(winners) > 1:
        return ScoreReading(reading=_ambiguous(f"tie: {', '.join(winners)}"), margin=0.0)
    second = max((score for score in given if score != best), default=-math.inf)
    return ScoreReading(
        reading=Reading(outcome="chosen", option_id=winners[0], reason="largest score"),
        margin=best - second if math.isfinite(second) else None,
    )


def _read_bounded(scores: Sequence[float | None], option_ids: Sequence[str], bound: float) -> ScoreReading:
    """Reads scores of which some are only known to be no larger than a bound."""
    known = [(option_id, score) for option_id, score in zip(option_ids, scores, strict=True) if score is not None]
    missing = ", ".join(option_id for option_id, score in zip(option_ids, scores, strict=True) if score is None)
    found = read_scores([score for _, score in known], option_ids=[option_id for option_id, _ in known])
    if found.reading.option_id is None:
        return found
    best = max(score for _, score in known)
    if best <= bound:
        return _nothing(f"missing score: {missing} may be as likely as {found.reading.option_id}")
    margin = best - bound if found.margin is None else min(found.margin, best - bound)
    reading = Reading(
        outcome="chosen", option_id=found.reading.option_id, reason=f"largest score; bounded only: {missing}"
    )
    return ScoreReading(reading=reading, margin=margin)


def read_option_likelihoods(
    sums: Sequence[float | None],
    tokens: Sequence[int],
    *,
    option_ids: Sequence[str],
    rule: Literal["mean", "sum"] = "mean",
) -> ScoreReading:
    """Reads the log-likelihoods of the option texts: lowest perplexity wins (`mean`), or largest product (`sum`).

    The two rules disagree where options differ in length; the rule belongs into the record.

    Args:
        sums: Log-likelihood of each option's text, summed over its own tokens.
        tokens: How many tokens each sum runs over.
        option_ids: The shown IDs.
        rule: Per token or not.

    Raises:
        EngineReplyError: A sum over no token, which would be a probability of 1, or a positive log-likelihood.
        ValueError: An unknown rule, or lengths that differ.

    Example:
        >>> read_option_likelihoods([-1.2, -3.2], [1, 3], option_ids=["A", "B"]).reading.option_id
        'B'
        >>> read_option_likelihoods([-1.2, -3.2], [1, 3], option_ids=["A", "B"], rule="sum").reading.option_id
        'A'
    """
    if rule not in {"mean", "sum"}:
        raise ValueError(f"unknown rule {rule!r}: use 'mean' or 'sum'")
    if not len(sums) == len(tokens) == len(option_ids):
        raise ValueError(f"{len(sums)} sums and {len(tokens)} token counts for {len(option_ids)} option IDs")
    for option_id, total, count in zip(option_ids, sums, tokens, strict=True):
        if total is not None and count < 1:
            raise EngineReplyError(
                f"the likelihood of option {option_id!r} runs over {count} tokens: "
                "its text has no token of its own, so score it with the blank before it"
            )
    check_log_probabilities(total for total in sums if total is not None)
    if rule == "sum":
        return read_scores(sums, option_ids=option_ids)
    means = [None if total is None else total / count for total, count in zip(sums, tokens, strict=True)]
    return read_scores(means, option_ids=option_ids)


def combine_spellings(top: Sequence[tuple[str, float | None]], *, option_ids: Sequence[str]) -> CombinedSpellings:
    """Adds up the spellings of each shown ID in a server's list of likely next tokens.

    A spelling is the ID itself or the ID with white space around it. Case and look-alike letters are not folded: `a`
    and the Cyrillic `А` are other tokens, and one of them could carry away the ID's probability.

    Args:
        top: Token texts with their log-probabilities.
        option_ids: The shown IDs.

    Raises:
        EngineReplyError: A positive log-probability.

    Example:
        >>> listed = [("B", -0.3), (" B", -2.5), ("A", -1.9), ("", -9999.0)]
        >>> combined = combine_spellings(listed, option_ids=["A", "B", "C"])
        >>> round(combined.scores["B"], 3), combined.scores["C"], combined.bound, combined.ignored
        (-0.195, None, -2.5, 1)
    """
    valid = [(text, value) for text, value in top if text and value is not None and value > _SENTINEL]
    check_log_probabilities(value for _, value in valid)
    listed = list(dict.fromkeys(valid))  # some servers list the token that was drawn a second time
    scores = {
        option_id: _log_sum_exp([value for text, value in listed if option_id in (text, text.strip())])
        for option_id in option_ids
    }
    return CombinedSpellings(
        scores=scores, bound=min((value for _, value in listed), default=None), ignored=len(top) - len(valid)
    )


def check_log_probabilities(values: Iterable[float]) -> None:
    """Refuses values that cannot be log-probabilities or log-likelihoods.

    NaN passes: it is a reading without an option, not an engine that hands over another quantity.

    Raises:
        EngineReplyError: A value above zero, beyond rounding.

    Example:
        >>> check_log_probabilities([-0.1, 0.0, float("-inf")])
    """
    for value in values:
        if value > _ABOVE_ZERO:
            raise EngineReplyError(f"a log-likelihood must be <= 0, got {value:.4g}: is this a loss?")


def _log_sum_exp(values: Sequence[float]) -> float | None:
    """Adds probabilities given as logarithms; rounding may not carry the sum above 1."""
    if not values:
        return None
    top = max(values)
    if not math.isfinite(top):
        return top
    return min(top + math.log(math.fsum(math.exp(value - top) for value in values)), 0.0)


def _ambiguous(reason: str) -> Reading:
    return Reading(outcome="ambiguous", reason=reason)


def _nothing(reason: str) -> ScoreReading:
    return ScoreReading(reading=_ambiguous(reason))
