"""The one format that ranks models most like the whole grid does, and how far that choice can be trusted.

Knows the table of cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.cells.accuracy import present_models
from vqaudit.analysis.cells.agreement import spearman
from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.figures import Row
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = ["FormatAgreement", "Recommendation", "recommended_format"]

RESAMPLES = 2000
"""A bound at 2.5 % then rests on 50 resamples."""


class FormatAgreement(Row):
    """How one format ranks models."""

    format: str
    mean_spearman: float
    """With the pseudo-gold ranking; mean over data sets, each counting once."""
    mean_error_pp: float
    """Mean distance of its accuracies from pseudo-gold, in percentage points."""


class Recommendation(Row):
    """The format whose rankings are closest to the pseudo-gold rankings."""

    format: str
    mean_spearman: float
    spearman: dict[str, float]
    """Data set -> correlation with its pseudo-gold ranking."""
    chosen_share: float | None
    """Share of resamples of data sets in which this format is chosen, in [0, 1]; None with one data set."""
    held_out_spearman: float | None
    """Mean over data sets of the correlation that the format chosen on the others has there; None with one."""
    held_out: dict[str, str]
    """Data set -> the format that the others choose."""
    average_spearman: float
    """Mean over all formats: what a format taken at random gets."""
    formats: list[FormatAgreement]
    """All that were compared, best first."""


def recommended_format(table: CellTable, gold: Floats, *, seed: int = 0) -> Recommendation:
    """Returns the format with the highest mean Spearman correlation with the pseudo-gold rankings.

    Equal ones are told apart by how far their accuracies lie from pseudo-gold. A format's own cells are part of
    pseudo-gold, which favours all formats alike. The correlation of a format that was chosen for being highest is too
    good; `held_out_spearman` is not.

    Args:
        table: Cells.
        gold: Data sets x models, from `pseudo_gold`.
        seed: Of the resamples of data sets.

    Raises:
        AnalysisError: No data set has two models with different pseudo-gold, or no format is in all of them.

    Example:
        >>> table = CellTable(
        ...     source="own.csv",
        ...     datasets=("d",),
        ...     models=("m", "n"),
        ...     factors={"delimiter": ("dot", "colon")},
        ...     formats=(("dot",), ("colon",)),
        ...     accuracy=np.array([[[0.5, 0.7], [0.4, 0.9]]]),
        ...     coverage=None,
        ... )
        >>> recommended_format(table, np.array([[0.6, 0.65]])).format
        'colon'
    """
    agreement, errors, kept = _agreements(table, gold)
    formats = [table.format_names[place] for place in np.flatnonzero(~np.isnan(agreement).any(axis=0))]
    usable = ~np.isnan(agreement).any(axis=0)
    agreement, errors = agreement[:, usable], errors[:, usable]
    if not formats:
        raise AnalysisError("no format is there for all models of all data sets and tells them apart")
    datasets = [table.datasets[place] for place in kept]
    ones = np.ones((1, len(datasets)))
    best = int(_choose(ones, agreement, errors)[0])
    held_out = _held_out(agreement, errors)
    return Recommendation(
        format=formats[best],
        mean_spearman=float(agreement[:, best].mean()),
        spearman={name: float(agreement[place, best]) for place, name in enumerate(datasets)},
        chosen_share=_chosen_share(best, agreement, errors, seed),
        held_out_spearman=None if held_out is None else float(agreement[np.arange(len(datasets)), held_out].mean()),
        held_out={} if held_out is None else {d: formats[f] for d, f in zip(datasets, held_out, strict=True)},
        average_spearman=float(agreement.mean()),
        formats=_ordered(formats, agreement, errors),
    )


def _agreements(table: CellTable, gold: Floats) -> tuple[Floats, Floats, list[int]]:
    """Returns data sets x formats of Spearman and of mean error, and the data sets that can be ranked."""
    found, errors, kept = [], [], []
    for dataset in range(len(table.datasets)):
        models = present_models(table, dataset)
        truth = gold[dataset, models]
        if models.size < 2 or np.isnan(truth).any() or np.ptp(np.round(truth, 12)) == 0:
            continue
        accuracy = table.accuracy[dataset][models].T
        there = ~np.isnan(accuracy).any(axis=1)
        rho = np.full(len(table.formats), np.nan)
        rho[there] = spearman(truth, accuracy[there])
        found.append(rho)
        errors.append(100 * np.abs(accuracy - truth).mean(axis=1))
        kept.append(dataset)
    if not kept:
        raise AnalysisError("no data set has two models that pseudo-gold tells apart")
    return np.stack(found), np.stack(errors), kept


def _choose(weights: Floats, agreement: Floats, errors: Floats) -> NDArray[np.intp]:
    """Returns, for each row of weights of data sets, the best format: highest mean, then smallest error."""
    totals = weights.sum(axis=1, keepdims=True)
    mean, error = np.round(weights @ agreement / totals, 9), weights @ errors / totals
    tied = mean == mean.max(axis=1, keepdims=True)
    return np.argmin(np.where(tied, error, np.inf), axis=1)


def _held_out(agreement: Floats, errors: Floats) -> NDArray[np.intp] | None:
    count = agreement.shape[0]
    return None if count < 2 else _choose(1.0 - np.eye(count), agreement, errors)


def _chosen_share(best: int, agreement: Floats, errors: Floats, seed: int) -> float | None:
    count = agreement.shape[0]
    if count < 2:
        return None
    weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    return float((_choose(weights.astype(float), agreement, errors) == best).mean())


def _ordered(formats: list[str], agreement: Floats, errors: Floats) -> list[FormatAgreement]:
    mean, error = agreement.mean(axis=0), errors.mean(axis=0)
    order = np.lexsort((error, -np.round(mean, 9)))
    return [
        FormatAgreement(format=formats[i], mean_spearman=float(mean[i]), mean_error_pp=float(error[i])) for i in order
    ]
