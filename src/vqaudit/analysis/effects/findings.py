"""What factor levels and the right option's position change, in words and figures: deviations and contrasts.

Knows the models beside it. Fits nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.special import stdtrit

from vqaudit.analysis.effects.coding import POSITION, Coded, Factor, code_trials
from vqaudit.analysis.effects.linear import LinearFit, contrast, deviations, fit_linear, joint_p_value
from vqaudit.analysis.effects.logit import LogitFit, fit_logit, separated_levels
from vqaudit.analysis.estimates import Estimate, PairedEstimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.intervals import Floats
from vqaudit.analysis.linearised import linearised_difference
from vqaudit.analysis.this_dataset import EXACT
from vqaudit.errors import AnalysisError

__all__ = ["Effects", "FactorEffects", "LevelEffect", "LogitCheck", "trial_effects"]


_NOTHING = 1e-9


class LevelEffect(Row):
    """What one level does to accuracy, all other things equal."""

    level: str
    trials: int
    deviation: Figure
    """Accuracy at this level minus the mean over the factor's levels, in [-1, 1] (paper 1, Fig. 4); items like
    these."""
    deviation_this_dataset: Figure
    """The same where only the draw is repeated: exact, without an interval, in a grid."""
    effect: Figure | None
    """Average marginal effect against the baseline, in [-1, 1]; None for the baseline."""
    effect_this_dataset: Figure | None
    logit_effect: Figure | None
    """The average marginal effect by the logit; None for the baseline and where there is no logit."""


class FactorEffects(Row):
    """All levels of a factor."""

    baseline: str
    levels: list[LevelEffect]
    """The baseline first."""
    p_value: float | None
    """Of no difference between any levels (Hotelling's T squared over clusters); None where it cannot be told."""


class LogitCheck(Row):
    """How the logit fared, and how far it is from the linear model."""

    sentence: str
    largest_gap: float | None
    """Largest distance between an effect by either model on the logit's trials, in [0, 1]; None without a logit."""


class Effects(Row):
    """The question-level model of a run."""

    model: str
    """What was fitted, in a sentence."""
    trials: int
    clusters: int
    factors: dict[str, FactorEffects]
    """`id_set`, `delimiter`, `separator`, `answer_position` (and `run` for several): those that vary."""
    logit: LogitCheck


def trial_effects(trials: pl.DataFrame, *, grid: bool, extra: Sequence[str] = ()) -> Effects:
    """Returns the effects of ID set, delimiter, separator and position of the right option on accuracy.

    The main model is linear in probability, so that effects are percentage points; a logit stands beside it. In a
    grid every item is its own control; in a randomised design the draw is what makes levels comparable, among
    items of the same number of options.

    Args:
        trials: Rows of the analysis frame of one interface that did not fail, from a grid or a randomised design.
        grid: Which of the two.
        extra: Further columns that are factors, such as the run; items must be the same for all their levels.

    Raises:
        AnalysisError: No trial tells, nothing varies, or levels never vary apart.
    """
    coded = code_trials(trials, within_items=grid, extra=extra)
    fit = fit_linear(coded)
    logit, gap = _logit(trials, coded, grid, extra)
    factors = {factor.name: _factor(coded, fit, factor, logit, grid) for factor in coded.factors}
    return Effects(
        model=_sentence(coded, grid),
        trials=coded.right.size,
        clusters=int(coded.clusters.max()) + 1,
        factors=factors,
        logit=LogitCheck(sentence=logit.sentence, largest_gap=gap),
    )


def _sentence(coded: Coded, grid: bool) -> str:
    names = " + ".join(factor.name for factor in coded.factors)
    control = "item" if grid else "number of options"
    return f"P(right) ~ {names} + {control}, least squares, items weighing alike, errors clustered by item or group"


def _factor(coded: Coded, fit: LinearFit, factor: Factor, logit: LogitFit, grid: bool) -> FactorEffects:
    width = fit.coefficients.size
    columns = coded.columns(factor)
    rows = []
    for place, (level, combination) in enumerate(zip(factor.levels, deviations(coded, factor), strict=True)):
        against = None
        if place:
            against = np.zeros(width)
            against[columns.start + place - 1] = 1.0
        rows.append(
            LevelEffect(
                level=level,
                trials=int((factor.codes == place).sum()),
                deviation=_items_like_these(coded, fit, combination),
                deviation_this_dataset=_this_dataset(coded, fit, combination, grid),
                effect=None if against is None else _items_like_these(coded, fit, against),
                effect_this_dataset=None if against is None else _this_dataset(coded, fit, against, grid),
                logit_effect=_logit_effect(logit, factor.name, level, coded),
            )
        )
    return FactorEffects(baseline=factor.levels[0], levels=rows, p_value=joint_p_value(coded, fit, factor))


def _items_like_these(coded: Coded, fit: LinearFit, combination: Floats) -> PairedEstimate:
    value, moved = contrast(fit, combination, coded.clusters)
    sizes = np.bincount(coded.clusters, coded.weights, moved.size).astype(np.float64)
    return linearised_difference(_bounded(value), moved, sizes, trials=coded.right.size)


def _this_dataset(coded: Coded, fit: LinearFit, combination: Floats, grid: bool) -> PairedEstimate:
    """In a randomised design trials are independent draws; what items differ in counts as if drawn: conservative."""
    if grid:
        value = float(fit.coefficients @ combination)
        return PairedEstimate(value=_bounded(value), n=0, trials=coded.right.size, reason=EXACT)
    draws = np.arange(coded.right.size)
    value, moved = contrast(fit, combination, draws)
    return linearised_difference(_bounded(value), moved, coded.weights, trials=coded.right.size)


def _bounded(value: float) -> float:
    # a linear model of unbalanced trials can point a little beyond what probabilities allow
    return min(1.0, max(-1.0, value))


def _logit_effect(logit: LogitFit, factor: str, level: str, coded: Coded) -> Estimate | None:
    found = logit.effects.get((factor, level))
    if found is None:
        return None
    value, error = found
    clusters, trials = int(coded.clusters.max()) + 1, coded.right.size
    if error < _NOTHING:
        # few clusters that move a figure alike have no robust variance, and that is no certainty
        return Estimate(value=value, n=clusters, trials=trials, reason="too few items for a robust error of the logit")
    half = float(stdtrit(clusters - 1, 0.975)) * error
    return Estimate(
        value=value,
        low=max(-1.0, value - half),
        high=min(1.0, value + half),
        n=clusters,
        trials=trials,
        standard_error=error,
    )


def _logit(trials: pl.DataFrame, whole: Coded, grid: bool, extra: Sequence[str]) -> tuple[LogitFit, float | None]:
    """Fits the logit without what separates, and the linear model on the same trials to hold it against."""
    words: list[str] = []
    coded = whole
    while apart := separated_levels(coded):
        for factor, level, right in apart:
            name = factor.levels[level]
            words.append(f"{factor.name} {name} is {'always' if right else 'never'} right")
            there = pl.col(factor.name).cast(pl.String) == name
            trials = trials.filter(~((there & pl.col("permutable")) if factor.name == POSITION else there))
        try:
            coded = code_trials(trials, within_items=grid, extra=extra)
        except AnalysisError as error:
            return LogitFit({}, f"{_left_out(words)}{error}: there is no logit"), None
    found = fit_logit(coded)
    same = {name for name, _ in _baselines(coded) & _baselines(whole)}
    effects = {key: value for key, value in found.effects.items() if key[0] in same}
    return LogitFit(effects, _left_out(words) + found.sentence), _largest_gap(coded, found)


def _baselines(coded: Coded) -> set[tuple[str, str]]:
    return {(factor.name, factor.levels[0]) for factor in coded.factors}


def _left_out(words: Sequence[str]) -> str:
    return f"without trials whose logit would be infinite ({', '.join(words)}): " if words else ""


def _largest_gap(coded: Coded, logit: LogitFit) -> float | None:
    if not logit.effects:
        return None
    linear = fit_linear(coded).coefficients
    names = [(factor.name, level) for factor in coded.factors for level in factor.levels[1:]]
    gaps = [abs(value - logit.effects[name][0]) for name, value in zip(names, linear, strict=True)]
    return max(gaps)
