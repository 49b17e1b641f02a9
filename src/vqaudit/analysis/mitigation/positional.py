"""PIA on a run: the position-invariant accuracy of the reference format in all rotations.

Knows a run's material. The formula is `pia`'s.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from vqaudit.analysis.estimates import PairedEstimate
from vqaudit.analysis.grouped import item_means
from vqaudit.analysis.linearised import linearised_difference
from vqaudit.analysis.mitigation.applied import Applied
from vqaudit.analysis.mitigation.material import Material
from vqaudit.analysis.mitigation.pia import PIA, Placed, position_invariant_accuracy
from vqaudit.analysis.mitigation.plain import complete_items
from vqaudit.analysis.selection import position_trials
from vqaudit.errors import AnalysisError

__all__ = ["pia"]


def pia(material: Material) -> Applied:
    """PIA over all rotations in the reference format (paper 1, Tab. 2: N x O passes).

    Raises:
        AnalysisError: Items have different numbers of options (as in the paper, Tab. 7c), or rotations are missing.
    """
    trials = position_trials(complete_items(material)).filter(pl.col("answer_position").is_not_null())
    counts = sorted(trials["n_options"].unique())
    if len(counts) != 1:
        listed = ", ".join(map(str, counts)) or "no"
        raise AnalysisError(f"PIA needs items with one number of options; these have {listed}")
    names, clusters = np.unique(trials["cluster_code"].to_numpy(), return_inverse=True)
    chosen = pl.when(pl.col("answered")).then(pl.col("position")).fill_null(-1).cast(pl.Int64).alias("_chosen")
    placed = Placed(
        answers=trials["answer_position"].cast(pl.Int64).to_numpy(),
        chosen=trials.select(chosen).to_series().to_numpy(),
        clusters=clusters.reshape(-1),
    )
    found = position_invariant_accuracy(placed, int(counts[0]))
    missed = ", ".join(map(str, found.never_chosen))
    return Applied(
        accuracy=found.by_position,
        difference=_difference(material, trials, found, names),
        items=trials["item_code"].n_unique(),
        passes=trials.height,
        interface=material.main.interface,
        note="all rotations" + (f"; never chosen, counted as 0: position {missed}" if missed else ""),
        by_all=found.by_all,
    )


def _difference(material: Material, trials: pl.DataFrame, found: PIA, names: np.ndarray) -> PairedEstimate | None:
    gold = material.gold
    if gold is None or found.by_position.value is None:
        return None
    means = item_means(gold.filter(pl.col("item_code").is_in(trials["item_code"].unique())), "right")
    grid = float(means["mean"].mean())  # type: ignore[arg-type]
    places = np.searchsorted(names, means["cluster_code"].to_numpy())
    sizes = np.bincount(places, minlength=names.size).astype(np.float64)
    moved = np.bincount(places, means["mean"].to_numpy() - grid, names.size) / means.height
    value = found.by_position.value - grid
    return linearised_difference(value, found.influences - moved, sizes, trials=trials.height)
