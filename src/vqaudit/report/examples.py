"""A few trials to look at: replies that could not be read, and items that flip with the format or the order.

Knows records. The prompt of a trial is the concatenation of its segments; nothing is rendered here. Which trials are
shown is decided by their names, which are hashes: the same records always show the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from vqaudit.analysis.frame import analysis_frame
from vqaudit.records import RunTables

__all__ = ["Example", "Examples", "Flip", "pick_examples"]

UNREAD = 6
FLIPS = 3
_KEPT = ("trial", "format", "right", "answered", "failed")
_LIGHT = ("trial", "item", "interface", "id_set", "order", "outcome")
"""What trials are chosen by; whole records are read of the chosen ones alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """One trial, as it was asked and answered."""

    trial: str
    item: str
    interface: str
    format: str | None
    prompt: str | None
    """The user's turn, byte for byte; None where the records do not hold it."""
    prefill: str | None
    """What the assistant's turn began with."""
    pictures: int
    """How many stood in the prompt; a run directory does not hold them."""
    reply: str | None
    further: str | None
    """Greedy text beyond the token budget: kept, but not read."""
    scores: tuple[tuple[str, float], ...]
    """Each ID and its probability, where IDs were scored."""
    outcome: str
    reason: str | None
    """Which rule decided, or why none."""
    chosen: str | None
    """ID of the option chosen."""
    answer: str | None
    """ID of the right option."""
    right: bool | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Flip:
    """One item that is right under one variant and wrong under another that differs in one thing alone."""

    by: str
    """`format` or `order`."""
    right: Example
    wrong: Example


@dataclass(frozen=True, kw_only=True, slots=True)
class Examples:
    """What is shown of a run."""

    unread: tuple[Example, ...]
    flips: tuple[Flip, ...]


def pick_examples(tables: RunTables, *, interface: str, unread: int = UNREAD, flips: int = FLIPS) -> Examples:
    """Picks trials to show: unread ones of as many kinds as there are, and flips of different items.

    Args:
        tables: From `RunTables.load`.
        interface: Whose trials flips are looked for in.
        unread: At most so many trials that chose nothing.
        flips: At most so many flips.
    """
    judged = analysis_frame(tables).select(_KEPT)
    trials = tables.trials.select(_LIGHT).join(judged, on="trial").filter(~pl.col("failed")).sort("trial")
    silent = trials.filter(~pl.col("answered")).unique(
        ["interface", "outcome", "id_set"], keep="first", maintain_order=True
    )
    pairs = _flips(trials.filter(pl.col("interface") == interface, "answered"), flips)
    source = _Source.of(tables)
    shown = [*silent.head(unread)["trial"], *(name for _, *sides in pairs for name in sides)]
    whole = tables.trials.filter(pl.col("trial").is_in(shown)).join(judged, on="trial")
    examples = {row["trial"]: source.example(row) for row in whole.iter_rows(named=True)}
    return Examples(
        unread=tuple(examples[name] for name in silent.head(unread)["trial"]),
        flips=tuple(Flip(by=by, right=examples[right], wrong=examples[wrong]) for by, right, wrong in pairs),
    )


def _flips(trials: pl.DataFrame, number: int) -> list[tuple[str, str, str]]:
    """What differs, the right trial and the wrong one; flips by order are shown where no format flips."""
    marked = trials.filter(pl.col("right").is_not_null(), pl.col("format").is_not_null()).with_columns(
        _order=pl.col("order").cast(pl.List(pl.String)).list.join("-")
    )
    for by, same in (("format", "_order"), ("order", "format")):
        sides = [
            marked.filter(pl.col("right") == right).unique(["item", same], keep="first", maintain_order=True)
            for right in (True, False)
        ]
        pairs = sides[0].join(sides[1], on=["item", same], suffix="_wrong", maintain_order="left")
        found = pairs.unique("item", keep="first", maintain_order=True).head(number)
        if found.height:
            return [(by, *pair) for pair in found.select("trial", "trial_wrong").iter_rows()]
    return []


@dataclass(frozen=True, slots=True)
class _Source:
    segments: Mapping[str, str]
    items: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, tables: RunTables) -> _Source:
        items = {row["item"]: row for row in tables.items.select("item", "answer", "images").iter_rows(named=True)}
        return cls(tables.segments(), items)

    def example(self, row: Mapping[str, Any]) -> Example:
        """Puts one trial together."""
        item = self.items[row["item"]]
        ids, order, answer = row["option_ids"] or [], row["order"] or [], item["answer"]
        place = order.index(answer) if answer in order else None
        return Example(
            trial=row["trial"],
            item=row["item"],
            interface=row["interface"] or "unknown",
            format=row["format"],
            prompt=self._prompt(row["segments"]),
            prefill=row["prefill"],
            pictures=len(item["images"] or ()),
            reply=row["reply"],
            further=row["further"],
            scores=_probabilities(row["id_scores"]),
            outcome=row["outcome"],
            reason=row["reason"],
            chosen=_at(ids, row["position"]),
            answer=_at(ids, place),
            right=row["right"],
        )

    def _prompt(self, names: list[str] | None) -> str | None:
        texts = [self.segments.get(name) for name in names or ()]
        known = [text for text in texts if text is not None]
        return "".join(known) if texts and len(known) == len(texts) else None


def _at(ids: list[str], place: int | None) -> str | None:
    return ids[place] if place is not None and place < len(ids) else None


def _probabilities(scores: list[Mapping[str, Any]] | None) -> tuple[tuple[str, float], ...]:
    return tuple(
        (score["option_id"], math.exp(score["logprob"]))
        for score in scores or ()
        if score["logprob"] is not None and math.isfinite(score["logprob"])
    )
