"""The same effects by a logit, as a check on the linear model: generalised estimating equations.

Knows coded trials. Owns statsmodels, and says in words where a logit has no estimate; it never raises.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from vqaudit.analysis.effects.coding import Coded, Factor
from vqaudit.analysis.intervals import Floats

__all__ = ["LogitFit", "fit_logit", "separated_levels"]

_FARTHEST = 15.0
"""Logits beyond which a coefficient is on its way to infinity: probabilities differ from 0 or 1 by 3e-7."""


class LogitFit(NamedTuple):
    """Average marginal effects against the baselines, in probability."""

    effects: dict[tuple[str, str], tuple[float, float]]
    """(factor, level) -> effect and its cluster-robust standard error; empty where there is no fit."""
    sentence: str
    """What was fitted, or why nothing was."""


def separated_levels(coded: Coded) -> list[tuple[Factor, int, bool]]:
    """Returns the levels whose trials are all right (True) or all wrong (False): their logit is infinite.

    Complete and quasi-complete separation by single levels (Albert & Anderson 1984); what combinations of levels
    separate shows in the fit.
    """
    found = []
    for factor in (*coded.factors, coded.sizes):
        placed = factor.codes >= 0
        counts = np.bincount(factor.codes[placed], minlength=len(factor.levels))
        right = np.bincount(factor.codes[placed], coded.right[placed], len(factor.levels))
        for level, (count, hits) in enumerate(zip(counts, right, strict=True)):
            if hits in (0, count):
                found.append((factor, level, bool(hits)))
    return found


def fit_logit(coded: Coded) -> LogitFit:
    """Fits logit P(right) ~ levels + number of options by estimating equations with independent working correlation.

    The estimate is consistent whatever the correlation within clusters is, and the variance is robust to it (Liang
    & Zeger 1986). Effects are average marginal effects: the mean, over trials with items weighing alike, of the
    probability at a level minus that at the baseline; their errors follow by the delta method.

    Args:
        coded: Trials without levels that separate.
    """
    if len(np.unique(coded.right)) < 2:
        return LogitFit({}, "all of these trials are right, or all are wrong: there is no logit")
    sizes = [(coded.sizes.codes == level).astype(float) for level in range(1, len(coded.sizes.levels))]
    design = np.column_stack([np.ones(coded.right.size), coded.dummies(), *sizes])
    if np.linalg.matrix_rank(design.T @ design, hermitian=True) < design.shape[1]:
        return LogitFit({}, "some levels never vary apart: there is no logit")
    if np.unique(coded.clusters).size < 2:
        return LogitFit({}, "robust errors need at least two independent items: there is no logit")
    return _fitted(coded, design)


def _fitted(coded: Coded, design: Floats) -> LogitFit:
    import statsmodels.api as sm
    from statsmodels.genmod.generalized_estimating_equations import GEE

    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            model = GEE(coded.right, design, groups=coded.clusters, family=sm.families.Binomial())
            result: Any = model.fit()
            coefficients = np.asarray(result.params, dtype=float)
            covariance = np.asarray(result.cov_params(), dtype=float)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            return LogitFit({}, f"the logit could not be fitted ({error})")
    finite = np.isfinite(coefficients).all() and np.isfinite(covariance).all()
    if finite and np.abs(coefficients).max() > _FARTHEST:
        return LogitFit({}, "the logit runs to infinity: a combination of levels is always or never right")
    if not finite or not result.converged:
        complaint = f" ({caught[0].message})" if caught else ""
        return LogitFit({}, f"the logit did not converge{complaint}")
    sentence = f"logit by estimating equations on {coded.right.size} trials, errors clustered alike"
    return LogitFit(_marginal(coded, design, coefficients, covariance), sentence)


def _marginal(
    coded: Coded, design: Floats, coefficients: Floats, covariance: Floats
) -> dict[tuple[str, str], tuple[float, float]]:
    found = {}
    for factor in coded.factors:
        first = 1 + coded.columns(factor).start
        base = design.copy()
        base[:, first : first + len(factor.levels) - 1] = 0.0
        at_base, slope_base = _mean(base, coefficients, coded.weights)
        for place, level in enumerate(factor.levels[1:]):
            base[:, first + place] = 1.0
            there, slope = _mean(base, coefficients, coded.weights)
            base[:, first + place] = 0.0
            gradient = slope - slope_base
            error = float(np.sqrt(max(float(gradient @ covariance @ gradient), 0.0)))
            found[factor.name, level] = (there - at_base, error)
    return found


def _mean(design: Floats, coefficients: Floats, weights: Floats) -> tuple[float, Floats]:
    """Returns the mean probability and its gradient by the coefficients."""
    chances = expit(design @ coefficients)
    return float(weights @ chances), (weights * chances * (1 - chances)) @ design
