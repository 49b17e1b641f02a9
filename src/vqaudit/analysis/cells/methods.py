"""Mitigation methods against pseudo-gold: accuracy, ranks, correlation of rankings, models ranked right.

Knows a table of methods and pseudo-gold accuracies. Source: paper 1, Sec. 5.4 and Tab. 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vqaudit.analysis.cells.agreement import (
    average_ranks,
    competition_ranks,
    spearman,
    spearman_of_competition_ranks,
)
from vqaudit.analysis.cells.columns import Layout, find_roles
from vqaudit.analysis.cells.reading import Rows, first_seen, keys_of, measure_of, read_rows
from vqaudit.analysis.cells.scales import named_scale, parse_number
from vqaudit.analysis.figures import Row
from vqaudit.errors import DatasetError

__all__ = ["GOLD_METHOD", "MethodRow", "MethodTable", "method_rows", "read_methods"]

GOLD_METHOD = "pseudo_gold"
"""Rows of this method are printed pseudo-gold: compared with what the cells give, and no method of their own."""
Accuracies = Mapping[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class MethodTable:
    """Accuracies that methods gave, and the ranks that were printed beside them."""

    source: str
    methods: tuple[str, ...]
    accuracy: dict[str, dict[str, dict[str, float]]]
    """Data set -> method -> model -> accuracy in [0, 1]; without those that are missing."""
    printed_rank: dict[str, dict[str, dict[str, int]]]
    """Alike; empty where the file has no such column."""
    notes: tuple[str, ...] = ()


class MethodRow(Row):
    """One method on one data set."""

    accuracy_pct: dict[str, float]
    rank: dict[str, int]
    """Competition ranks: models that tie share the better one."""
    average_rank: dict[str, float]
    """Models that tie share the mean of their ranks."""
    models: int
    """That have both a pseudo-gold accuracy and one by this method."""
    spearman: float | None
    """With the pseudo-gold ranking, average ranks at ties; None where one side ranks nothing."""
    spearman_of_competition_ranks: float | None
    """The same of competition ranks, as paper 1 prints it."""
    correctly_ranked: int
    """Models whose competition rank is the pseudo-gold one."""
    mean_error_pp: float
    """Mean distance of accuracies from pseudo-gold, in percentage points."""


def read_methods(path: str | Path, layout: Layout | None = None) -> MethodTable:
    r"""Reads what methods gave: columns dataset, model, method, accuracy and, where there is one, printed_rank.

    Args:
        path: CSV or TSV file in UTF-8 with a header. An accuracy may be missing where a method does not apply.
        layout: Which column is what and in which scale, where names do not tell.

    Raises:
        DatasetError: As for `read_cells`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "methods.csv")
        ...     _ = file.write_text("dataset,model,method,accuracy_pct\nd,m,vanilla,50\n")
        ...     read_methods(file).accuracy
        {'d': {'vanilla': {'m': 0.5}}}
    """
    file, layout = Path(path), layout or Layout()
    header, rows = read_rows(file)
    declared = Layout(columns={role: name for role, name in layout.columns.items() if name in header})
    wanted = ("dataset", "model", "method", "accuracy", "printed_rank")
    roles = find_roles(header, declared, file=file.name, wanted=wanted)
    for role in wanted[:4]:
        if role not in roles.columns:
            raise DatasetError(f"a table of methods needs a column for the {role}", file=file.name)
    keys = keys_of(rows, [roles.columns[role] for role in wanted[:3]], file=file.name)
    named = named_scale(roles.columns["accuracy"])
    # the scale was declared for two files: it must not contradict the name of a column in the other one
    scale = layout.scale if named in (None, layout.scale) else None
    shares = measure_of(rows, roles.columns["accuracy"], file=file.name, scale=scale)
    accuracy: dict[str, dict[str, dict[str, float]]] = {}
    for (dataset, model, method), share in zip(keys, shares, strict=True):
        if not np.isnan(share):
            accuracy.setdefault(dataset, {}).setdefault(method, {})[model] = share
    return MethodTable(
        source=file.name,
        methods=first_seen(key[2] for key in keys),
        accuracy=accuracy,
        printed_rank=_printed_ranks(rows, keys, roles.columns.get("printed_rank"), file.name),
        notes=() if not roles.unused else (f"columns that are not used: {', '.join(roles.unused)}",),
    )


def _printed_ranks(
    rows: Rows, keys: list[tuple[str, ...]], column: str | None, file: str
) -> dict[str, dict[str, dict[str, int]]]:
    found: dict[str, dict[str, dict[str, int]]] = {}
    if column is None:
        return found
    for row, ((dataset, model, method), fields) in enumerate(zip(keys, rows, strict=True), start=1):
        number = parse_number(fields[column], file=file, row=row, column=column)
        if np.isnan(number):
            continue
        if number < 1 or number != int(number):
            raise DatasetError(f"{fields[column]!r} is no rank; ranks count from 1", file=file, row=row, column=column)
        found.setdefault(dataset, {}).setdefault(method, {})[model] = int(number)
    return found


def method_rows(methods: MethodTable, gold: Mapping[str, Accuracies]) -> dict[str, dict[str, MethodRow]]:
    """Returns, by data set and method, how a method ranks models against pseudo-gold.

    Args:
        methods: Accuracies by method.
        gold: Data set -> model -> pseudo-gold accuracy in [0, 1]; data sets that are not here are left out.

    Example:
        >>> table = MethodTable(
        ...     source="m.csv", methods=("v",), accuracy={"d": {"v": {"m": 0.5, "n": 0.6}}}, printed_rank={}
        ... )
        >>> method_rows(table, {"d": {"m": 0.7, "n": 0.6}})["d"]["v"].correctly_ranked
        0
    """
    found: dict[str, dict[str, MethodRow]] = {}
    for dataset, by_method in methods.accuracy.items():
        if dataset not in gold:
            continue
        rows = {
            name: _row(accuracies, gold[dataset])
            for name, accuracies in by_method.items()
            if name != GOLD_METHOD and not gold[dataset].keys().isdisjoint(accuracies)
        }
        if rows:
            found[dataset] = rows
    return found


def _row(accuracies: Accuracies, gold: Accuracies) -> MethodRow:
    models = [model for model in gold if model in accuracies]
    truth, got = np.array([gold[m] for m in models]), np.array([accuracies[m] for m in models])
    ranks = competition_ranks(got)
    return MethodRow(
        accuracy_pct={model: 100 * accuracies[model] for model in models},
        rank={model: int(rank) for model, rank in zip(models, ranks, strict=True)},
        average_rank={model: float(rank) for model, rank in zip(models, average_ranks(got), strict=True)},
        models=len(models),
        spearman=_known(float(spearman(truth, got))),
        spearman_of_competition_ranks=_known(float(spearman_of_competition_ranks(truth, got))),
        correctly_ranked=int((ranks == competition_ranks(truth)).sum()),
        mean_error_pp=float(100 * np.abs(got - truth).mean()),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
