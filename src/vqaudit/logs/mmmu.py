"""MMMU and MMMU-Pro: outputs with the scorer's verdict (`pred_indexs`, `if_right`), and outputs before scoring.

Knows these files' fields. Open questions are no multiple-choice samples and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vqaudit.logs.answers import list_options, reading_of, right_position, text_of, unmatched, verdict
from vqaudit.logs.files import LogFile, Record
from vqaudit.logs.reader import NO_OPTIONS, Reader, read_rows
from vqaudit.logs.rows import LETTERS, Log, LogRow, LogSpec

__all__ = ["MMMU", "MMMU_PRO"]

_SUBJECT = re.compile(r"(?:dev|validation|test)_(?P<subject>.+)_\d+$")
_PLACE = re.compile(r"<image \d+>")
_FALLBACK = "the official scorer draws a reading by lot where it finds none; its hits include lucky ones"


def _is_pro(file: LogFile) -> bool:
    return {"options", "answer", "response"} <= file.columns and bool({"pred_indexs", "if_right"} & file.columns)


def _is_mmmu(file: LogFile) -> bool:
    return {"id", "answer", "response"} <= file.columns and bool({"index2ans", "all_choices"} & file.columns)


def _read_pro(file: LogFile, spec: LogSpec) -> Log:
    parsed = read_rows(file, file.records, _pro_row, spec)
    return Log(format="mmmu-pro", rows=parsed.rows, left_out=parsed.left_out, dataset="MMMU-Pro", notes=(_FALLBACK,))


def _read_mmmu(file: LogFile, spec: LogSpec) -> Log:
    parsed = read_rows(file, file.records, _mmmu_row, spec)
    return Log(format="mmmu", rows=parsed.rows, left_out=parsed.left_out, dataset="MMMU")


def _reply(cell: Any) -> tuple[str | None, str | None]:
    """Gives (reply, error): outputs have an object in the place of a reply where a request failed."""
    if isinstance(cell, Mapping):
        return None, f"the log has no reply but {str(dict(cell))[:120]}"
    return text_of(cell), None


def _subject(cells: Mapping[str, Any]) -> str | None:
    found = _SUBJECT.match(str(cells.get("id", "")))
    return text_of(cells.get("subject")) or (found["subject"] if found else None)


def _pro_row(record: Record, spec: LogSpec) -> LogRow | str:
    cells = record.cells
    options = list_options(cells["options"])
    if not options:
        return NO_OPTIONS
    ids = tuple(LETTERS[: len(options)])
    reply, error = _reply(cells["response"])
    question = text_of(cells.get("question"))
    places = _PLACE.findall(" ".join([question or "", *options]))
    return LogRow(
        row=record.number,
        item=text_of(cells.get("id")) or f"row {record.number}",
        question=question,
        options=options,
        answer=(place := right_position(cells["answer"], options=options, option_ids=ids)),
        target=unmatched(cells["answer"], place),
        reply=reply,
        error=error,
        category=_subject(cells),
        pictures=(None,) * max(len(set(places)), 1),
        logged_reading=reading_of(cells.get("pred_indexs"), ids),
        logged_right=verdict(cells.get("if_right")),
    )


def _mmmu_row(record: Record, spec: LogSpec) -> LogRow | str:
    cells = record.cells
    texts = cells.get("index2ans")
    if str(cells.get("question_type", "multiple-choice")) != "multiple-choice" or not isinstance(texts, Mapping):
        return "is an open question"
    ids = tuple(str(letter) for letter in cells.get("all_choices") or texts)
    options = tuple(str(texts[letter]) for letter in ids)
    reply, error = _reply(cells["response"])
    return LogRow(
        row=record.number,
        item=str(cells["id"]),
        options=options,
        option_ids=ids,
        answer=(place := right_position(cells["answer"], options=options, option_ids=ids)),
        target=unmatched(cells["answer"], place),
        reply=reply,
        error=error,
        category=_subject(cells),
        logged_reading=reading_of(cells["parsed_pred"], ids) if "parsed_pred" in cells else None,
    )


MMMU_PRO = Reader("mmmu-pro", "MMMU-Pro output", _is_pro, _read_pro)
MMMU = Reader("mmmu", "MMMU output", _is_mmmu, _read_mmmu)
