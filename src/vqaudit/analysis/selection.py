"""Which position the model chooses, beside where the right option stands.

Knows positions. Where the IDs stand in natural order, a position and its ID are the same thing and are not told
apart here. Items that must be asked in one order are left out.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.estimates import Estimate, PairedEstimate, paired_difference
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.grouped import trial_mean
from vqaudit.analysis.spread import cluster_halves

__all__ = [
    "FirstPosition",
    "PositionRow",
    "Preference",
    "first_position",
    "position_trials",
    "preference",
    "selection",
    "selection_by",
]

PER_CELL = 20
"""Trials that a group of formats needs on average before each gets a favourite position of its own."""


class PositionRow(Row):
    """One position at which options are shown."""

    position: int
    """From 0."""
    shown: int
    """Trials that show an option there: n_i of paper 1, Eq. 11."""
    chosen: int
    """Trials that chose it: s_i."""
    frequency: float | None
    """f_i = s_i / n_i over the sum of all f, in [0, 1] (Eq. 12): 0 = never chosen; None = no option was chosen."""
    answers: int
    """Trials whose right option stands there."""
    right_of_answers: float | None
    """Share of those that are right; None where there are none."""
    right_of_chosen: float | None
    """Share that is right of the trials that chose it and whose answer is known; None where there are none."""


class FirstPosition(Row):
    """How often position 0 is chosen, and how often the right option stands there."""

    rate: Figure
    answer_rate: Figure
    excess: Figure
    """`rate - answer_rate`, paired by trial, in [-1, 1]."""


class Preference(Row):
    """How often a format's favourite position is chosen, cross-fitted.

    Preferences differ between formats, so that all formats together can look even. The favourite is found on one
    half of the clusters and counted on the other, and the other way round: no preference reads as an excess of 0.
    """

    level: Literal["format", "id_set", "run"]
    """What has a favourite of its own: as fine as the number of trials allows."""
    rate: Figure
    """Share of trials that chose it."""
    answer_rate: Figure
    """Share of trials whose right option stands there."""
    excess: Figure
    """`rate - answer_rate`, in [-1, 1]."""


def position_trials(trials: pl.DataFrame) -> pl.DataFrame:
    """Returns the trials that position figures are taken over.

    They did not fail, show options in a known order, and are of items that may be permuted.
    """
    return trials.filter(~pl.col("failed"), "permutable", "options_shown", "ordered", pl.col("n_options") > 0)


def selection(trials: pl.DataFrame) -> list[PositionRow]:
    """Returns one row per position that was shown; positions that were not shown are missing, not 0."""
    kept = position_trials(trials)
    if not kept.height:
        return []
    places = int(kept["n_options"].max())  # type: ignore[arg-type]
    sizes = _counts(kept["n_options"] - 1, places)
    shown = sizes[::-1].cumsum()[::-1]
    chosen = _counts(kept["position"].filter(kept["answered"]), places)
    answers = _counts(kept["answer_position"], places)
    judged = _counts(kept["position"].filter(kept["answered"] & kept["right"].is_not_null()), places)
    right = _counts(kept["position"].filter(kept["right"].fill_null(False)), places)
    rates = chosen / shown
    total = rates.sum()
    return [
        PositionRow(
            position=place,
            shown=int(shown[place]),
            chosen=int(chosen[place]),
            frequency=float(rates[place] / total) if total > 0 else None,
            answers=int(answers[place]),
            right_of_answers=_share(right[place], answers[place]),
            right_of_chosen=_share(right[place], judged[place]),
        )
        for place in range(places)
    ]


def selection_by(trials: pl.DataFrame, factor: str) -> dict[str, list[PositionRow]]:
    """Returns the positions of every level of a factor, sorted by level."""
    known = trials.filter(pl.col(factor).is_not_null())
    groups = {str(key[0]): group for key, group in known.group_by(factor)}
    return {level: rows for level in sorted(groups) if (rows := selection(groups[level]))}


def first_position(trials: pl.DataFrame) -> FirstPosition:
    """Returns the first-position rate; every trial counts once, and one that chose nothing did not choose the first.

    `answer_rate` and `excess` are unknown where it is not known where the right option stands.
    """
    kept = position_trials(trials)
    if not kept.height:
        nothing = Estimate.unknown("no options were shown in a known order that could have been another")
        return FirstPosition(rate=nothing, answer_rate=nothing, excess=nothing)
    marked = kept.with_columns(
        _chose=(pl.col("answered") & (pl.col("position") == 0)).fill_null(False),
        _stands=pl.col("answer_position") == 0,
    )
    return FirstPosition(
        rate=trial_mean(marked, "_chose"),
        answer_rate=trial_mean(marked, "_stands"),
        excess=_excess(marked),
    )


def preference(trials: pl.DataFrame, *, seed: int) -> Preference | None:
    """Returns how strongly formats prefer a position, or None where it cannot be told from these trials.

    Trials of formats of which the other half of the clusters chose nothing are left out.
    """
    kept = position_trials(trials).filter(pl.col("answer_position").is_not_null())
    level, cells = _cells(kept)
    halves = cluster_halves(kept["cluster_code"].to_numpy(), np.random.default_rng(seed)).astype(int)
    favourites = _favourites(kept, cells, halves)[cells, 1 - halves] if kept.height else np.zeros(0, dtype=int)
    judged = kept.with_columns(_favourite=pl.Series(favourites)).filter(pl.col("_favourite") >= 0)
    if judged["cluster_code"].n_unique() < 2:
        return None
    marked = judged.with_columns(
        _chose=(pl.col("answered") & (pl.col("position") == pl.col("_favourite"))).fill_null(False),
        _stands=pl.col("answer_position") == pl.col("_favourite"),
    )
    return Preference(
        level=level,
        rate=trial_mean(marked, "_chose"),
        answer_rate=trial_mean(marked, "_stands"),
        excess=_excess(marked),
    )


def _cells(trials: pl.DataFrame) -> tuple[Literal["format", "id_set", "run"], NDArray[np.int64]]:
    """Numbers what may have a favourite of its own: formats, or ID sets where formats have too few trials."""
    levels: tuple[Literal["format", "id_set"], ...] = ("format", "id_set")
    for level in levels:
        names = trials[level]
        if names.null_count() == 0 and names.len() >= PER_CELL * max(1, names.n_unique()):
            return level, names.to_physical().to_numpy().astype(np.int64)
    return "run", np.zeros(trials.height, dtype=np.int64)


def _favourites(trials: pl.DataFrame, cells: NDArray[np.int64], halves: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cells x halves: the position chosen most often, the first of those that tie, -1 where none was chosen."""
    places = int(trials["n_options"].max())  # type: ignore[arg-type]
    counts = np.zeros((int(cells.max()) + 1, 2, places), dtype=np.int64)
    chose = (trials["answered"] & trials["position"].is_not_null()).to_numpy()
    positions = trials["position"].fill_null(0).to_numpy()
    np.add.at(counts, (cells[chose], halves[chose], positions[chose]), 1)
    return np.where(counts.sum(axis=2) > 0, counts.argmax(axis=2), -1)


def _excess(marked: pl.DataFrame) -> PairedEstimate:
    known = marked.filter(pl.col("_stands").is_not_null())
    if not known.height:
        return PairedEstimate(value=None, reason="it is not known where the right option stands")
    return paired_difference(
        known["_chose"].cast(pl.Float64).to_numpy(),
        known["_stands"].cast(pl.Float64).to_numpy(),
        clusters=known["cluster_code"].to_numpy(),
    )


def _counts(places: pl.Series, length: int) -> NDArray[np.int64]:
    known = places.drop_nulls().to_numpy()
    return np.bincount(known[(known >= 0) & (known < length)], minlength=length)


def _share(part: int, whole: int) -> float | None:
    return float(part / whole) if whole else None
