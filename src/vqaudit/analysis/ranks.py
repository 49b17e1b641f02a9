"""Which of several runs is better, and how sure that is: paired differences, ranking, ranks over formats.

Knows one value per item and run. Knows no run directory: `comparison` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.draw_table import DrawTable, drawn_difference
from vqaudit.analysis.estimates import PairedEstimate, paired_difference
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.intervals import Floats

__all__ = ["Pair", "bootstrap_ranks", "format_ranks", "holm", "paired_comparisons", "rank_interval", "ranks"]

RESAMPLES = 2000
"""A bound at 2.5 % then rests on 50 resamples."""
_CHUNK = 200
"""Resamples whose weights are held at once, so that memory grows with items and not with resamples."""


class Pair(Row):
    """Two runs, paired by item."""

    a: str
    b: str
    difference: Figure
    """a minus b, in [-1, 1]; its 95 % interval is for this pair alone."""
    p_value: float | None
    """Two-sided, of no difference, for this pair alone."""
    p_adjusted: float | None
    """Holm: over all pairs, the chance of one false statement or more."""
    better: str | None
    """The run that is better, at 5 % over all pairs; None where they cannot be told apart."""
    difference_this_dataset: Figure | None = None
    """The same difference where only the draw is repeated; None but for randomised runs with the same draws."""
    p_adjusted_this_dataset: float | None = None
    """Holm, likewise."""
    better_this_dataset: str | None = None


def paired_comparisons(
    names: Sequence[str],
    values: Floats,
    *,
    clusters: NDArray[np.uint32],
    trials: Sequence[int],
    drawn: Sequence[DrawTable] | None = None,
) -> list[Pair]:
    """Compares every two runs by item and adjusts for all pairs.

    Args:
        names: One per run.
        values: Runs x items, in [0, 1].
        clusters: Of the items.
        trials: By run, how many trials its values were made of.
        drawn: Outcomes by draw of randomised runs that share their draws: differences are then taken draw by draw,
            and told for this dataset too.
    """
    pairs = list(combinations(range(len(names)), 2))
    if drawn is None:
        found = [
            paired_difference(values[a], values[b], clusters=clusters, trials=min(trials[a], trials[b]))
            for a, b in pairs
        ]
        return [_pair(names, *row) for row in zip(pairs, found, _adjusted(found), strict=True)]
    both = [drawn_difference(drawn[a], drawn[b]) for a, b in pairs]
    items, here = [first for first, _ in both], [second for _, second in both]
    return [
        _pair(names, *row).model_copy(update=_this_dataset(names, row[0], estimate, p_adjusted))
        for row, estimate, p_adjusted in zip(
            zip(pairs, items, _adjusted(items), strict=True), here, _adjusted(here), strict=True
        )
    ]


def _adjusted(found: Sequence[PairedEstimate]) -> list[float]:
    return holm([1.0 if estimate.p_value is None else estimate.p_value for estimate in found])


def _ahead(names: Sequence[str], pair: tuple[int, int], estimate: PairedEstimate, p_adjusted: float) -> str | None:
    if estimate.p_value is None or p_adjusted >= 0.05:
        return None
    return names[pair[0]] if (estimate.value or 0.0) > 0 else names[pair[1]]


def _pair(names: Sequence[str], pair: tuple[int, int], estimate: PairedEstimate, p_adjusted: float) -> Pair:
    return Pair(
        a=names[pair[0]],
        b=names[pair[1]],
        difference=estimate,
        p_value=estimate.p_value,
        p_adjusted=None if estimate.p_value is None else p_adjusted,
        better=_ahead(names, pair, estimate, p_adjusted),
    )


def _this_dataset(
    names: Sequence[str], pair: tuple[int, int], estimate: PairedEstimate, p_adjusted: float
) -> dict[str, Any]:
    return {
        "difference_this_dataset": estimate,
        "p_adjusted_this_dataset": None if estimate.p_value is None else p_adjusted,
        "better_this_dataset": _ahead(names, pair, estimate, p_adjusted),
    }


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns p-values adjusted by Holm's step-down method.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    count = len(p_values)
    adjusted, running = [0.0] * count, 0.0
    for place, index in enumerate(sorted(range(count), key=lambda index: p_values[index])):
        running = max(running, min(1.0, (count - place) * p_values[index]))
        adjusted[index] = running
    return adjusted


def ranks(values: Sequence[float] | Floats) -> list[int]:
    """Returns the rank of each, 1 for the largest; ties share the better rank.

    Example:
        >>> ranks([0.5, 0.9, 0.5])
        [2, 1, 2]
    """
    numbers = np.asarray(values, dtype=float)
    return [1 + int((numbers > number).sum()) for number in numbers]


def bootstrap_ranks(values: Floats, *, clusters: NDArray[np.uint32], seed: int, resamples: int = RESAMPLES) -> Floats:
    """Returns runs x ranks: how often each run has each rank when clusters of items are drawn again.

    Args:
        values: Runs x items, in [0, 1]; the same items are drawn for all runs.
        clusters: Of the items.
        seed: Of the draws.
        resamples: How many; the same seed and number give the same shares.

    Example:
        >>> values = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
        >>> bootstrap_ranks(values, clusters=np.arange(3, dtype=np.uint32), seed=0).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    runs = values.shape[0]
    names, codes = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(codes, minlength=names.size).astype(float)
    totals = np.stack([np.bincount(codes, row, names.size) for row in values], axis=1)
    generator = np.random.default_rng(seed)
    shares = np.zeros((runs, runs))
    for start in range(0, resamples, _CHUNK):
        drawn = min(_CHUNK, resamples - start)
        weights = generator.multinomial(names.size, np.full(names.size, 1 / names.size), size=drawn)
        shares += _rank_counts(np.round((weights @ totals) / (weights @ sizes)[:, None], 12))
    return shares / resamples


def rank_interval(shares: Floats, *, level: float = 0.95) -> tuple[int, int]:
    """Returns the best and worst rank that a run's rank shares leave open at a level.

    Example:
        >>> rank_interval(np.array([0.01, 0.60, 0.39]))
        (2, 3)
    """
    tail = (1 - level) / 2
    cumulative = np.cumsum(shares)
    return int(np.argmax(cumulative > tail + 1e-12)) + 1, int(np.argmax(cumulative >= 1 - tail - 1e-12)) + 1


def format_ranks(accuracies: Floats) -> NDArray[np.int64]:
    """Returns runs x ranks: in how many formats each run has each rank (paper 1, Fig. 3).

    Runs that tie share the better rank, as in the paper's tables.

    Args:
        accuracies: Runs x formats.

    Example:
        >>> format_ranks(np.array([[0.9, 0.4], [0.5, 0.5]])).tolist()
        [[1, 1], [1, 1]]
    """
    runs, formats = accuracies.shape
    counts = np.zeros((runs, runs), dtype=np.int64)
    for column in range(formats):
        for run, rank in enumerate(ranks(accuracies[:, column])):
            counts[run, rank - 1] += 1
    return counts


def _rank_counts(means: Floats) -> Floats:
    """Sums, over rows, of the share of each rank that a run holds; tied runs share their ranks evenly."""
    better = (means[:, None, :] > means[:, :, None]).sum(axis=2)
    ties = (means[:, None, :] == means[:, :, None]).sum(axis=2)
    places = np.arange(means.shape[1])
    held = (places >= better[..., None]) & (places < (better + ties)[..., None])
    return (held / ties[..., None]).sum(axis=0)
