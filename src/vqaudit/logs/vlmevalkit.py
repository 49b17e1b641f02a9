"""VLMEvalKit: prediction tables `<model>_<dataset>.xlsx`, also as TSV or CSV; and LLaVA's upload tables for MMBench.

Knows that toolkit's columns: `index`, `question`, `A` ..., `prediction`, and after its evaluation `hit`. Rotated
copies are those numbered by millions (MMBench), named by `g_index`, or told apart by `cycle_category` (HR-Bench).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vqaudit.logs.answers import column_options, is_missing, list_options, right_position, text_of, unmatched, verdict
from vqaudit.logs.copies import grouped_by_index, grouped_by_options
from vqaudit.logs.files import LogFile, Record
from vqaudit.logs.reader import NO_OPTIONS, Reader, read_rows
from vqaudit.logs.rows import LETTERS, Log, LogRow, LogSpec

__all__ = ["VLMEVALKIT"]

_LISTS = ("multi-choice options", "options", "choices")


def _recognises(file: LogFile) -> bool:
    names = {name.lower() for name in file.columns}
    return file.kind != "jsonl" and {"index", "question", "prediction"} <= names


def _read(file: LogFile, spec: LogSpec) -> Log:
    parsed = read_rows(file, file.records, _row, spec)
    cells = {record.number: _lowered(record.cells) for record in file.records}
    if any("cycle_category" in cells[row.row] for row in parsed.rows):
        rows = grouped_by_options(parsed.rows, [text_of(cells[row.row].get("cycle_category")) for row in parsed.rows])
    else:
        rows = grouped_by_index(parsed.rows)
    model, _, dataset = file.path.stem.rpartition("_")
    named = bool(model) and not file.path.stem.startswith("answers_")
    return Log(
        format="vlmevalkit",
        rows=rows,
        left_out=parsed.left_out,
        model=model if named else None,
        dataset=dataset if named else None,
    )


def _lowered(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Lowers all names but the letters of options; the toolkit does so too when it evaluates."""
    return {name if name in LETTERS else name.strip().lower(): cell for name, cell in cells.items() if name}


def _row(record: Record, spec: LogSpec) -> LogRow | str:
    cells = _lowered(record.cells)
    options = column_options(cells) or next((texts for name in _LISTS if (texts := list_options(cells.get(name)))), ())
    if len(options) < 2:
        return NO_OPTIONS
    prediction = cells.get("prediction")
    found = LogRow(
        row=record.number,
        # Tables that passed through floats number the rotated copies 1000241.0.
        item=(text_of(cells["index"]) or f"row {record.number}").removesuffix(".0"),
        question=text_of(cells["question"]),
        options=options,
        answer=(place := right_position(cells.get("answer"), options=options, option_ids=LETTERS[: len(options)])),
        target=unmatched(cells.get("answer"), place),
        reply=None if is_missing(prediction) else str(prediction),
        category=text_of(cells.get("category")),
        hint=text_of(cells.get("hint")),
        logged_right=verdict(cells.get("hit")),
    )
    group = text_of(cells.get("g_index"))
    return found if group is None else replace(found, group=group, rotation=record.number)


VLMEVALKIT = Reader("vlmevalkit", "VLMEvalKit", _recognises, _read)
