"""PromptEval (Maia Polo et al. 2024, "Efficient multi-prompt evaluation of LLMs"), written from its paper.

Its X-IRT model with one-hot covariates is a Rasch model: P(right) = logistic(theta_format - beta_item). It is fitted by
ridge-penalised logistic regression to the outcomes seen, and a format's performance is the mean over items of the
outcome where it was seen and of the fitted probability where not; here the mean over formats is the grid accuracy.
One penalty for all stands in the place of the authors', who hardly penalise (docs/peers.md compares).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from design_worlds import FORMATS, Floats, Ints, World, draw_design, outcomes_of_table
from numpy.typing import NDArray
from scipy.special import expit

PENALTY = 0.5
"""Prior precision of items and formats around their means."""
STEPS = 12


def fit(values: Floats, formats: Ints) -> Floats:
    """Returns repeats x formats: the estimated performance of every format.

    Args:
        values: Repeats x items, one outcome each.
        formats: Repeats x items: the format of each.
    """
    repeats, items = values.shape
    cells = (formats + FORMATS * np.arange(repeats)[:, None]).reshape(-1)
    base = np.clip(values.mean(axis=1, keepdims=True), 0.01, 0.99)
    level = np.log(base / (1 - base))
    theta, beta = np.zeros((repeats, FORMATS)), np.zeros((repeats, items))
    rows = np.arange(repeats)[:, None]
    for _ in range(STEPS):
        chance = expit(level + theta[rows, formats] - beta)
        gradient = np.bincount(cells, (values - chance).reshape(-1), repeats * FORMATS).reshape(repeats, FORMATS)
        curvature = np.bincount(cells, (chance * (1 - chance)).reshape(-1), repeats * FORMATS)
        theta += (gradient - PENALTY * theta) / (curvature.reshape(repeats, FORMATS) + PENALTY)
        chance = expit(level + theta[rows, formats] - beta)
        beta -= (values - chance + PENALTY * beta) / (chance * (1 - chance) + PENALTY) * 0.8
        chance = expit(level + theta[rows, formats] - beta)
        level += (values - chance).sum(1, keepdims=True) / np.maximum((chance * (1 - chance)).sum(1, keepdims=True), 1)
    found = np.stack([expit(level + theta[:, [f]] - beta).sum(axis=1) for f in range(FORMATS)], axis=1)
    seen = expit(level + theta[rows, formats] - beta)
    replaced = np.bincount(cells, (values - seen).reshape(-1), repeats * FORMATS).reshape(repeats, FORMATS)
    return (found + replaced) / items


def prompt_eval(
    world: World,
    table: NDArray[np.bool_],
    *,
    repeats: int,
    rng: np.random.Generator,
    score: Callable[[Floats, Floats], tuple[Floats, Floats]],
) -> dict[str, Any]:
    """Returns the row of PromptEval at the cost of one pass, with formats balanced over items as it advises."""
    formats, rotations = draw_design(world.options, draws=1, repeats=repeats, rng=rng)
    cells = [fit(outcomes_of_table(part, formats, rotations)[..., 0], formats[..., 0]) for part in table]
    means = np.stack([part.mean(axis=1) for part in cells], axis=1)
    truth = (table.sum(axis=3) / world.options[:, None]).mean(axis=1)
    spread = [(np.ptp(part, axis=1) - np.ptp(real)) for part, real in zip(cells, truth, strict=True)]
    correlation, count = score(means, world.truth())
    return {
        "design": "PromptEval",
        "draws": 1,
        "passes": 1,
        "repeats": repeats,
        "spearman": float(correlation.mean()),
        "spearman_p5": float(np.quantile(correlation, 0.05)),
        "correctly_ranked": float(count.mean()),
        "mae_pp": float(100 * np.abs(means - truth.mean(axis=1)).mean()),
        "spread_mae_pp": float(100 * np.abs(spread).mean()),
        "interval_coverage": None,
        "half_width_ratio": None,
    }
