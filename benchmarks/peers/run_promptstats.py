"""Runs in promptstats' own environment: `python run_promptstats.py OUT MATERIAL CELLS`.

MATERIAL (npz): `scores` (formats x items, means of the orders), `pairs` (repeats x 2 x items, yes or no). CELLS (CSV):
paper 1's accuracies. Each part is timed on its own.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import promptstats
from clock import Clock
from promptstats.core.resampling import newcombe_paired_ci

RESAMPLES = 10_000
SAMPLES = 2_000
"""Of the posterior of one pair."""
FACTORS = ["option_ids", "delimiter", "separator"]


def ranks(scores: np.ndarray, method: str) -> dict[str, Any]:
    clock = Clock()
    with clock:
        found = promptstats.bootstrap_ranks(
            scores,
            [str(place) for place in range(len(scores))],
            n_bootstrap=RESAMPLES,
            rng=np.random.default_rng(0),
            method=method,
        )
    return {"shares": found.rank_probs.tolist(), "seconds": clock.seconds}


def effects(cells: str) -> dict[str, Any]:
    table = pd.read_csv(cells)
    table["group"] = table["model"] + ":" + table["dataset"]
    clock = Clock()
    with clock, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = promptstats.analyze_factorial(
            table, FACTORS, random_effect="group", score_col="accuracy_pct", ci=0.95, rng=np.random.default_rng(0)
        )
    info = found.factorial_lmm_info
    means = {factor: frame.to_dict("list") for factor, frame in info.marginal_means.items()}
    return {
        "formula": info.formula,
        "means": means,
        "tests": info.factor_tests.to_dict("list"),
        "warnings": sorted({str(each.message)[:200] for each in said}),
        "seconds": clock.seconds,
    }


def intervals(pairs: np.ndarray) -> dict[str, Any]:
    """Bounds of its score interval, which one asks for, and of what `analyze` takes by default below 100 items."""
    clock, usual = Clock(), Clock()
    with clock:
        bounds = [newcombe_paired_ci(a, b, 0.05) for a, b in pairs]
    with usual:
        found = [
            promptstats.pairwise_differences(
                pair, 0, 1, method="bayes_binary", ci=0.95, n_bootstrap=SAMPLES, rng=np.random.default_rng(place)
            )
            for place, pair in enumerate(pairs)
        ]
    return {
        "bounds": bounds,
        "bounds_by_default": [(each.ci_low, each.ci_high) for each in found],
        "seconds": clock.seconds,
        "seconds_by_default": usual.seconds,
    }


def main() -> None:
    out, material, cells = sys.argv[1:]
    with np.load(material) as given:
        scores = given["scores"]
        worlds = {name: given[name] for name in given.files if name != "scores"}
    report = {
        "versions": {name: version(name) for name in ("promptstats", "numpy", "statsmodels")},
        "ranks": ranks(scores, "bootstrap"),
        "ranks_by_default": ranks(scores, "auto"),
        "effects": effects(cells),
        "intervals": {name: intervals(pairs) for name, pairs in worlds.items()},
    }
    Path(out).write_text(json.dumps(report, default=float), encoding="utf-8")


if __name__ == "__main__":
    main()
