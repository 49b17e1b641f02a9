"""Where answers go that one interface reads right and another wrong.

Knows outcomes of the same item, format and order. Knows no score.
"""

from __future__ import annotations

import polars as pl

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.grouped import trial_mean

__all__ = ["Agreement", "Flips", "agreement", "flips"]


class Flips(Row):
    """Trials of one interface beside those of another on the same items, formats and orders."""

    before: str
    after: str
    trials: int
    """Shared trials."""
    lost: int
    """Right under the first and wrong under the second."""
    gained: int
    """Wrong under the first and right under the second."""
    lost_to_first: Figure | None
    """Share of the lost that chose position 0 under the second (paper 2, section 3: 99.17 % and 86.43 %), of items
    that may be permuted and whose right option does not stand there; None where none was lost."""
    lost_unanswered: Figure | None
    """Share of the lost that chose no option."""


class Agreement(Row):
    """One forced token beside the ID scores of the same prompt: both read the same distribution."""

    forced: str
    scores: str
    trials: int
    agree: int
    no_id: int
    """The forced token is no shown ID, so that nothing was chosen: the only way in which the two may differ."""
    differ: int
    """Another option was chosen, or scores tied."""


_KEYS = ("item_code", "variant_code")


def flips(before: pl.DataFrame, after: pl.DataFrame) -> Flips | None:
    """Returns where answers go from one interface to another; None where the two share no trial.

    Args:
        before: Trials of one interface.
        after: Trials of the other.
    """
    pairs = _pairs(before, after).filter(pl.col("right").is_not_null(), pl.col("right_b").is_not_null())
    if not pairs.height:
        return None
    lost = pairs.filter(pl.col("right_b"), ~pl.col("right"))
    elsewhere = lost.filter("permutable", "ordered", pl.col("answer_position") != 0)
    first = (pl.col("answered") & (pl.col("position") == 0)).fill_null(False)
    return Flips(
        before=str(before["interface"][0]),
        after=str(after["interface"][0]),
        trials=pairs.height,
        lost=lost.height,
        gained=pairs.filter(~pl.col("right_b"), pl.col("right")).height,
        lost_to_first=_share(elsewhere.with_columns(_to=first)),
        lost_unanswered=_share(lost.with_columns(_to=~pl.col("answered"))),
    )


def agreement(forced: pl.DataFrame, scores: pl.DataFrame) -> Agreement | None:
    """Returns how one forced token agrees with the ID scores of the same prompt; None where no trial is shared."""
    pairs = _pairs(scores, forced)
    if not pairs.height:
        return None
    same = (pl.col("answered") & pl.col("answered_b") & (pl.col("position") == pl.col("position_b"))).fill_null(False)
    agree = pairs.filter(same).height
    no_id = pairs.filter(~pl.col("answered")).height
    return Agreement(
        forced=str(forced["interface"][0]),
        scores=str(scores["interface"][0]),
        trials=pairs.height,
        agree=agree,
        no_id=no_id,
        differ=pairs.height - agree - no_id,
    )


def _pairs(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    told = before.select(*_KEYS, "right", "answered", "position")
    return after.join(told, on=list(_KEYS), suffix="_b", maintain_order="left")


def _share(marked: pl.DataFrame) -> Estimate | None:
    return trial_mean(marked, "_to") if marked.height else None
