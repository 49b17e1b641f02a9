"""The trials that changed: one right, the other wrong, with both prompts, replies and readings.

Knows splits of items. Computes nothing new.
"""

from __future__ import annotations

from collections.abc import Sequence

from vqaudit.analysis.diff_causes import ItemSplit, PairSplit
from vqaudit.analysis.diff_sides import Asked, ItemRow, Side
from vqaudit.analysis.figures import Row

__all__ = ["Flip", "FlipSide", "flips_of"]


class FlipSide(Row):
    """One of the two trials."""

    trial: str
    right: bool
    prompt: str | None
    """As rendered; None where a log is silent."""
    reply: str | None
    outcome: str
    chosen: str | None
    """Text of the option that vqaudit's reading chose; its index where the text is not known."""
    logged_reading: str | None
    """What the log's own scorer read; None of a run that was not imported."""
    read_as: str
    """What the score went by: the log's reading where its verdict counts, else the option chosen or the outcome."""


class Flip(Row):
    """A pair of trials of which one is right and one wrong."""

    item: str
    """ID in A."""
    item_b: str
    question: str | None
    answer: str | None
    cause: str
    """Where the two part: prompts, replies, readings, or untold."""
    a: FlipSide
    b: FlipSide


def flips_of(splits: Sequence[ItemSplit], a: Side, b: Side) -> list[Flip]:
    """Returns every flipped pair, in dataset order."""
    return [
        _flip(split, pair, a, b) for split in splits for pair in split.pairs if pair.pair.a.right != pair.pair.b.right
    ]


def _flip(split: ItemSplit, pair: PairSplit, a: Side, b: Side) -> Flip:
    return Flip(
        item=split.a.item,
        item_b=split.b.item,
        question=split.a.question if split.a.question is not None else split.b.question,
        answer=_option(split.a, split.a.answer) or _option(split.b, split.b.answer),
        cause="readings" if pair.content == 0.0 else pair.link,
        a=_flip_side(pair.pair.a, split.a, a),
        b=_flip_side(pair.pair.b, split.b, b),
    )


def _flip_side(asked: Asked, item: ItemRow, side: Side) -> FlipSide:
    chosen = _option(item, asked.chosen)
    own = asked.outcome if chosen is None else chosen
    return FlipSide(
        trial=asked.trial,
        right=bool(asked.right),
        prompt=side.prompt(asked),
        reply=asked.reply,
        outcome=asked.outcome,
        chosen=chosen,
        logged_reading=asked.logged_reading,
        read_as=(asked.logged_reading or "nothing") if side.score == "logged" else own,
    )


def _option(item: ItemRow, index: int | None) -> str | None:
    if index is None:
        return None
    known = item.options is not None and 0 <= index < len(item.options)
    return item.options[index] if known and item.options is not None else f"option {index}"
