"""Trials as numbers: outcome, weights, dummies of every level, and what a linear model absorbs.

Knows the analysis frame. Fits nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.frame import FACTORS
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = ["POSITION", "Coded", "Factor", "Ints", "code_trials"]

POSITION = "answer_position"
"""Where the right option stands, from 0."""
BASELINES = {"id_set": "lower", "delimiter": "bracket", "separator": "comma", POSITION: "0"}
"""Paper 1's baseline (Sec. 5.2), and the first position; a factor without that level takes its first by name."""
Ints = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, slots=True)
class Factor:
    """One factor that varies."""

    name: str
    levels: tuple[str, ...]
    """The baseline first."""
    codes: Ints
    """By trial: number of the level; -1 where the trial has none (items that are asked in one order)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Coded:
    """Trials as a linear model takes them."""

    right: Floats
    """0 or 1."""
    weights: Floats
    """Every item weighs the same, however many trials it has; they add to 1."""
    factors: tuple[Factor, ...]
    absorbed: Ints
    """Group whose mean is taken out: the item in a grid, items of one kind in a randomised design."""
    clusters: Ints
    items: Ints
    sizes: Factor
    """The number of options: what the logit takes out, since it cannot take out items."""

    def dummies(self) -> Floats:
        """Returns trials x (levels but baselines), factor by factor."""
        columns = [
            (factor.codes == level).astype(float) for factor in self.factors for level in range(1, len(factor.levels))
        ]
        return np.stack(columns, axis=1)

    def columns(self, factor: Factor) -> slice:
        """Returns which columns of the dummies are a factor's."""
        start = 0
        for other in self.factors:
            width = len(other.levels) - 1
            if other is factor:
                return slice(start, start + width)
            start += width
        raise AnalysisError(f"{factor.name!r} is none of the factors of these trials")


def code_trials(trials: pl.DataFrame, *, within_items: bool, extra: Sequence[str] = ()) -> Coded:
    """Returns the trials in numbers.

    Args:
        trials: Rows of the analysis frame of one interface that did not fail.
        within_items: Whether items were asked in the whole grid, so that each is its own control; else items with
            the same number of options stand for one another, as in a randomised design.
        extra: Further columns that are factors, such as the model; the first by name is their baseline.

    Raises:
        AnalysisError: No trial has both a format and a known answer, or nothing varies.
    """
    kept = trials.filter(pl.col("right").is_not_null(), pl.col("format").is_not_null())
    if not kept.height:
        raise AnalysisError("no trial has both a format and a known answer")
    items = _numbered(kept, ["item_code"])
    absorbed = items if within_items else _numbered(kept, ["n_options", "permutable"])
    factors = [_factor(kept, name) for name in (*FACTORS, *extra)]
    factors.append(_position(kept))
    varied = tuple(factor for factor in factors if _varies(factor, absorbed))
    if not varied:
        raise AnalysisError("every trial was asked in the same format, with the right option at the same position")
    sizes = np.bincount(items)
    weights = 1 / sizes[items] / sizes.size
    return Coded(
        right=kept["right"].cast(pl.Float64).to_numpy(),
        weights=weights,
        factors=varied,
        absorbed=absorbed,
        clusters=_numbered(kept, ["cluster_code"]),
        items=items,
        sizes=_factor(kept, "n_options"),
    )


def _factor(trials: pl.DataFrame, name: str) -> Factor:
    values = trials[name].cast(pl.String)
    levels = sorted(values.unique())
    baseline = BASELINES.get(name)
    if baseline in levels:
        levels.sort(key=lambda level: level != baseline)
    places = {level: place for place, level in enumerate(levels)}
    codes = values.replace_strict(places, return_dtype=pl.Int64).to_numpy().astype(np.intp)
    return Factor(name=name, levels=tuple(levels), codes=codes)


def _position(trials: pl.DataFrame) -> Factor:
    placed = pl.when(pl.col("permutable")).then(pl.col(POSITION)).alias(POSITION)
    values = trials.select(placed).to_series()
    levels = sorted(values.drop_nulls().unique())
    places = {level: place for place, level in enumerate(levels)}
    codes = np.array([places.get(value, -1) for value in values.to_list()], dtype=np.intp)
    return Factor(name=POSITION, levels=tuple(str(level) for level in levels), codes=codes)


def _varies(factor: Factor, absorbed: Ints) -> bool:
    """Whether levels differ within what is absorbed; an order that never changes is the item's own property."""
    if len(factor.levels) < 2:
        return False
    first = np.full(int(absorbed.max()) + 1, -1)
    first[absorbed[::-1]] = factor.codes[::-1]
    return bool((factor.codes != first[absorbed]).any())


def _numbered(trials: pl.DataFrame, keys: list[str]) -> Ints:
    if len(keys) == 1:
        return np.unique(trials[keys[0]].to_numpy(), return_inverse=True)[1].reshape(-1)
    table = np.stack([trials[key].cast(pl.Int64).fill_null(-1).to_numpy() for key in keys], axis=1)
    return np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)
