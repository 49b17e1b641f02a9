"""One of two scores that are to be explained: which trials it was taken over, and which of them counted as right.

Knows the tables of a run. Knows nothing of the other run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import polars as pl

from vqaudit.analysis.designs import main_trials, planned_trials
from vqaudit.analysis.frame import analysis_frame
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables

__all__ = ["Asked", "ItemRow", "ScoreKind", "Side", "side_of"]

ScoreKind = Literal["auto", "reading", "lenient", "logged"]
"""What counts as right: the strict reading, the lenient one where there is one, or the verdict of the log that was
imported; `auto` takes the log's verdict where every trial has one, else the strict reading."""


_TEXTS = {"segments": pl.String, "_text": pl.String}
_COLUMNS = (
    *("trial", "item", "order", "id_order", "segments", "prefill", "event", "reply", "finish_reason", "reasoning"),
    *("option_ids", "outcome", "chosen", "logged_right", "logged_reading"),
)


class Variant(NamedTuple):
    """How a trial was asked, as far as the record tells."""

    format: str | None
    order: tuple[int, ...] | None
    id_order: tuple[int, ...] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One trial of a score."""

    trial: str
    variant: Variant
    prompt: str | None
    """Name of the rendered prompt: equal for equal text and prefill; None where the log is silent."""
    segments: tuple[str, ...] | None
    prefill: str
    event: str | None
    reply: str | None
    finish_reason: str | None
    reasoning: str | None
    option_ids: tuple[str, ...]
    outcome: str
    chosen: int | None
    """Option index that vqaudit's reading chose."""
    logged_reading: str | None
    """What the log's own scorer read."""
    right: float
    """1.0 or 0.0, by the kind of score."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemRow:
    """An item as a run holds it; None where a log is silent."""

    item: str
    question: str | None
    options: tuple[str, ...] | None
    answer: int | None
    cluster: str
    images: tuple[str | None, ...] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One score, trial by trial."""

    tables: RunTables
    name: str
    score: ScoreKind
    """Never `auto`."""
    interface: str
    design: str
    items: Mapping[str, ItemRow]
    """Items with at least one judged trial, in dataset order."""
    trials: Mapping[str, Sequence[Asked]]
    segments: Mapping[str, str]

    def mean(self, item: str) -> float:
        """Returns an item's share of right trials, in [0, 1]."""
        asked = self.trials[item]
        return sum(trial.right for trial in asked) / len(asked)

    def prompt(self, asked: Asked) -> str | None:
        """Returns the rendered prompt, what the assistant's turn began with included."""
        if asked.segments is None:
            return None
        return "".join(self.segments.get(name, "") for name in asked.segments) + asked.prefill


def side_of(tables: RunTables, *, score: ScoreKind = "auto", interface: str | None = None) -> Side:
    """Returns the score that a run reports: the item-weighted accuracy of its main design and interface.

    Args:
        tables: A run directory, read.
        score: What counts as right.
        interface: Whose trials; where None, those of the run's headline (`designs.main_trials`).

    Raises:
        AnalysisError: No trial was judged, there is no such interface, or the log has no verdicts.
    """
    if score not in get_args(ScoreKind):
        raise AnalysisError(f"no score {score!r}: choose from {', '.join(get_args(ScoreKind))}")
    frame = analysis_frame(tables)
    design, name, done = _chosen(tables, frame, interface)
    rows = done.select("trial", "right", "lenient_right", "format").join(
        tables.trials.select(_COLUMNS), on="trial", how="left"
    )
    kind = _kind(rows, score, tables)
    rows = rows.with_columns(_right=_right(kind)).filter(pl.col("_right").is_not_null())
    if not rows.height:
        raise AnalysisError(f"{tables.path} has no trial of {name!r} whose right answer is known; there is no score")
    segments = tables.segments()
    trials: dict[str, list[Asked]] = {}
    for row in _with_prompts(rows, segments).sort("trial").iter_rows(named=True):
        trials.setdefault(row["item"], []).append(_asked(row))
    items = {each.item: each for each in _items(tables.items) if each.item in trials}
    return Side(
        tables=tables,
        name=tables.path.name or str(tables.path),
        score=kind,
        interface=name,
        design=design,
        items=items,
        trials=trials,
        segments=segments,
    )


def _chosen(tables: RunTables, frame: pl.DataFrame, interface: str | None) -> tuple[str, str, pl.DataFrame]:
    if interface is None:
        main = main_trials(frame, planned_trials(tables, frame))
        return main.design, main.interface, main.done
    done = frame.filter(pl.col("interface").cast(pl.String) == interface, ~pl.col("failed"))
    if not done.height:
        names = ", ".join(sorted(str(name) for name in frame["interface"].unique()))
        raise AnalysisError(f"{tables.path} has no interface {interface!r}: it has {names}")
    return "every design", interface, done


def _kind(rows: pl.DataFrame, score: ScoreKind, tables: RunTables) -> ScoreKind:
    verdicts = rows["logged_right"].is_not_null()
    if score == "auto":
        return "logged" if rows.height and verdicts.all() else "reading"
    if score == "logged" and not verdicts.any():
        raise AnalysisError(f"{tables.path} holds no verdicts of a log; use the score 'reading'")
    return score


def _right(kind: ScoreKind) -> pl.Expr:
    if kind == "logged":
        return pl.col("logged_right")
    return pl.coalesce("lenient_right", "right") if kind == "lenient" else pl.col("right")


def _with_prompts(rows: pl.DataFrame, segments: Mapping[str, str]) -> pl.DataFrame:
    """Adds `_prompt`: a 128-bit name of the rendered text and the prefill, so that no text is held per trial."""
    texts = pl.DataFrame({"segments": list(segments), "_text": list(segments.values())}, schema=_TEXTS)
    pieces = rows.select("trial", "segments").explode("segments").drop_nulls("segments")
    pieces = pieces.join(texts, on="segments", how="left", maintain_order="left")
    whole = pieces.group_by("trial", maintain_order=True).agg(
        pl.coalesce("_text", "segments").str.join("").alias("_text")
    )
    rows = rows.join(whole, on="trial", how="left")
    text = pl.concat_str(pl.col("_text"), pl.lit("\0"), pl.col("prefill").fill_null(""))
    name = pl.concat_str(text.hash(seed=0), pl.lit("-"), text.hash(seed=1))
    return rows.with_columns(_prompt=pl.when(pl.col("_text").is_not_null()).then(name)).drop("_text")


def _asked(row: Mapping[str, Any]) -> Asked:
    return Asked(
        trial=row["trial"],
        variant=Variant(row["format"], _tuple(row["order"]), _tuple(row["id_order"])),
        prompt=row["_prompt"],
        segments=None if row["segments"] is None else tuple(row["segments"]),
        prefill=row["prefill"] or "",
        event=row["event"],
        reply=row["reply"],
        finish_reason=row["finish_reason"],
        reasoning=row["reasoning"],
        option_ids=tuple(row["option_ids"] or ()),
        outcome=row["outcome"],
        chosen=row["chosen"],
        logged_reading=row["logged_reading"],
        right=float(row["_right"]),
    )


def _tuple(values: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if values is None else tuple(values)


def _items(items: pl.DataFrame) -> Iterator[ItemRow]:
    for row in items.iter_rows(named=True):
        yield ItemRow(
            item=row["item"],
            question=row["question"],
            options=None if row["options"] is None else tuple(row["options"]),
            answer=row["answer"],
            cluster=row["cluster"],
            images=None if not row["images"] else tuple(row["images"]),
        )
