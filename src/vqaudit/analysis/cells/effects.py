"""Effects of factor levels on accuracy: paper 1's mixed model, and what it says when models are the units.

Knows the linear model's rows. Owns statsmodels within this package; it is loaded when a model is fitted.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from vqaudit.analysis.cells.regression import INTERCEPT, Regression, regression_of
from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.figures import Row
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = [
    "Effect",
    "Fit",
    "MixedModel",
    "clustered_effects",
    "leave_one_model_out",
    "mixed_model",
    "without_models",
    "without_zero_coverage",
    "zero_coverage_models",
]

_BOUNDARY = 1e-4
"""Group variance over residual variance below which the fit lies on the boundary: optimisers stop just short of 0."""
_OPTIMISERS = ("bfgs", "powell")
"""Statsmodels' own first choice, as in the paper; where its gradients fail, Powell's method needs none."""


class Effect(Row):
    """What a level changes against its factor's baseline."""

    coef_pp: float
    """In percentage points; `Intercept` is the accuracy in the baseline format, in per cent."""
    ci95: tuple[float, float] | None
    """In percentage points."""
    p: float | None
    """Two-sided, of no effect."""


class Fit(Row):
    """How a mixed model was fitted."""

    cells: int
    groups: int
    """Pairs of a model and a data set."""
    models: int
    converged: bool
    singular: bool
    """Whether the groups' variance is zero: the boundary of what it can be."""
    notes: list[str]


class MixedModel(NamedTuple):
    """A fitted mixed model."""

    effects: dict[str, Effect]
    group_variance: float
    """In squared percentage points."""
    residual_variance: float
    fit: Fit


def mixed_model(table: CellTable, baseline: Mapping[str, str]) -> MixedModel:
    """Fits `accuracy ~ factors + (1 | model:dataset)` by REML, with Wald intervals.

    Source: paper 1, App. A.2, Eqs. 4 and 5, and Fig. 6. Its intervals take cells as the units: 48 formats of one
    model on one data set count as 48 independent looks. `clustered_effects` does not.

    Args:
        table: Cells; those that are missing are left out.
        baseline: Factor -> level, from `baseline_of`.

    Raises:
        AnalysisError: There is one model only, nothing varies within groups, or no fit was found.

    Example:
        >>> levels = ("dot", "colon")
        >>> table = CellTable(
        ...     source="own.csv",
        ...     datasets=("d",),
        ...     models=("m", "n", "o"),
        ...     factors={"delimiter": levels},
        ...     formats=(("dot",), ("colon",)),
        ...     accuracy=np.array([[[0.2, 0.4], [0.6, 0.9], [0.7, 0.8]]]),
        ...     coverage=None,
        ... )
        >>> round(mixed_model(table, {"delimiter": "dot"}).effects["colon"].coef_pp, 6)
        20.0
    """
    data = regression_of(table, baseline)
    if np.unique(data.models).size < 2:
        raise AnalysisError("a mixed model needs two models or more; of one model, the levels' deviations say all")
    if np.unique(data.groups).size == data.outcome.size:
        raise AnalysisError("every model has one cell per data set, so that nothing varies within groups")
    _check_residuals(data)
    result, said = _fit(data)
    return _mixed_model(data, result, said)


def _check_residuals(data: Regression) -> None:
    """REML has no maximum where the factors explain each group exactly; the optimiser would return noise."""
    left = _within(np.column_stack([data.outcome, data.design[:, 1:]]), data.groups)
    coefficients, *_ = np.linalg.lstsq(left[:, 1:], left[:, 0], rcond=None)
    if float(((left[:, 0] - left[:, 1:] @ coefficients) ** 2).mean()) < 1e-10:
        raise AnalysisError("the factors explain every accuracy exactly, so that there is no residual variance")


def _within(values: Floats, groups: Any) -> Floats:
    """Returns the columns minus their group means."""
    codes = np.unique(groups, return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(codes)
    means = np.stack([np.bincount(codes, column) / sizes for column in values.T], axis=1)
    return values - means[codes]


def _fit(data: Regression) -> tuple[Any, list[str]]:
    """Returns the likeliest fit that converged, and what was said of it.

    A fit that came with warnings may have stopped short of the maximum though it calls itself converged; then the
    next optimiser has its turn too.
    """
    found: list[tuple[Any, list[str]]] = []
    said: list[str] = []
    for optimiser in _OPTIMISERS:
        result, said = _optimise(data, optimiser)
        if result is not None:
            found.append((result, said))
            if not said:
                break
    if not found:
        raise AnalysisError(f"no fit of the mixed model was found: {'; '.join(said) or 'no reason given'}")
    return max(found, key=lambda fit: float(fit[0].llf))


def _optimise(data: Regression, optimiser: str) -> tuple[Any | None, list[str]]:
    from statsmodels.regression.mixed_linear_model import MixedLM

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = MixedLM(data.outcome, data.design, groups=data.groups).fit(reml=True, method=[optimiser])
        except (np.linalg.LinAlgError, ValueError) as error:
            return None, [str(error)]
    said = sorted({" ".join(str(warning.message).split()) for warning in caught})
    numbers = [float(np.asarray(result.cov_re)[0, 0]), result.scale, *np.asarray(result.fe_params)]
    return (result if result.converged and np.isfinite(numbers).all() else None), said


def _mixed_model(data: Regression, result: Any, said: list[str]) -> MixedModel:
    group, residual = float(np.asarray(result.cov_re)[0, 0]), float(result.scale)
    singular = group <= _BOUNDARY * residual
    count = len(data.names)
    bounds, p_values = np.asarray(result.conf_int())[:count], np.asarray(result.pvalues)[:count]
    coefficients = np.asarray(result.fe_params)
    effects = {
        name: Effect(coef_pp=coefficients[i], ci95=(bounds[i, 0], bounds[i, 1]), p=p_values[i])
        for i, name in enumerate(data.names)
    }
    notes = [f"statsmodels: {message}" for message in said]
    if singular:
        notes.insert(0, "the fit is singular: models on data sets have no variance of their own beside the residual")
    fit = Fit(
        cells=data.outcome.size,
        groups=np.unique(data.groups).size,
        models=np.unique(data.models).size,
        converged=True,
        singular=singular,
        notes=notes,
    )
    return MixedModel(effects, group, residual, fit)


def clustered_effects(table: CellTable, baseline: Mapping[str, str]) -> dict[str, Effect]:
    """Returns each level's mean effect over models, with a t interval whose units are the models.

    For each model, least squares of accuracy on the factors within data sets; then mean and t interval (models - 1
    degrees of freedom) of the models' coefficients, every model counting once. In a complete table the mean is the
    mixed model's coefficient. A model in whose cells a level or its baseline is missing leaves this level's mean.

    Source: summary measures per cluster (Donner & Klar 2000, ch. 6; Ibragimov & Mueller 2010 for few clusters).

    Raises:
        AnalysisError: There are fewer than two models.
    """
    data = regression_of(table, baseline)
    if np.unique(data.models).size < 2:
        raise AnalysisError("an interval over models needs two models or more")
    by_model = np.stack([_own_effects(data, model) for model in np.unique(data.models)])
    found = {name: _mean_effect(by_model[:, place]) for place, name in enumerate(data.names) if name != INTERCEPT}
    return {name: effect for name, effect in found.items() if effect is not None}


def _own_effects(data: Regression, model: int) -> Floats:
    """Returns one model's effects; NaN for those that its cells cannot tell."""
    mine = data.models == model
    values = _within(np.column_stack([data.outcome, data.design[:, 1:]])[mine], data.groups[mine])
    outcome, design = values[:, 0], values[:, 1:]
    inverse = np.linalg.pinv(design, rcond=1e-10)
    told = np.isclose(np.diag(inverse @ design), 1.0, atol=1e-8)
    return np.concatenate([[np.nan], np.where(told, inverse @ outcome, np.nan)])


def _mean_effect(effects: Floats) -> Effect | None:
    there = effects[~np.isnan(effects)]
    if not there.size:
        return None
    mean, count = float(there.mean()), there.size
    error = float(there.std(ddof=1)) / np.sqrt(count) if count > 1 else 0.0
    if error <= 1e-12:
        return Effect(coef_pp=mean, ci95=None, p=None)
    half = float(student.ppf(0.975, count - 1)) * error
    p_value = 2 * float(student.sf(abs(mean) / error, count - 1))
    return Effect(coef_pp=mean, ci95=(mean - half, mean + half), p=p_value)


def leave_one_model_out(table: CellTable, baseline: Mapping[str, str]) -> dict[str, dict[str, Effect]]:
    """Returns, for every model, the mixed model's effects without it.

    Raises:
        AnalysisError: Fewer than three models, or one of the fits was not found.
    """
    if len(table.models) < 3:
        raise AnalysisError("leaving one model out needs three models or more")
    return {name: mixed_model(without_models(table, [name]), baseline).effects for name in table.models}


def without_models(table: CellTable, names: list[str]) -> CellTable:
    """Returns the table without the cells of some models."""
    keep = np.array([name not in names for name in table.models])
    return table.only(np.broadcast_to(keep[None, :, None], table.accuracy.shape))


def without_zero_coverage(table: CellTable) -> CellTable:
    """Returns the table without cells in which no reply was an ID: there, accuracy tells nothing of the answer.

    Raises:
        AnalysisError: The table has no coverage, or no cell of zero coverage.
    """
    if table.coverage is None:
        raise AnalysisError(f"{table.source} has no column for coverage")
    zero = table.coverage == 0
    if not (zero & table.present).any():
        raise AnalysisError("no cell has zero coverage: the mixed model stands as it is")
    return table.only(~zero)


def zero_coverage_models(table: CellTable) -> list[str]:
    """Returns the models that have a cell of zero coverage."""
    if table.coverage is None:
        return []
    zero = ((table.coverage == 0) & table.present).any(axis=(0, 2))
    return [name for name, has in zip(table.models, zero, strict=True) if has]
