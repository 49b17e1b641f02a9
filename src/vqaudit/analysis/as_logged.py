"""What the log's own scorer said, beside what our one reader says of the same replies, item by item.

Knows records of imported logs and the analysis frame. Knows no harness: a reading is an ID, nothing, or not told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from vqaudit.analysis.estimates import Estimate, PairedEstimate, mean_estimate, paired_difference
from vqaudit.analysis.figures import Figure, Row
from vqaudit.records import RunTables

__all__ = ["SILENT", "AsLogged", "Change", "ChangeKind", "as_logged", "changes"]

MOST_CHANGES = 1000
"""Changed trials that a summary lists; `changes` gives all."""
_OTHER_TEXT = "label with another option's text"
SILENT = "the log gives neither readings nor verdicts of its own"


class Change(Row):
    """One trial that our reader and the log's scorer read differently."""

    trial: str
    item: str
    logged: str | None
    """ID that the log read; empty where it read none; None where it does not say."""
    read: str | None
    """ID that we read; None where none."""
    outcome: str
    reason: str | None
    """Which rule decided, or why none."""
    logged_right: bool | None
    right: bool | None
    reply: str | None
    """Its first 200 characters."""


class ChangeKind(Row):
    """Changed trials with one outcome and reason."""

    outcome: str
    reason: str
    trials: int
    gained: int
    """Wrong in the log, right as we read it."""
    lost: int
    """Right in the log, wrong as we read it."""


class AsLogged(Row):
    """The log's own scoring beside ours."""

    trials: int
    """That the log gives a reading or a verdict of, failed ones left out."""
    accuracy: Figure
    """Share of rows that the log counts as right."""
    reread: Figure
    """Share of the same rows that are right as we read them."""
    difference: Figure
    """Re-read minus logged, paired by row, in [-1, 1]."""
    agreement: Figure
    """Share of rows with a logged reading that we read as the same ID, or as none where the log read none."""
    changed: int
    gained: int
    lost: int
    hits_without_reading: int
    """Rows that the log counts as right although the reply stands for no option: drawn by lot, or a letter that the
    log's scorer found in a refusal (the pronoun I)."""
    misses_read_right: int
    """Rows of which the log read another option than the reply's, and the reply's is right."""
    misread_verbatim: int
    """Rows whose reply is, to the character, a shown ID with its option's text (`B. a blue van`), and of which the log
    read another ID or none: there the log's scorer is wrong for certain."""
    corrected: Figure
    """The log's accuracy with these rows read as what they say and all others as the log reads them."""
    sentence: str
    kinds: list[ChangeKind]
    """The most frequent first."""
    changes: list[Change]
    """The first `MOST_CHANGES`, in the order of the items."""


def as_logged(tables: RunTables, frame: pl.DataFrame) -> AsLogged | None:
    """Returns the log's scoring beside ours; None where the log has none (`SILENT`)."""
    told = _told(tables, frame)
    if not told.height:
        return None
    changed = told.filter("_changed")
    judged = told.filter(pl.col("logged_right").is_not_null(), pl.col("right").is_not_null())
    gained, lost = pl.col("right") & ~pl.col("logged_right"), ~pl.col("right") & pl.col("logged_right")
    lucky = judged.filter(lost, pl.col("read").is_null())
    accuracy, reread, difference = _mean(judged, "logged_right"), _mean(judged, "right"), _difference(judged)
    other = judged.filter(gained, (pl.col("logged_reading") != "") & pl.col("logged_reading").is_not_null())
    return AsLogged(
        trials=told.height,
        accuracy=accuracy,
        reread=reread,
        difference=difference,
        agreement=_agreement(told),
        changed=changed.height,
        gained=judged.filter(gained).height,
        lost=judged.filter(lost).height,
        hits_without_reading=lucky.height,
        misses_read_right=other.height,
        misread_verbatim=int(told["_misread"].sum()),
        corrected=_mean(judged, "_corrected"),
        sentence=_sentence(accuracy, reread, difference),
        kinds=_kinds(changed),
        changes=[Change(**row) for row in _listed(changed.head(MOST_CHANGES))],
    )


def changes(tables: RunTables, frame: pl.DataFrame) -> list[Change]:
    """Returns every trial that our reader and the log's scorer read differently, in the order of the items."""
    return [Change(**row) for row in _listed(_told(tables, frame).filter("_changed"))]


def _told(tables: RunTables, frame: pl.DataFrame) -> pl.DataFrame:
    logged = tables.trials.select(
        *("trial", "logged_reading", "logged_right", "reason", "option_ids"),
        read=pl.col("option_ids").list.get(pl.col("position").cast(pl.Int64), null_on_oob=True),
        text=pl.col("reply").str.slice(0, 200),
        said=verbatim_positions(tables),
    )
    named = ("trial", "item_code", "cluster_code", "right", "answer_position", "failed")
    kept = frame.select(*named, pl.col("outcome").cast(pl.String))
    joined = kept.join(logged, on="trial", how="left", maintain_order="left").filter(~pl.col("failed"))
    names = tables.items.select("item").with_row_index("item_code")
    told = joined.join(names, on="item_code", how="left", maintain_order="left").filter(
        pl.col("logged_reading").is_not_null() | pl.col("logged_right").is_not_null()
    )
    another = pl.col("logged_reading") != pl.col("read").fill_null("")
    verdict = pl.col("logged_right") != pl.col("right")
    verbatim = pl.col("option_ids").list.get(pl.col("said"), null_on_oob=True)
    told = told.with_columns(
        _changed=another.fill_null(False) | verdict.fill_null(False),
        _misread=(verbatim != pl.col("logged_reading")).fill_null(False),
    )
    plainly = pl.when("_misread").then(pl.col("said") == pl.col("answer_position")).otherwise("logged_right")
    return told.with_columns(_corrected=plainly)


def verbatim_positions(tables: RunTables) -> pl.Series:
    """Returns the position whose ID and option text a reply is to the character, null elsewhere; one per trial.

    This asks no reader: it is what a log's scorer can be held against.
    """
    options = dict(tables.items.select("item", "options").iter_rows())
    rows = tables.trials.select("item", "order", "option_ids", "reply").iter_rows()
    found = [_verbatim(options.get(item), order, ids, reply) for item, order, ids, reply in rows]
    return pl.Series("said", found, dtype=pl.Int64)


def _verbatim(
    options: Sequence[str] | None, order: Sequence[int] | None, ids: Sequence[str] | None, reply: str | None
) -> int | None:
    if not options or not order or not ids or not reply:
        return None
    text = reply.strip()
    for position, (option_id, index) in enumerate(zip(ids, order, strict=False)):
        option = options[index].strip()
        if option and text.endswith(option) and text[: len(text) - len(option)].strip() in _bound(option_id):
            return position
    return None


def _bound(option_id: str) -> tuple[str, ...]:
    return tuple(template.format(option_id) for template in ("{}.", "{}:", "{})", "({})"))


def _sentence(accuracy: Estimate, reread: Estimate, difference: PairedEstimate) -> str:
    if accuracy.value is None or reread.value is None or difference.value is None:
        return "the log's own scoring cannot be held against ours: it gives no verdicts, or no right answers"
    shift = f"{_points(difference.value)} pp"
    if difference.low is not None and difference.high is not None:
        shift += f" [{_points(difference.low)}, {_points(difference.high)}]"
    return f"the log counts {accuracy} as right; the same replies, read anew, are right in {reread}: {shift}"


def _points(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:+.1f}"


def _mean(judged: pl.DataFrame, column: str) -> Estimate:
    if not judged.height:
        return Estimate.unknown("the log gives no verdicts, or no right answers")
    return mean_estimate(judged[column].cast(pl.Float64).to_numpy(), clusters=judged["cluster_code"].to_numpy())


def _difference(judged: pl.DataFrame) -> PairedEstimate:
    if not judged.height:
        return PairedEstimate(value=None, reason="the log gives no verdicts, or no right answers")
    ours, theirs = (judged[name].cast(pl.Float64).to_numpy() for name in ("right", "logged_right"))
    return paired_difference(ours, theirs, clusters=judged["cluster_code"].to_numpy())


def _agreement(told: pl.DataFrame) -> Estimate:
    read = told.filter(pl.col("logged_reading").is_not_null())
    if not read.height:
        return Estimate.unknown("the log gives verdicts, but not which option it read")
    same = (read["logged_reading"] == read["read"].fill_null("")).cast(pl.Float64)
    return mean_estimate(same.to_numpy(), clusters=read["cluster_code"].to_numpy())


def _kinds(changed: pl.DataFrame) -> list[ChangeKind]:
    gained = (pl.col("right") & ~pl.col("logged_right")).fill_null(False)
    lost = (~pl.col("right") & pl.col("logged_right")).fill_null(False)
    # What a reason names (IDs, texts) would make a kind of every trial.
    why = pl.col("reason").fill_null("no reason").str.replace(r"^label \S+ with the text of \S+$", _OTHER_TEXT)
    kind = pl.when(pl.col("outcome") == "chosen").then(why).otherwise(why.str.replace(r": .*$", ""))
    named = changed.with_columns(kind.alias("reason"))
    table = named.group_by("outcome", "reason").agg(trials=pl.len(), gained=gained.sum(), lost=lost.sum())
    ordered = table.sort(["trials", "outcome", "reason"], descending=[True, False, False])
    return [ChangeKind(**row) for row in ordered.iter_rows(named=True)]


def _listed(changed: pl.DataFrame) -> list[dict[str, Any]]:
    columns = changed.select(
        *("trial", "item", "read", "outcome", "reason", "logged_right", "right"),
        logged="logged_reading",
        reply="text",
    )
    return list(columns.iter_rows(named=True))
