"""The linear probability model of every trial, with robust influences by cluster.

Knows arrays. Knows no table. Coefficients are differences of probabilities, which is what a reader wants; they exist
where a logit does not (a level that is never right), and in a grid they are differences of level means exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import f as fisher

from vqaudit.analysis.effects.coding import Coded, Factor, Ints
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = ["LinearFit", "contrast", "deviations", "fit_linear", "joint_p_value"]

_NOTHING = 1e-12


class LinearFit(NamedTuple):
    """Coefficients and how much each trial moved them."""

    coefficients: Floats
    """In probability; one per column of `Coded.dummies`."""
    influences: Floats
    """Trials x coefficients: (X'WX)^-1 x w e; they add to 0 in each coefficient."""


def fit_linear(coded: Coded) -> LinearFit:
    """Fits right ~ levels + absorbed groups by least squares, every item weighing the same.

    Groups are taken out by subtracting their means (Frisch & Waugh 1933). Influences are those of the sandwich
    (Liang & Zeger 1986): summed by cluster, their squares are the robust variance.

    Raises:
        AnalysisError: Two factors never vary apart, so that their effects cannot be told apart.
    """
    dummies = _centred(coded.dummies(), coded)
    outcome = _centred(coded.right[:, None], coded)[:, 0]
    weighted = dummies * coded.weights[:, None]
    gram = weighted.T @ dummies
    if np.linalg.matrix_rank(gram, tol=1e-9 * max(1e-3, float(np.abs(gram).max()))) < gram.shape[0]:
        names = ", ".join(factor.name for factor in coded.factors)
        raise AnalysisError(f"some levels of {names} never vary apart in these trials: their effects cannot be told")
    coefficients = np.linalg.solve(gram, weighted.T @ outcome)
    residuals = outcome - dummies @ coefficients
    influences = np.linalg.solve(gram, (weighted * residuals[:, None]).T).T
    return LinearFit(coefficients.astype(np.float64), influences.astype(np.float64))


def contrast(fit: LinearFit, weights: Floats, groups: Ints) -> tuple[float, Floats]:
    """Returns a combination of coefficients, and its influences summed by group."""
    moved = fit.influences @ weights
    return float(fit.coefficients @ weights), np.bincount(groups, moved, int(groups.max()) + 1).astype(np.float64)


def deviations(coded: Coded, factor: Factor) -> Floats:
    """Returns levels x coefficients: the combinations that are a level minus the mean over the factor's levels.

    Levels weigh as often as they occur, items alike: the deviation from the mean accuracy of paper 1, Fig. 4.
    """
    placed = factor.codes >= 0
    shares = np.bincount(factor.codes[placed], coded.weights[placed], len(factor.levels))
    shares = shares / shares.sum()
    columns = coded.columns(factor)
    found = np.zeros((len(factor.levels), sum(len(other.levels) - 1 for other in coded.factors)))
    found[:, columns] -= shares[1:]
    found[1:, columns] += np.eye(len(factor.levels) - 1)
    return found


def joint_p_value(coded: Coded, fit: LinearFit, factor: Factor) -> float | None:
    """Returns the p-value of no difference between any levels, clusters of items being what varies.

    Hotelling's T squared over clusters, as an F with q and G - q degrees of freedom for G clusters and q
    coefficients; None where clusters are too few or nothing varies.
    """
    columns = coded.columns(factor)
    clusters = int(coded.clusters.max()) + 1
    width = columns.stop - columns.start
    if clusters <= width + 1:
        return None
    influences = fit.influences[:, columns]
    moved = np.stack([np.bincount(coded.clusters, column, clusters) for column in influences.T], axis=1)
    variance = moved.T @ moved * clusters / (clusters - 1)
    if np.linalg.matrix_rank(variance, hermitian=True) < width or np.abs(variance).max() < _NOTHING**2:
        return None
    effects = fit.coefficients[columns]
    statistic = float(effects @ np.linalg.solve(variance, effects))
    return float(fisher.sf(statistic * (clusters - width) / (width * (clusters - 1)), width, clusters - width))


def _centred(values: Floats, coded: Coded) -> Floats:
    groups = int(coded.absorbed.max()) + 1
    mass = np.bincount(coded.absorbed, coded.weights, groups)
    sums = [np.bincount(coded.absorbed, column * coded.weights, groups) for column in values.T]
    return values - (np.stack(sums, axis=1) / mass[:, None])[coded.absorbed]
