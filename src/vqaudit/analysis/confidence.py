"""Does confidence protect from format: accuracy by factor level among items of high, middle and low confidence.

Knows a grid and the scores of the right IDs. Source: paper 1, Sec. 5.3 and Fig. 7.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from vqaudit.analysis.estimates import PairedEstimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.frame import FACTORS
from vqaudit.analysis.grouped import estimate_items, estimate_pairs, item_means
from vqaudit.analysis.id_scores import id_logprobs
from vqaudit.analysis.mitigation.material import SCORE_INTERFACE, Material
from vqaudit.errors import AnalysisError

__all__ = ["ConfidenceGroup", "ConfidenceGroups", "ConfidenceLevel", "ConfidenceRanking", "confidence_groups"]

TAIL = 0.2
"""Share of items in the top and in the bottom group."""
FEWEST_ITEMS = 5
"""Fewer leave a group of 20 % without an item."""
Name = Literal["top", "middle", "bottom"]


class ConfidenceLevel(Row):
    """A group of items at one level of a factor."""

    level: str
    accuracy: Figure
    """Mean over the group's items of the item's mean at this level."""
    deviation: Figure
    """Minus the group's mean over the levels, in [-1, 1], paired by item."""
    quartiles: tuple[float, float, float]
    """Of the items' accuracies at this level: 25 %, 50 %, 75 %, in [0, 1]."""


class ConfidenceGroup(Row):
    """Items of like confidence."""

    group: Name
    items: int
    least: float
    """Lowest score of the right ID, a mean natural log-probability over rotations."""
    most: float
    accuracy: Figure
    """Mean over items of the item's mean over formats and orders."""
    levels: dict[str, list[ConfidenceLevel]]
    """Factor -> its levels."""


class ConfidenceRanking(Row):
    """Three groups by the score under one format."""

    format: str
    """Whose scores rank the items."""
    interface: str
    left_out: bool
    """Whether that format is left out of the accuracies, so that ranking and outcome share no trial."""
    groups: list[ConfidenceGroup]


class ConfidenceGroups(Row):
    """Items by confidence; `held_out` is None where the run kept scores in the reference format alone."""

    reference: ConfidenceRanking
    """As in the paper: the ranking format is one of those that are averaged."""
    held_out: ConfidenceRanking | None
    """By a format that shares no level with the reference, without its own trials."""


class _Ranking(NamedTuple):
    scores: pl.DataFrame
    """Item code and score."""
    format: str
    interface: str


def confidence_groups(material: Material) -> ConfidenceGroups:
    """Returns accuracy by factor level in the top 20 %, middle 60 % and bottom 20 % of items by confidence.

    Confidence is the log-probability of the right ID, averaged over the rotations in one format; the score is
    over the whole vocabulary. Items that tie stay in dataset order.

    Raises:
        AnalysisError: No grid, no scores in the reference format, or too few items.
    """
    if material.main.design != "grid":
        raise AnalysisError("confidence groups need the design grid: accuracy by format of every item")
    reference = material.tables.manifest.reference_format
    if reference is None:
        raise AnalysisError("confidence groups need a reference format; this run names none")
    first = _ranked(material, reference)
    if first is None:
        raise AnalysisError(
            "confidence groups need scores of the right ID in the reference format; this run kept replies only"
        )
    other = _unlike(material, reference)
    second = None if other is None else _ranked(material, other)
    return ConfidenceGroups(
        reference=_ranking(material, first, left_out=False),
        held_out=None if second is None else _ranking(material, second, left_out=True),
    )


def _ranked(material: Material, name: str) -> _Ranking | None:
    for interface in dict.fromkeys((material.main.interface, SCORE_INTERFACE)):
        trials = material.in_format(name, interface).filter(pl.col("answer_position").is_not_null())
        if not trials.height:
            continue
        logprobs = id_logprobs(material.tables, trials)
        places = trials["answer_position"].cast(pl.Int64).to_numpy()
        right = logprobs[np.arange(places.size), np.minimum(places, logprobs.shape[1] - 1)]
        scored = trials.select("item_code").with_columns(score=pl.Series(right)).filter(pl.col("score").is_not_nan())
        if scored.height:
            means = scored.group_by("item_code").agg(pl.col("score").mean()).sort("item_code")
            return _Ranking(means, name, interface)
    return None


def _unlike(material: Material, reference: str) -> str | None:
    """The first format by name that shares no level with the reference."""
    parts = reference.split("/")
    for name in sorted(material.main.done["format"].drop_nulls().cast(pl.String).unique()):
        if all(a != b for a, b in zip(name.split("/"), parts, strict=True)):
            return name
    return None


def _ranking(material: Material, ranking: _Ranking, *, left_out: bool) -> ConfidenceRanking:
    trials = material.main.done.filter(pl.col("format").is_not_null(), pl.col("right").is_not_null())
    if left_out:
        trials = trials.filter(pl.col("format").cast(pl.String) != ranking.format)
    scores = ranking.scores.join(trials.select("item_code").unique(), on="item_code", how="semi")
    if scores.height < FEWEST_ITEMS:
        raise AnalysisError(f"three groups need at least {FEWEST_ITEMS} items with scores, not {scores.height}")
    ordered = scores.sort(["score", "item_code"], descending=[True, False])
    tail = max(1, round(TAIL * ordered.height))
    parts: list[tuple[Name, pl.DataFrame]] = [
        ("top", ordered.head(tail)),
        ("middle", ordered.slice(tail, ordered.height - 2 * tail)),
        ("bottom", ordered.tail(tail)),
    ]
    groups = [_group(name, part, trials) for name, part in parts]
    return ConfidenceRanking(format=ranking.format, interface=ranking.interface, left_out=left_out, groups=groups)


def _group(name: Name, scores: pl.DataFrame, trials: pl.DataFrame) -> ConfidenceGroup:
    own = trials.join(scores.select("item_code"), on="item_code", how="semi", maintain_order="left")
    return ConfidenceGroup(
        group=name,
        items=scores.height,
        least=float(scores["score"].min()),  # type: ignore[arg-type]
        most=float(scores["score"].max()),  # type: ignore[arg-type]
        accuracy=estimate_items(item_means(own, "right")),
        levels={factor: _levels(own, factor) for factor in FACTORS},
    )


def _levels(trials: pl.DataFrame, factor: str) -> list[ConfidenceLevel]:
    by_level = item_means(trials, "right", by=[factor])
    whole = by_level.group_by("item_code").agg(pl.col("mean").mean(), pl.col("trials").sum()).sort("item_code")
    rows = []
    for (level,), items in by_level.group_by(factor, maintain_order=True):
        quartiles = np.quantile(items["mean"].to_numpy(), [0.25, 0.5, 0.75])
        rows.append(
            ConfidenceLevel(
                level=str(level),
                accuracy=estimate_items(items),
                deviation=_deviation(items, whole),
                quartiles=(float(quartiles[0]), float(quartiles[1]), float(quartiles[2])),
            )
        )
    return rows


def _deviation(items: pl.DataFrame, whole: pl.DataFrame) -> PairedEstimate:
    return estimate_pairs(items.join(whole, on="item_code", suffix="_b", maintain_order="left"))
