"""Several logs of one model into one: the subjects of MMLU, the tasks of one evaluation.

Knows logs. Knows no harness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vqaudit.errors import DatasetError
from vqaudit.logs.rows import Log, LogRow

__all__ = ["merge_logs"]


def merge_logs(logs: Mapping[str, Log]) -> Log:
    """Returns one log; IDs get their log's name in front, and rows without a category get it as theirs.

    Args:
        logs: Name -> log.

    Raises:
        DatasetError: No log, or logs of several models.

    Example:
        >>> part = Log(format="table", rows=(LogRow(row=1, item="7", options=("x", "y")),))
        >>> [row.item for row in merge_logs({"art": part, "law": part}).rows]
        ['art/7', 'law/7']
    """
    if not logs:
        raise DatasetError("no log was named")
    if len(logs) == 1:
        return next(iter(logs.values()))
    models = sorted({log.model for log in logs.values() if log.model is not None})
    if len(models) > 1:
        raise DatasetError(f"the logs are of {len(models)} models ({', '.join(models)}); import them one by one")
    rows = [_named(row, name) for name, log in logs.items() for row in log.rows]
    notes = dict.fromkeys(note for log in logs.values() for note in log.notes)
    return Log(
        format="+".join(dict.fromkeys(log.format for log in logs.values())),
        rows=tuple(rows),
        left_out=tuple(entry for log in logs.values() for entry in log.left_out),
        model=next(iter(models), None),
        dataset=_dataset(list(logs.values())),
        notes=tuple(notes),
        settings=next(iter(logs.values())).settings,
    )


def _named(row: LogRow, name: str) -> LogRow:
    return replace(
        row,
        item=f"{name}/{row.item}",
        group=None if row.group is None else f"{name}/{row.group}",
        cluster=None if row.cluster is None else f"{name}/{row.cluster}",
        category=row.category or name,
    )


def _dataset(logs: Sequence[Log]) -> str | None:
    names = list(dict.fromkeys(log.dataset for log in logs if log.dataset is not None))
    return None if not names else names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
