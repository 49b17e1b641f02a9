"""Any other log: a table of which the user says which column is what.

Knows the fields below. Knows no harness, and guesses no column that has another name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.logs.answers import (
    column_options,
    is_missing,
    list_options,
    reading_of,
    right_position,
    text_of,
    verdict,
)
from vqaudit.logs.copies import grouped_by_index
from vqaudit.logs.files import LogFile, Record
from vqaudit.logs.prompts import find_options
from vqaudit.logs.reader import NO_OPTIONS, Reader, read_rows
from vqaudit.logs.rows import LETTERS, Log, LogRow, LogSpec
from vqaudit.numerals import whole_number

__all__ = ["FIELDS", "TABLE"]

FIELDS: dict[str, str] = {
    "item": "ID of the sample; the row's number where no column is named",
    "question": "question text",
    "options": "list of option texts (or its JSON or Python text); else one column per option, `A`, `B`, ...; else "
    "they are read from the prompt",
    "option_ids": "list of the IDs as shown; letters otherwise",
    "answer": "right option: its ID, or its text",
    "answer_index": "right option: its position, from 0",
    "reply": "what the model wrote; the one field that every table needs",
    "reasoning": "its thinking, where that is apart from the reply; never read for an answer",
    "finish_reason": "why it stopped: `stop`, `length`, ...",
    "error": "why there is no reply, where the request failed",
    "prompt": "the user's turn",
    "category": "category, for `vqaudit summary --by category`",
    "hint": "what stood before the question",
    "group": "rows of one group are one question with its options in several orders",
    "rotation": "number of the order within the group; the lowest is the data set's",
    "repeat": "number of the repetition of one prompt, from 0",
    "logged_reading": "the option ID that the log's scorer read",
    "logged_right": "its verdict: 1/0, true/false, C/I",
}
"""Field -> what its column holds."""


def _recognises(file: LogFile) -> bool:
    return "reply" in file.columns or _is_keyed(file)


def _is_keyed(file: LogFile) -> bool:
    """True for a JSON object that maps IDs of samples to replies."""
    return bool(file.document) and all(isinstance(value, str | None) for value in file.document.values())


def _read(file: LogFile, spec: LogSpec) -> Log:
    if _is_keyed(file):
        pairs = enumerate(file.document.items(), 1)
        records = tuple(Record(place, {"item": key, "reply": value}) for place, (key, value) in pairs)
        file = replace(file, records=records, document={})
    if unknown := sorted(set(spec.columns) - set(FIELDS)):
        raise DatasetError(f"--map names {', '.join(unknown)}; it knows {', '.join(FIELDS)}", file=file.path)
    if absent := [name for name in spec.columns.values() if name not in file.columns]:
        there = ", ".join(sorted(file.columns))
        raise DatasetError(f"has no such column; it has {there}", file=file.path, column=absent[0])
    if spec.columns.get("reply", "reply") not in file.columns:
        there = ", ".join(sorted(file.columns))
        raise DatasetError(f"has no column `reply`: name it with --map reply=COLUMN; it has {there}", file=file.path)
    parsed = read_rows(file, file.records, _row, spec)
    return Log(format="table", rows=grouped_by_index(parsed.rows), left_out=parsed.left_out)


def _row(record: Record, spec: LogSpec) -> LogRow | str:
    cells = {field: record.cells.get(spec.columns.get(field, field)) for field in FIELDS}
    prompt = text_of(cells["prompt"])
    known = spec.items.get(text_of(cells["item"]) or "")
    options, ids = _options(record.cells, cells, prompt)
    if known is not None and not options:
        options = known.options
    if len(options) < 2:
        return NO_OPTIONS
    shown = ids or tuple(LETTERS[: len(options)])
    reading, group = cells["logged_reading"], text_of(cells["group"])
    found = LogRow(
        row=record.number,
        item=text_of(cells["item"]) or f"row {record.number}",
        question=text_of(cells["question"]),
        options=options,
        option_ids=shown,
        answer=_answer(cells, options, shown),
        reply=None if is_missing(cells["reply"]) else str(cells["reply"]),
        prompt=prompt,
        reasoning=text_of(cells["reasoning"]),
        finish_reason=text_of(cells["finish_reason"]),
        error=text_of(cells["error"]),
        category=text_of(cells["category"]),
        hint=text_of(cells["hint"]),
        repeat=_number(cells["repeat"], "repeat") or 0,
        logged_reading=None if reading is None else reading_of(reading, shown),
        logged_right=verdict(cells["logged_right"]),
    )
    if group is None:
        return found
    rotation = _number(cells["rotation"], "rotation")
    return replace(found, group=group, rotation=record.number if rotation is None else rotation)


def _options(
    row: Mapping[str, Any], cells: Mapping[str, Any], prompt: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    ids = list_options(cells["option_ids"])
    if options := list_options(cells["options"]) or column_options(row):
        return options, ids
    shown = find_options(prompt or "")
    return (shown.options, ids or shown.option_ids) if shown else ((), ())


def _answer(cells: Mapping[str, Any], options: tuple[str, ...], ids: tuple[str, ...]) -> int | None:
    if (place := _number(cells["answer_index"], "answer_index")) is not None:
        return place
    found = right_position(cells["answer"], options=options, option_ids=ids)
    if found is None and not is_missing(cells["answer"]):
        raise DatasetError(f"{text_of(cells['answer'])!r} is neither a shown ID nor one option's text", column="answer")
    return found


def _number(cell: object, column: str) -> int | None:
    text = text_of(cell)
    if text is None:
        return None
    if (number := whole_number(text.strip())) is None:
        raise DatasetError(f"{text!r} is no whole number from 0", column=column)
    return number


TABLE = Reader("table", "plain table", _recognises, _read)
