"""Rows into items and trials: rotated copies become orders of one item, repeated prompts become repetitions.

Knows rows. Knows no harness and no table. Rows of a group that do not show its options, or that name another right
option, become items of their own that the intervals keep together with the group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from vqaudit.errors import DatasetError
from vqaudit.logs.orders import Order, order_of
from vqaudit.logs.rows import LogRow

__all__ = ["UNLIKE", "Arranged", "Placed", "Question", "arrange"]

UNLIKE = "does not fit its group: "
_OTHER_OPTIONS = UNLIKE + "rows of its group show other options"
_OTHER_ANSWER = UNLIKE + "rows of its group name another right option"


class Question(NamedTuple):
    """One item."""

    name: str
    base: LogRow
    """The row that shows the options in the data set's order, or in the order of the first rotation that is there."""
    cluster: str
    orders: int
    """In how many orders the log has it."""
    note: str | None
    """What must be known of it: that the log's right answer is none of its options, or that it left its group."""


class Placed(NamedTuple):
    """One row as a trial."""

    row: LogRow
    item: str
    order: Order
    repeat: int


class Arranged(NamedTuple):
    """Items and trials of a log."""

    questions: tuple[Question, ...]
    trials: tuple[Placed, ...]


def arrange(rows: Sequence[LogRow]) -> Arranged:
    """Returns the items and trials that the rows of a log are.

    Raises:
        DatasetError: Two rows have one ID and ask different things.
    """
    groups: dict[tuple[bool, str], list[LogRow]] = defaultdict(list)
    for row in rows:
        groups[row.group is not None, row.item if row.group is None else row.group].append(row)
    questions: list[Question] = []
    trials: list[Placed] = []
    for (grouped, name), members in groups.items():
        found = _of_group(name, members) if grouped else _of_one(name, members)
        questions += found.questions
        trials += found.trials
    _check_names(questions)
    return Arranged(tuple(questions), tuple(trials))


def _of_one(name: str, rows: Sequence[LogRow]) -> Arranged:
    base = rows[0]
    for row in rows[1:]:
        if (row.question, row.options, row.answer) != (base.question, base.options, base.answer):
            raise DatasetError(
                f"has the ID {name!r} of row {base.row}, but asks something else; a log needs one ID per question "
                "(several logs in one file?)",
                row=row.row,
            )
    natural = tuple(range(len(base.options)))
    trials = _numbered([Placed(row, name, natural, row.repeat) for row in rows])
    return Arranged((Question(name, base, base.cluster or name, 1, _unmatched(base)),), trials)


def _of_group(name: str, rows: Sequence[LogRow]) -> Arranged:
    ordered = sorted(rows, key=lambda row: (row.rotation, row.row))
    base = ordered[0]
    kept: list[Placed] = []
    strangers: list[tuple[LogRow, str]] = []
    for row in ordered:
        order = order_of(row.options, base.options, position=row.answer, answer=base.answer)
        if order is not None:
            kept.append(Placed(row, name, order, row.repeat))
        else:
            same = sorted(row.options) == sorted(base.options)
            strangers.append((row, _OTHER_ANSWER if same else _OTHER_OPTIONS))
    question = Question(name, base, base.cluster or name, len({placed.order for placed in kept}), _unmatched(base))
    questions, trials = [question], list(_numbered(kept))
    for row, note in strangers:
        own = f"{row.item} (row {row.row})"
        questions.append(Question(own, row, base.cluster or name, 1, note))
        trials.append(Placed(row, own, tuple(range(len(row.options))), row.repeat))
    return Arranged(tuple(questions), tuple(trials))


def _unmatched(row: LogRow) -> str | None:
    return None if row.target is None else f"the log's right answer {row.target[:60]!r} is none of the options"


def _numbered(placed: Sequence[Placed]) -> tuple[Placed, ...]:
    """Numbers repetitions anew where the log does not tell them apart."""
    keys = [(p.order, p.repeat) for p in placed]
    if len(set(keys)) == len(keys):
        return tuple(placed)
    seen: dict[Order, int] = defaultdict(int)
    found = []
    for p in placed:
        found.append(p._replace(repeat=seen[p.order]))
        seen[p.order] += 1
    return tuple(found)


def _check_names(questions: Sequence[Question]) -> None:
    seen: dict[str, LogRow] = {}
    for question in questions:
        if question.name in seen:
            raise DatasetError(
                f"the ID {question.name!r} is also the name of the group of row {seen[question.name].row}",
                row=question.base.row,
            )
        seen[question.name] = question.base
