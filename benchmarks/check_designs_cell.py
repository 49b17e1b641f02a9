"""One cell of the designs benchmark by closed form: HR-Bench-4K, independent difficulty, one draw per item.

    python benchmarks/check_designs_cell.py [--cells CSV] [--results benchmarks/results/designs.json]

No outcome is simulated. An item of difficulty z is right in a cell with probability
`Phi((threshold - sqrt(s) z) / sqrt(1 - s))`; the variance of a one-pass mean over fixed items is what remains of the
variance within formats when the variance of the items' own accuracies and of the rotations' means is taken off
(Hoeffding 1951, theorem 2). Errors are then taken as normal: mean |error| = sd * sqrt(2 / pi), and Spearman's
correlation is linear in the ranks, so that its mean follows from P(one model's estimate exceeds another's).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from design_worlds import ITEM_SHARE, Floats, World, make_world, read_cells
from scipy.special import ndtr

NAME = "HR-Bench-4K"


def one_pass_variance(world: World) -> Floats:
    """Returns the variance of each model's one-pass mean when only the draw is repeated."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    found = []
    for thresholds in world.thresholds:
        means = ndtr(thresholds)
        known = ndtr((thresholds[..., None] - np.sqrt(ITEM_SHARE) * nodes) / np.sqrt(1 - ITEM_SHARE))
        own = known.mean(axis=(0, 1))
        # an item's accuracy over its finitely many cells varies by their noise too
        noise = (known * (1 - known)).mean(axis=(0, 1)) @ weights / thresholds.size
        between = own**2 @ weights - (own @ weights) ** 2 + noise
        formats = means.mean(axis=1)
        within_formats = (formats * (1 - formats)).mean()
        found.append((within_formats - between - means.mean(axis=0).var()) / world.items)
    return np.array(found)


def expected_spearman(truth: Floats, variance: Floats) -> float:
    """Returns the mean Spearman correlation of estimates with independent normal errors."""
    size = truth.size
    true_ranks = (truth[None, :] > truth[:, None]).sum(axis=1) + 1.0
    spread = np.sqrt(variance[:, None] + variance[None, :])
    ahead = ndtr((truth[None, :] - truth[:, None]) / spread)
    ranks = 1 + ahead.sum(axis=1) - 0.5
    centre = (size + 1) / 2
    return float(((true_ranks - centre) * (ranks - centre)).sum() / ((true_ranks - centre) ** 2).sum())


def main() -> int:
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cells", type=Path, default=here.parents[1] / "shared" / "papers" / "format_grid.csv")
    parser.add_argument("--results", type=Path, default=here / "results" / "designs.json")
    given = parser.parse_args()
    results = json.loads(given.results.read_text(encoding="utf-8"))
    table, levels = read_cells(given.cells)[0][NAME]
    world = make_world(NAME, table, levels, seed=results["seed"])
    variance = one_pass_variance(world)
    derived = {
        "mae_pp": float(100 * np.sqrt(variance * 2 / np.pi).mean()),
        "spearman": expected_spearman(world.truth(), variance),
    }
    key = (NAME, "randomised", 1, "independent")
    row = next(r for r in results["results"] if (r["dataset"], r["design"], r["draws"], r["difficulty"]) == key)
    limits = {"mae_pp": 0.1, "spearman": 0.01}
    for name, value in derived.items():
        print(f"{name}: closed form {value:.4f}, simulated {row[name]:.4f}, may differ by {limits[name]}")
    return int(any(abs(derived[name] - row[name]) > limit for name, limit in limits.items()))


if __name__ == "__main__":
    raise SystemExit(main())
