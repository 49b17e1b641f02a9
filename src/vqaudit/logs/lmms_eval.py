"""lmms-eval: sample logs `<time>_samples_<task>.jsonl`, and the older `<task>.json` with its samples under `logs`.

Knows that harness's fields. It drops the data set, so that the options are read from the prompt; rows are told apart
by `doc_id`, since all rows of a log can share one `doc_hash`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vqaudit.logs.answers import list_options, reading_of, right_position, text_of, unmatched, verdict
from vqaudit.logs.beside import results_beside
from vqaudit.logs.files import LogFile, Record
from vqaudit.logs.prompts import find_options
from vqaudit.logs.reader import NO_OPTIONS, Reader, read_rows
from vqaudit.logs.rows import Log, LogRow, LogSpec

__all__ = ["LMMS_EVAL"]

_OWN = frozenset({"doc_id", "target", "filtered_resps", "resps", "doc_hash", "input", "doc", "arguments", "filter"})
_PARSED = ("parsed_pred", "prediction", "pred", "pred_answer")
_CATEGORY = ("category", "subdomain", "sub_category", "subject")
_TASK = re.compile(r"(?:\d{8}_\d{6}_)?samples_(?P<task>.+)$")


def _recognises(file: LogFile) -> bool:
    return _is_older(file) or (
        {"doc_id", "input", "filtered_resps"} <= file.columns and "arguments" not in file.columns
    )


def _is_older(file: LogFile) -> bool:
    logs = file.document.get("logs")
    return isinstance(logs, list) and bool(logs) and isinstance(logs[0], Mapping) and "filtered_resps" in logs[0]


def _read(file: LogFile, spec: LogSpec) -> Log:
    older = [Record(place, entry) for place, entry in enumerate(file.document.get("logs") or (), 1)]
    parsed = read_rows(file, older or file.records, _row, spec)
    results = results_beside(file.path)
    task = _TASK.match(file.path.stem)
    return Log(
        format="lmms-eval",
        rows=parsed.rows,
        left_out=parsed.left_out,
        model=results.get("model_name"),
        dataset=task["task"] if task else file.path.stem if older else None,
        settings=results,
    )


def _row(record: Record, spec: LogSpec) -> LogRow | str:
    cells = record.cells
    prompt = text_of(cells["input"] if "input" in cells else _first(cells["arguments"])) or ""
    shown = find_options(prompt)
    if shown is None:
        return NO_OPTIONS
    metric = _metric(cells)
    target = _target(cells, metric)
    reply = _first(cells.get("resps") or cells["filtered_resps"])
    parsed = next((metric[name] for name in _PARSED if name in metric), _first(cells["filtered_resps"]))
    return LogRow(
        row=record.number,
        item=str(cells["doc_id"]),
        question=shown.question,
        options=shown.options,
        option_ids=shown.option_ids,
        answer=(place := right_position(target, options=shown.options, option_ids=shown.option_ids)),
        target=unmatched(target, place),
        reply=None if reply is None else str(reply),
        prompt=prompt,
        category=next((text for name in _CATEGORY if (text := text_of(metric.get(name)))), None),
        logged_reading=reading_of(parsed, shown.option_ids),
        logged_right=_verdict(cells, metric),
    )


def _metric(cells: Mapping[str, Any]) -> Mapping[str, Any]:
    """Gives the metric that is an object, as MMMU's and V*Bench's are; empty where all are numbers."""
    return next((value for name, value in cells.items() if name not in _OWN and isinstance(value, Mapping)), {})


def _target(cells: Mapping[str, Any], metric: Mapping[str, Any]) -> Any:
    target = cells.get("target")
    listed = list_options(target) if isinstance(target, str) and target.startswith("[") else ()
    return listed[0] if len(listed) == 1 else target if text_of(target) else metric.get("answer")


def _verdict(cells: Mapping[str, Any], metric: Mapping[str, Any]) -> bool | None:
    values = [metric.get("score"), *(value for name, value in cells.items() if name not in _OWN)]
    return next((found for value in values if (found := verdict(value)) is not None), None)


def _first(value: Any) -> Any:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return None if value in ([], ()) else value


LMMS_EVAL = Reader("lmms-eval", "lmms-eval", _recognises, _read)
