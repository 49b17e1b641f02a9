"""One row, read anew: the one reader for replies, the one rule for scores; nothing depends on the harness.

Knows readings and the record's columns. Knows no harness and no right answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vqaudit.logs.rows import LogRow
from vqaudit.reading import Reading, ScoreReading, read_option_likelihoods, read_reply, read_scores

__all__ = ["event_of", "reading_columns"]


class _Read(NamedTuple):
    reading: Reading
    margin: float | None


def event_of(row: LogRow) -> str:
    """Returns the name of what was scored.

    Example:
        >>> event_of(LogRow(row=1, item="7", options=("x", "y"), reply="B"))
        'generation'
    """
    if not row.scores:
        return "generation"
    return "id-scores" if row.scores_are_ids else "option-likelihood"


def reading_columns(row: LogRow, order: tuple[int, ...]) -> dict[str, Any]:
    """Returns outcome, position, option chosen, reason and margin of a row whose options are shown in this order."""
    read = _read(row)
    option_id = read.reading.option_id
    position = None if option_id is None else row.option_ids.index(option_id)
    return {
        "outcome": read.reading.outcome,
        "position": position,
        "chosen": None if position is None else order[position],
        "reason": read.reading.reason or None,
        "margin": read.margin,
    }


def _read(row: LogRow) -> _Read:
    if row.error is not None:
        return _Read(Reading(outcome="failed", reason=row.error), None)
    if row.scores:
        scored = _scored(row)
        return _Read(scored.reading, scored.margin)
    found = read_reply(
        row.reply,
        option_ids=row.option_ids,
        options=row.options,
        finish_reason=row.finish_reason,
        reasoning=row.reasoning,
    )
    return _Read(found, None)


def _scored(row: LogRow) -> ScoreReading:
    sums = [score.logprob for score in row.scores]
    if row.scores_are_ids:
        return read_scores(sums, option_ids=row.option_ids)
    tokens = [score.tokens for score in row.scores if score.tokens is not None]
    # A log without token counts allows the sum alone, which favours short options.
    if len(tokens) == len(sums):
        return read_option_likelihoods(sums, tokens, option_ids=row.option_ids)
    return read_option_likelihoods(sums, [1] * len(sums), option_ids=row.option_ids, rule="sum")
