"""What formats do to rankings: ranks by format, leaders, and the two formats that disagree most.

Knows the table of cells. Source: paper 1, Figs. 2 and 3, captions of Tabs. 8 to 12.
"""

from __future__ import annotations

import numpy as np

from vqaudit.analysis.cells.accuracy import common_formats, format_accuracies, present_models
from vqaudit.analysis.cells.agreement import average_ranks, competition_ranks, pearson
from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.figures import Row
from vqaudit.analysis.ranks import format_ranks
from vqaudit.errors import AnalysisError

__all__ = ["Disagreement", "FormatLeader", "Leaders", "leaders", "most_different_formats", "rank_counts", "rank_range"]


class FormatLeader(Row):
    """Who is first in one format."""

    format: str
    leaders: list[str]
    """Several where they tie."""
    gap_pp: float
    """First minus second accuracy, in percentage points; 0 at a tie."""


class Leaders(Row):
    """Who is first on a data set, by format."""

    formats: list[FormatLeader]
    leads: dict[str, int]
    """Model -> formats in which it is first, alone or tied; models that never are do not stand here."""
    gap_range_pp: tuple[float, float]


class Disagreement(Row):
    """The two formats of a data set whose rankings agree least."""

    a: str
    b: str
    spearman: float
    """Between the two rankings, in [-1, 1]."""
    accuracy_pct: dict[str, tuple[float, float]]
    """Model -> accuracy in a and in b."""
    rank: dict[str, tuple[int, int]]
    """Model -> competition rank in a and in b."""


def _several(table: CellTable, dataset: int) -> tuple[list[str], list[str]]:
    """Returns the models and formats that can be ranked, or says why none can."""
    models = [table.models[model] for model in present_models(table, dataset)]
    formats = [name for name, kept in zip(table.format_names, common_formats(table, dataset), strict=True) if kept]
    if len(models) < 2:
        raise AnalysisError(f"{table.datasets[dataset]} has one model: there is nothing to rank")
    if not formats:
        raise AnalysisError(f"the models of {table.datasets[dataset]} have no format in common")
    return models, formats


def rank_counts(table: CellTable, dataset: int) -> dict[str, list[int]]:
    """Returns, by model, in how many formats it has which competition rank (paper 1, Fig. 3).

    Args:
        table: Cells.
        dataset: Its place in the table.

    Raises:
        AnalysisError: One model, or no format that all models have.

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
        >>> rank_counts(table, 0)
        {'m': [1, 1], 'n': [1, 1]}
    """
    models, _ = _several(table, dataset)
    counts = format_ranks(format_accuracies(table, dataset))
    return {name: row.tolist() for name, row in zip(models, counts, strict=True)}


def rank_range(counts: list[int]) -> tuple[int, int]:
    """Returns the best and the worst rank that occurs.

    Example:
        >>> rank_range([0, 3, 0, 1])
        (2, 4)
    """
    held = [rank for rank, count in enumerate(counts, start=1) if count]
    return held[0], held[-1]


def leaders(table: CellTable, dataset: int) -> Leaders:
    """Returns who is first in each format, and by how much (paper 1, captions of Tabs. 8 to 12).

    Raises:
        AnalysisError: One model, or no format that all models have.
    """
    models, formats = _several(table, dataset)
    accuracy = format_accuracies(table, dataset)
    ranks = competition_ranks(accuracy.T)
    ordered = np.sort(accuracy, axis=0)
    gaps = 100 * (ordered[-1] - ordered[-2])
    rows = [
        FormatLeader(
            format=name,
            leaders=[model for model, rank in zip(models, ranks[place], strict=True) if rank == 1],
            gap_pp=float(gaps[place]),
        )
        for place, name in enumerate(formats)
    ]
    counts = {model: sum(model in row.leaders for row in rows) for model in models}
    leads = {model: count for model, count in sorted(counts.items(), key=lambda entry: -entry[1]) if count}
    return Leaders(formats=rows, leads=leads, gap_range_pp=(float(gaps.min()), float(gaps.max())))


def most_different_formats(table: CellTable, dataset: int) -> Disagreement:
    """Returns the two formats whose rankings have the lowest Spearman correlation (the like of paper 1, Fig. 2).

    Where several pairs have the lowest, the one between whose accuracies most percentage points lie.

    Raises:
        AnalysisError: Fewer than two models or two formats in common, or every format ranks all models alike.
    """
    models, formats = _several(table, dataset)
    if len(formats) < 2:
        raise AnalysisError(f"the models of {table.datasets[dataset]} have one format in common: there are no two")
    accuracy = format_accuracies(table, dataset)
    ranks = average_ranks(accuracy.T)
    correlation = pearson(ranks[:, None, :], ranks[None, :, :])
    moved = np.abs(accuracy.T[:, None, :] - accuracy.T[None, :, :]).sum(axis=2)
    first, second = np.triu_indices(len(formats), k=1)
    found = np.round(correlation[first, second], 9)
    if np.isnan(found).all():
        raise AnalysisError(f"all models of {table.datasets[dataset]} tie in every format but one or in all")
    place = np.lexsort((-moved[first, second], np.nan_to_num(found, nan=np.inf)))[0]
    a, b = int(first[place]), int(second[place])
    rank = competition_ranks(accuracy.T[[a, b]])
    return Disagreement(
        a=formats[a],
        b=formats[b],
        spearman=float(found[place]),
        accuracy_pct={name: (100 * accuracy[i, a], 100 * accuracy[i, b]) for i, name in enumerate(models)},
        rank={name: (int(rank[0, i]), int(rank[1, i])) for i, name in enumerate(models)},
    )
