"""Rows whose question is an object with the options inside, as in ARC and its relatives, into plain rows.

Knows the shape `{"question": {"stem": ..., "choices": [...]}, "answerKey": ...}`. Knows no answer's meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vqaudit.items.tables import Table

__all__ = ["flatten_questions"]

_QUESTIONS = ("question", "query", "problem")
_STEMS = ("stem", "text", "question")


def flatten_questions(table: Table) -> Table:
    """Returns the table with every question that is an object taken apart into columns of the row.

    The stem keeps the column's name; the object's other fields become columns, unless the row has one of that name
    already, which stays. A row without such an object is left as it is.

    Example:
        >>> from pathlib import Path
        >>> from vqaudit.items.tables import Row
        >>> asked = {"stem": "What melts?", "choices": [{"text": "ice", "label": "A"}, {"text": "sand", "label": "B"}]}
        >>> row = Row(number=1, cells={"id": "q1", "question": asked, "answerKey": "A"})
        >>> flat = flatten_questions(Table(path=Path("arc.jsonl"), columns=tuple(row.cells), rows=(row,)))
        >>> flat.columns, flat.rows[0].cells["question"]
        (('id', 'question', 'answerKey', 'choices'), 'What melts?')
    """
    return Table.of(table.path, (replace(row, cells=_flat(row.cells)) for row in table.rows))


def _flat(cells: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in cells:
        value = cells[name]
        if name.casefold() not in _QUESTIONS or not isinstance(value, dict):
            continue
        stem = next((key for key in _STEMS if isinstance(value.get(key), str)), None)
        if stem is not None:
            others = {key: field for key, field in value.items() if key != stem and key not in cells}
            return {**cells, name: value[stem], **others}
    return cells
