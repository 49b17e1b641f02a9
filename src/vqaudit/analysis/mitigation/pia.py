"""Position-invariant accuracy: how often an option is right where it stands and where it is chosen (PIA).

Knows where options stood and which were chosen. Source: paper 1, Eq. 7 (Tan et al. 2024).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.intervals import Floats
from vqaudit.analysis.linearised import linearised_mean

__all__ = ["PIA", "Placed", "position_invariant_accuracy"]

Ints = NDArray[np.int64]


class Placed(NamedTuple):
    """Trials of one number of options."""

    answers: Ints
    """Position of the right option, from 0."""
    chosen: Ints
    """Position chosen; -1 where none was."""
    clusters: NDArray[np.intp]
    """Number of each trial's cluster, from 0 without gaps."""


class PIA(NamedTuple):
    """Position-invariant accuracy and what it rests on."""

    by_position: Estimate
    """N_i = trials whose right option stands at position i: a perfect model scores 1. In [0, 1]."""
    by_all: float
    """The same with N = all trials, as paper 1's Eq. 7 is printed: a perfect model scores 1 / options."""
    never_chosen: tuple[int, ...]
    """Positions that no trial chose: Pr_i = 0, which counts as 0."""
    influences: Floats
    """By cluster, how much it moved `by_position`."""


def position_invariant_accuracy(placed: Placed, options: int) -> PIA:
    """Returns PIA = 1/M sum_i (C_i / Pr_i) (C_i / N_i) of trials with M options (paper 1, Eq. 7).

    C_i counts trials that chose position i and were right, Pr_i those that chose it, N_i those whose right option
    stands there. Positions at which no right option stands have no C_i / N_i; they count as 0.

    Example:
        >>> answers, clusters = np.arange(8) % 4, np.arange(8)
        >>> always_first = position_invariant_accuracy(Placed(answers, np.zeros(8, dtype=np.int64), clusters), 4)
        >>> always_first.by_position.value, always_first.never_chosen
        (0.0625, (1, 2, 3))
        >>> position_invariant_accuracy(Placed(answers, answers, clusters), 4).by_position.value
        1.0
    """
    count = int(placed.clusters.max()) + 1
    right = placed.answers == placed.chosen
    hits = _by_cluster(placed, placed.answers, right, options, count)
    picked = _by_cluster(placed, placed.chosen, placed.chosen >= 0, options, count)
    stood = _by_cluster(placed, placed.answers, np.ones_like(right), options, count)
    c, pr, n = hits.sum(axis=0), picked.sum(axis=0), stood.sum(axis=0)
    precision, recall = _share(c, pr), _share(c, n)
    value = float((precision * recall).mean())
    # partial derivatives of C^2 / (Pr N) by C, Pr and N
    moved = 2 * hits * _share(recall, pr) - picked * _share(precision * recall, pr)
    moved = (moved - stood * _share(precision * recall, n)).sum(axis=1) / options
    sizes = stood.sum(axis=1)
    estimate = linearised_mean(value, moved, sizes, trials=int(sizes.sum()))
    by_all = float((precision * c / max(placed.answers.size, 1)).mean())
    return PIA(estimate, by_all, tuple(int(place) for place in np.flatnonzero(pr == 0)), moved)


def _by_cluster(placed: Placed, positions: Ints, counted: NDArray[np.bool_], options: int, clusters: int) -> Floats:
    cells = placed.clusters[counted] * options + positions[counted]
    return np.bincount(cells, minlength=clusters * options).reshape(clusters, options).astype(np.float64)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
