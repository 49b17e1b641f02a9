"""How the vocabulary competes with the IDs, layer by layer: mass, rank, probability (paper 2, Eq. 8, by layer).

Knows the lens that was read while the model answered. Fits nothing.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.estimates import Estimate, mean_estimate
from vqaudit.analysis.internals import VocabularyFindings, VocabularyRow
from vqaudit.errors import AnalysisError
from vqaudit.internals.bootstrap import bootstrap_mean
from vqaudit.internals.examples import Examples

__all__ = ["vocabulary_findings"]

Ints = NDArray[np.int64]


def vocabulary_findings(examples: Examples, *, seed: int) -> VocabularyFindings:
    """Returns mass, rank and probability by layer and condition, over all trials of a run.

    Raises:
        AnalysisError: The run kept the last layer alone, or its lens could not be read.
    """
    if examples.store.readout.depth != "all":
        raise AnalysisError("the run kept states of the last layer alone; --keep-states all has the vocabulary too")
    conditions = {name: _rows(examples, name, seed) for name in examples.conditions}
    return VocabularyFindings(trials=len(examples), conditions=conditions)


def _rows(examples: Examples, condition: str, seed: int) -> list[VocabularyRow]:
    lens = examples.store.lens(examples.trials(condition))
    known = lens["lens_id_mass"].is_not_null().to_numpy()
    if not known.any():
        raise AnalysisError(
            f"no trial of {condition} has a vocabulary by layer: an ID takes several tokens, or final norm and output "
            "embedding alone do not give this model's probabilities"
        )
    kept = lens.filter(pl.Series(known))
    clusters, target = examples.clusters[known], examples.target[known]
    return [_row(kept, layer, clusters, target, seed) for layer in examples.layers]


def _row(lens: pl.DataFrame, layer: int, clusters: Ints, target: Ints, seed: int) -> VocabularyRow:
    at_layer = lens.select(
        mass=pl.col("lens_id_mass").list.get(layer),
        watch=pl.col("lens_watch_mass").list.get(layer),
        ranks=pl.col("lens_id_ranks").list.get(layer),
        logprobs=pl.col("lens_id_logprobs").list.get(layer),
    )
    right = pl.Series("right", target)
    ranks = at_layer["ranks"].list.get(right).cast(pl.Float64)
    logprobs = np.array([_probability(row, place) for row, place in zip(at_layer["logprobs"], target, strict=True)])
    watch = at_layer["watch"]
    return VocabularyRow(
        layer=layer,
        id_mass=mean_estimate(at_layer["mass"].clip(0, 1).to_numpy(), clusters=clusters),
        watch_mass=_watched(watch, clusters),
        right_rank=bootstrap_mean(ranks.to_numpy(), clusters=clusters, seed=seed),
        right_probability=mean_estimate(logprobs, clusters=clusters),
    )


def _watched(watch: pl.Series, clusters: Ints) -> Estimate | None:
    if watch.null_count():
        return None
    return mean_estimate(watch.clip(0, 1).to_numpy(), clusters=clusters)


def _probability(logprobs: pl.Series, place: int) -> float:
    """Probability of the right ID among those shown."""
    values = logprobs.to_numpy().astype(float)
    likely = np.exp(values - values.max())
    return float(np.clip(likely[place] / likely.sum(), 0, 1))
