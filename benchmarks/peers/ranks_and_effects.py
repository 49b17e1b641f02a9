"""promptstats beside vqaudit: bootstrap ranks, paper 1's mixed model, and intervals of paired differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from peers.clock import Clock, ask_peer

import vqaudit
import vqaudit as va
from vqaudit.analysis.cells import paper1_cells
from vqaudit.analysis.cells.effects import mixed_model
from vqaudit.analysis.cells.regression import baseline_of
from vqaudit.analysis.estimates import paired_difference
from vqaudit.analysis.intervals import Floats
from vqaudit.analysis.ranks import bootstrap_ranks
from vqaudit.engines.local import load_local
from vqaudit.items import demo_items, demo_model_path

CELLS = Path(vqaudit.__file__).parent / "paper_data" / "format_grid.csv"
RESAMPLES = 10_000
WORLDS = {"even": (0.15, 0.15), "one is better": (0.2, 0.1), "one is never worse": (0.2, 0.0)}
"""Shares of items that the first answers right and the second does not, and the other way round."""
PAIRED = 60
"""Items of a simulated pair."""
STEP = 6
"""Every so many formats of the 48, in alphabetical order, are ranked."""


def measure(python: str, folder: Path, *, items: int, repeats: int) -> dict[str, Any]:
    """Returns the three comparisons, with the seconds of each side."""
    scores = _scores(folder / "run", items)
    pairs = {name: _pairs(*shares, repeats=repeats, items=PAIRED) for name, shares in WORLDS.items()}
    np.savez(folder / "material.npz", scores=scores, **pairs)
    peer = ask_peer(python, "run_promptstats.py", folder / "peer.json", folder / "material.npz", CELLS)
    return {
        "versions": peer["versions"],
        "ranks": _ranks(scores, peer),
        "effects": _effects(peer["effects"]),
        "intervals": {name: _intervals(pairs[name], WORLDS[name], peer["intervals"][name]) for name in WORLDS},
    }


def _scores(out: Path, items: int) -> Floats:
    """The demo's formats x items: the mean over circular orders of whether the reply was right."""
    engine = load_local(demo_model_path())
    run = va.audit(engine, demo_items(limit=items), out=out, design="grid", interface="direct", progress=False)
    engine.close()
    tables = run.tables()
    trials = tables.trials.join(tables.items.select("item", "answer"), on="item")
    form = pl.concat_str("id_set", "delimiter", "separator", separator="/")
    right = (pl.col("chosen") == pl.col("answer")).fill_null(False)
    means = trials.group_by(form.alias("format"), "item").agg(right.mean().alias("right")).sort("format", "item")
    return means.pivot(on="item", index="format", values="right").sort("format").drop("format").to_numpy()[::STEP]


def _pairs(first: float, second: float, *, repeats: int, items: int) -> NDArray[np.float64]:
    """Repeats x 2 x items; where the two agree, half of the items are right."""
    rng = np.random.default_rng(0)
    drawn = rng.random((repeats, items))
    both = drawn >= first + second
    a = np.where(both, rng.random((repeats, items)) < 0.5, drawn < first)
    b = np.where(both, a, ~a)
    return np.stack([a, b], axis=1).astype(float)


def _ranks(scores: Floats, peer: dict[str, Any]) -> dict[str, Any]:
    clock = Clock()
    with clock:
        ours = bootstrap_ranks(
            scores, clusters=np.arange(scores.shape[1], dtype=np.uint32), seed=0, resamples=RESAMPLES
        )
    theirs, usual = np.array(peer["ranks"]["shares"]), np.array(peer["ranks_by_default"]["shares"])
    return {
        "formats": len(scores),
        "items": scores.shape[1],
        "resamples": RESAMPLES,
        "largest_difference": float(np.abs(ours - theirs).max()),
        "largest_difference_by_default": float(np.abs(ours - usual).max()),
        "best_ours": ours[:, 0].tolist(),
        "best_theirs": theirs[:, 0].tolist(),
        "best_theirs_by_default": usual[:, 0].tolist(),
        "seconds": {
            "peer": peer["ranks"]["seconds"],
            "peer_by_default": peer["ranks_by_default"]["seconds"],
            "vqaudit": clock.seconds,
        },
    }


def _effects(peer: dict[str, Any]) -> dict[str, Any]:
    """Differences of the peer's marginal means beside the coefficients of vqaudit's model of main effects."""
    table = paper1_cells()
    clock = Clock()
    with clock:
        model = mixed_model(table, baseline_of(table))
    rows = {}
    for factor, base in baseline_of(table).items():
        frame = peer["means"][factor]
        level, mean = (next(frame[name] for name in frame if name in names) for names in _COLUMNS)
        means = dict(zip(map(str, level), mean, strict=True))
        for name, value in means.items():
            if name != base:
                mine = model.effects[name]
                rows[name] = {"peer": value - means[base], "vqaudit": mine.coef_pp, "p_vqaudit": mine.p}
    return {
        "formula": peer["formula"],
        "largest_difference_pp": max(abs(row["peer"] - row["vqaudit"]) for row in rows.values()),
        "effects": rows,
        "tests": peer["tests"],
        "warnings": peer["warnings"],
        "seconds": {"peer": peer["seconds"], "vqaudit": clock.seconds},
    }


_COLUMNS = (("level", "Level"), ("mean", "emm", "estimate"))


def _intervals(pairs: Floats, shares: tuple[float, float], peer: dict[str, Any]) -> dict[str, Any]:
    truth = shares[0] - shares[1]
    clock = Clock()
    with clock:
        found = [paired_difference(a, b, clusters=np.arange(a.size, dtype=np.uint32)) for a, b in pairs]
    ours = np.array([(each.low, each.high) for each in found], dtype=float)
    return {
        "repeats": len(pairs),
        "items": pairs.shape[2],
        "truth": truth,
        "vqaudit": _coverage(ours, truth),
        "peer": _coverage(np.array(peer["bounds"]), truth),
        "peer_by_default": _coverage(np.array(peer["bounds_by_default"]), truth),
        "seconds": {
            "peer": peer["seconds"],
            "peer_by_default": peer["seconds_by_default"],
            "vqaudit": clock.seconds,
        },
    }


def _coverage(bounds: Floats, truth: float) -> dict[str, float]:
    inside = (bounds[:, 0] <= truth + 1e-12) & (truth <= bounds[:, 1] + 1e-12)
    return {"coverage": float(inside.mean()), "width": float(np.diff(bounds, axis=1).mean())}
