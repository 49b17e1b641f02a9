"""What the data set says, brought to a log that does not hold it: right answers, options, categories.

Knows rows and items. Nothing is taken over that contradicts what the log shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vqaudit.errors import DatasetError
from vqaudit.logs.orders import order_of
from vqaudit.logs.rows import KnownItem, Log, LogRow

__all__ = ["known_items", "with_items"]


def known_items(log: Log) -> dict[str, KnownItem]:
    """Returns what another log of the same data set says of its samples.

    Example:
        >>> log = Log(format="table", rows=(LogRow(row=1, item="7", options=("x", "y"), answer=1),))
        >>> known_items(log)["7"].answer
        1
    """
    return {
        row.item: KnownItem(options=row.options, answer=row.answer, question=row.question, category=row.category)
        for row in log.rows
    }


def with_items(log: Log, items: Mapping[str, KnownItem]) -> Log:
    """Returns the log with right answers, questions and categories filled in from the data set.

    A sample's options must be the data set's, in any order; its own right answer, where it has one, must agree.

    Raises:
        DatasetError: No sample of the log is in the data set, or the two contradict one another.
    """
    if not any(row.item in items for row in log.rows):
        raise DatasetError(
            f"none of the log's {len(log.rows)} IDs (such as {log.rows[0].item!r}) is an ID of the data set (such as "
            f"{next(iter(items), 'none')!r}); name the ID's column of either"
        )
    return replace(log, rows=tuple(_filled(row, items[row.item]) if row.item in items else row for row in log.rows))


def _filled(row: LogRow, known: KnownItem) -> LogRow:
    order = order_of(row.options, known.options)
    if order is None:
        raise DatasetError(f"item {row.item!r} shows other options than the data set has", row=row.row)
    answer = None if known.answer is None else order.index(known.answer)
    if row.answer is not None and answer is not None and row.options[row.answer] != row.options[answer]:
        raise DatasetError(
            f"item {row.item!r} has the right option {row.options[row.answer]!r} in the log, "
            f"{row.options[answer]!r} in the data set",
            row=row.row,
        )
    return replace(
        row,
        answer=answer if row.answer is None else row.answer,
        question=row.question or known.question,
        category=row.category or known.category,
        cluster=row.cluster or known.cluster,
    )
