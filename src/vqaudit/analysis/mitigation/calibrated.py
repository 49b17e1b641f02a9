"""PriDe on a run: a prior from some items or another run, divided out of the scores of the others.

Knows a run's material. The formulas are `pride`'s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.id_scores import id_logprobs
from vqaudit.analysis.intervals import Floats
from vqaudit.analysis.mitigation.applied import Applied, PridePrior, by_item
from vqaudit.analysis.mitigation.material import SCORE_INTERFACE, Calibration, Material, material_of
from vqaudit.analysis.mitigation.pride import debias, id_prior
from vqaudit.errors import AnalysisError

__all__ = ["pride"]


class _Scored(NamedTuple):
    """Trials in the reference format whose scores of all shown IDs are known."""

    trials: pl.DataFrame
    logprobs: Floats
    interface: str


def pride(material: Material, calibration: Calibration) -> Applied:
    """PriDe in the reference format and dataset order, one prior per number of options (paper 1, Eq. 8).

    Items that calibrate leave the mean, so that no item is judged by what it taught.

    Raises:
        AnalysisError: The run kept no scores, or nothing can calibrate.
    """
    scored = _scored(material)
    if calibration.run is None:
        source, names = scored, _calibration_items(scored.trials, calibration)
        left = ~scored.trials["item_code"].is_in(names).to_numpy()
    else:
        source = _other(material, calibration)
        names, left = source.trials["item_code"].unique(), np.ones(scored.trials.height, dtype=bool)
    priors = _priors(source, names)
    if not priors:
        raise AnalysisError("PriDe needs ID scores in all rotations to calibrate on; no item has them")
    asked = left & scored.trials["dataset_order"].fill_null(False).to_numpy()
    asked &= np.isin(scored.trials["n_options"].to_numpy(), list(priors))
    means = _debiased(scored, asked, priors)
    taught = sum(prior.calibration_items * prior.options for prior in priors.values())
    whence = "of another run" if calibration.run is not None else "of its own, which are left out"
    note = f"calibrated on {sum(prior.calibration_items for prior in priors.values())} items {whence}"
    found = by_item(material, means, passes=means.height + taught, interface=scored.interface, note=note)
    return found._replace(priors=tuple(priors.values()))


def _scored(material: Material) -> _Scored:
    for interface in dict.fromkeys((material.main.interface, SCORE_INTERFACE)):
        trials = material.reference(interface)
        if not trials.height:
            continue
        logprobs = id_logprobs(material.tables, trials)
        whole = np.isfinite(logprobs[:, 0])
        if whole.any():
            return _Scored(trials.filter(whole), logprobs[whole], interface)
    raise AnalysisError(
        "PriDe needs scores of the shown IDs in the reference format; this run kept replies only, or none in that "
        f"format: add the interface {SCORE_INTERFACE} under the design reference"
    )


def _other(material: Material, calibration: Calibration) -> _Scored:
    assert calibration.run is not None
    other = material_of(calibration.run)
    here, there = material.tables.manifest, other.tables.manifest
    if here.reference_format != there.reference_format:
        raise AnalysisError(
            f"a prior is of one format: this run's reference is {here.reference_format}, that of the run to calibrate "
            f"on {there.reference_format}"
        )
    if here.model != there.model:
        raise AnalysisError(
            f"a prior is of one model: this run asked {here.model!r}, the run to calibrate on {there.model!r}"
        )
    return _scored(other)


def _complete(trials: pl.DataFrame) -> pl.DataFrame:
    """Items that may be permuted and have scores in all rotations."""
    table = (
        trials.filter("permutable")
        .group_by("item_code")
        .agg(pl.col("cluster_code", "n_options").first(), orders=pl.col("order_code").n_unique())
    )
    return table.filter(pl.col("orders") == pl.col("n_options")).sort("item_code")


def _calibration_items(trials: pl.DataFrame, calibration: Calibration) -> pl.Series:
    """Whole clusters, seeded, until each number of options has its share; one cluster always stays to be judged."""
    table = _complete(trials)
    generator = np.random.default_rng(calibration.seed)
    chosen: set[int] = set()
    for (_,), items in table.group_by("n_options", maintain_order=True):
        clusters = generator.permutation(items["cluster_code"].unique().sort().to_numpy())
        sizes = dict(items.group_by("cluster_code").len().iter_rows())
        wanted, taken = calibration.share * items.height, 0
        for cluster in clusters[:-1]:
            if taken >= wanted:
                break
            taken += sizes[cluster]
            chosen.add(int(cluster))
    return table.filter(pl.col("cluster_code").is_in(list(chosen)))["item_code"]


def _priors(source: _Scored, items: pl.Series) -> dict[int, PridePrior]:
    table = _complete(source.trials).filter(pl.col("item_code").is_in(items))
    codes = source.trials["item_code"].to_numpy()
    found = {}
    for (count,), group in table.group_by("n_options", maintain_order=True):
        options = int(count)  # type: ignore[arg-type]
        rows = np.isin(codes, group["item_code"].to_numpy())
        prior = id_prior(source.logprobs[rows, :options], codes[rows].astype(np.intp))
        found[options] = PridePrior(options=options, calibration_items=group.height, prior=prior.tolist())
    return dict(sorted(found.items()))


def _debiased(scored: _Scored, asked: NDArray[np.bool_], priors: dict[int, PridePrior]) -> pl.DataFrame:
    trials, logprobs = scored.trials.filter(asked), scored.logprobs[asked]
    counts = trials["n_options"].to_numpy()
    chosen = np.full(counts.size, -1, dtype=np.int64)
    for options, prior in priors.items():
        rows = counts == options
        chosen[rows] = debias(logprobs[rows, :options], np.array(prior.prior))
    right = chosen == trials["answer_position"].to_numpy()
    return trials.select("item_code", "cluster_code").with_columns(
        mean=pl.Series(right).cast(pl.Float64), trials=pl.lit(1, dtype=pl.UInt32)
    )
