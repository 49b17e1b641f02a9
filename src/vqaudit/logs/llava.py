"""LLaVA's own evaluation: answers JSONL (MMBench and others) and the ScienceQA output.

Knows these files' fields. The answers JSONL holds no right answers: `--items` brings them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.logs.answers import list_options, reading_of, right_position, text_of, unmatched
from vqaudit.logs.copies import grouped_by_index
from vqaudit.logs.files import LogFile, Record
from vqaudit.logs.prompts import find_options
from vqaudit.logs.reader import NO_OPTIONS, Reader, read_rows
from vqaudit.logs.rows import Log, LogRow, LogSpec

__all__ = ["LLAVA", "LLAVA_SCIENCEQA"]


def _is_answers(file: LogFile) -> bool:
    return {"question_id", "prompt", "text"} <= file.columns


def _read_answers(file: LogFile, spec: LogSpec) -> Log:
    parsed = read_rows(file, file.records, _answer_row, spec)
    models = {str(record.cells["model_id"]) for record in file.records if record.cells.get("model_id")}
    if len(models) > 1:
        raise DatasetError(f"holds the answers of {len(models)} models: {', '.join(sorted(models))}", file=file.path)
    return Log(
        format="llava",
        rows=grouped_by_index(parsed.rows),
        left_out=parsed.left_out,
        model=next(iter(models), None),
        notes=() if spec.items else ("answers files of LLaVA hold no right answers; --items brings them",),
    )


def _answer_row(record: Record, spec: LogSpec) -> LogRow | str:
    cells = record.cells
    prompt = text_of(cells["prompt"]) or ""
    shown = find_options(prompt)
    options = list_options(cells.get("options")) or (shown.options if shown else ())
    if len(options) < 2:
        return NO_OPTIONS
    ids = tuple(str(char) for char in cells.get("option_char") or (shown.option_ids if shown else ()))
    return LogRow(
        row=record.number,
        item=text_of(cells["question_id"]) or f"row {record.number}",
        question=shown.question if shown else prompt,
        options=options,
        option_ids=ids,
        reply=text_of(cells["text"]),
        prompt=prompt,
    )


def _is_scienceqa(file: LogFile) -> bool:
    return isinstance(file.document.get("correct"), list) and isinstance(file.document.get("incorrect"), list)


def _read_scienceqa(file: LogFile, spec: LogSpec) -> Log:
    entries = [(entry, True) for entry in file.document["correct"]]
    entries += [(entry, False) for entry in file.document["incorrect"]]
    records = [Record(place, {"entry": entry, "right": right}) for place, (entry, right) in enumerate(entries, 1)]
    parsed = read_rows(file, records, _scienceqa_row, spec)
    return Log(
        format="llava-scienceqa",
        rows=parsed.rows,
        left_out=parsed.left_out,
        dataset="ScienceQA",
        notes=("rows are counted through the right ones first, then the wrong ones, as the file has them",),
    )


def _scienceqa_row(record: Record, spec: LogSpec) -> LogRow | str:
    entry: Mapping[str, Any] = record.cells["entry"]
    shown = find_options(entry["question"])
    if shown is None:
        return NO_OPTIONS
    pictured = bool(entry.get("is_multimodal"))
    return LogRow(
        row=record.number,
        item=str(entry["question_id"]),
        question=shown.question,
        options=shown.options,
        option_ids=shown.option_ids,
        answer=(place := right_position(entry["ground_truth"], options=shown.options, option_ids=shown.option_ids)),
        target=unmatched(entry["ground_truth"], place),
        reply=text_of(entry["pred"]),
        prompt=entry["question"],
        category="with picture" if pictured else "without picture",
        pictures=(None,) if pictured else (),
        logged_reading=reading_of(entry.get("parsed_ans"), shown.option_ids),
        logged_right=bool(record.cells["right"]),
    )


LLAVA = Reader("llava", "LLaVA answers", _is_answers, _read_answers)
LLAVA_SCIENCEQA = Reader("llava-scienceqa", "LLaVA ScienceQA output", _is_scienceqa, _read_scienceqa)
