"""How often the same question, asked twice in the same way, was answered otherwise.

Knows the records of `repeats/` beside those of the run. A greedy model on one machine answers alike; a server mixes
requests into batches of its own, and low-order digits, and with them near-ties, change from one asking to the next.
"""

from __future__ import annotations

import polars as pl

from vqaudit.analysis.estimates import Estimate, mean_estimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.records import RunTables

__all__ = ["NOT_REPEATED", "NoiseFloor", "NoiseRow", "noise_floor"]

NOT_REPEATED = "no trial was asked twice: --noise-floor 100 asks so many again"
_GENERATED = ("reply", "forced-token", "generation")


class NoiseRow(Row):
    """What changed between two askings, over trials that were answered both times."""

    trials: int
    changed: Figure
    """Share whose reading changed: another option, or an option instead of none."""
    changed_text: Figure | None
    """Share whose reply is not the same to the character; None for score events."""
    changed_right: Figure | None
    """Share that was right once and wrong once; None where no answer is known."""
    largest_score_change: float | None
    """Largest difference of an ID's log-probability, natural; None where no scores were kept both times."""


class NoiseFloor(NoiseRow):
    """What changed, over all interfaces and by interface."""

    failed: int
    """Trials that were asked twice and failed once: they are in no share."""
    by_interface: dict[str, NoiseRow]
    sentence: str


def noise_floor(tables: RunTables) -> NoiseFloor | None:
    """Returns what changed between two askings; None where no trial was asked twice.

    Intervals are clustered by item, as everywhere.

    Args:
        tables: The run.
    """
    repeats = tables.repeats()
    pairs = _pairs(tables, repeats) if repeats.height else repeats
    if not pairs.height:
        return None
    both = pairs.filter(~pl.col("failed"))
    groups = {str(key[0]): part for key, part in both.group_by("interface", maintain_order=True)}
    whole = _row(both)
    return NoiseFloor(
        **dict(whole),
        failed=pairs.height - both.height,
        by_interface={name: _row(groups[name]) for name in sorted(groups)},
        sentence=_sentence(whole),
    )


def _pairs(tables: RunTables, repeats: pl.DataFrame) -> pl.DataFrame:
    """First and second record of every trial that has both; `_2` marks the second."""
    kept = ["outcome", "chosen", "position", "reply", "further", "id_scores"]
    first = tables.trials.select("trial", "item", "interface", "event", *kept)
    second = repeats.select("trial", *kept)
    items = tables.items.select("item", "cluster", "answer")
    pairs = first.join(second, on="trial", suffix="_2").join(items, on="item", how="left").sort("trial")
    failed = (pl.col("outcome") == "failed") | (pl.col("outcome_2") == "failed")
    right, right_2 = (
        ((pl.col(f"outcome{mark}") == "chosen") & (pl.col(f"chosen{mark}") == pl.col("answer"))).fill_null(False)
        for mark in ("", "_2")
    )
    texts = pl.col("event").is_in(_GENERATED)
    return pairs.with_columns(
        failed=failed,
        changed=_differs("outcome") | _differs("position"),
        changed_text=pl.when(texts).then(_differs("reply") | _differs("further")),
        changed_right=pl.when(pl.col("answer").is_not_null()).then(right != right_2),
        score_change=_score_change(pairs),
    )


def _differs(column: str) -> pl.Expr:
    return pl.col(column).ne_missing(pl.col(f"{column}_2"))


def _score_change(pairs: pl.DataFrame) -> pl.Series:
    """Largest absolute difference of a log-probability that both records have; null where there is none."""
    changes = []
    for one, two in pairs.select("id_scores", "id_scores_2").iter_rows():
        before, after = ({s["option_id"]: s["logprob"] for s in scores or []} for scores in (one, two))
        known = [abs(v - after[k]) for k, v in before.items() if v is not None and after.get(k) is not None]
        changes.append(max(known, default=None))
    return pl.Series("score_change", changes, dtype=pl.Float64)


def _row(pairs: pl.DataFrame) -> NoiseRow:
    largest = pairs["score_change"].max()
    return NoiseRow(
        trials=pairs.height,
        changed=_share(pairs, "changed"),
        changed_text=_share(pairs, "changed_text") if pairs["changed_text"].is_not_null().any() else None,
        changed_right=_share(pairs, "changed_right") if pairs["changed_right"].is_not_null().any() else None,
        largest_score_change=float(largest) if isinstance(largest, float) else None,
    )


def _share(pairs: pl.DataFrame, column: str) -> Estimate:
    told = pairs.filter(pl.col(column).is_not_null())
    return mean_estimate(told[column].cast(pl.Float64).to_numpy(), clusters=told["cluster"].to_list())


def _sentence(row: NoiseRow) -> str:
    if row.changed.value is None:
        return "no trial was answered both times it was asked"
    changed = round(row.changed.value * row.trials)
    told = f"{changed} of {row.trials} trials that were asked twice in the same way were answered otherwise"
    return f"{told}: {row.changed}"
