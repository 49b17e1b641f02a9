"""evalscope: per-sample reviews `reviews/<model>/<benchmark>.jsonl`.

Knows that framework's fields. The options stand in the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vqaudit.logs.answers import reading_of, right_position, text_of, unmatched, verdict
from vqaudit.logs.files import LogFile, Record
from vqaudit.logs.pictures import picture_hash
from vqaudit.logs.prompts import find_options
from vqaudit.logs.reader import NO_OPTIONS, Reader, read_rows
from vqaudit.logs.rows import Log, LogRow, LogSpec

__all__ = ["EVALSCOPE"]


def _recognises(file: LogFile) -> bool:
    return {"index", "target", "messages", "sample_score"} <= file.columns


def _read(file: LogFile, spec: LogSpec) -> Log:
    parsed = read_rows(file, file.records, _row, spec)
    return Log(format="evalscope", rows=parsed.rows, left_out=parsed.left_out)


def _row(record: Record, spec: LogSpec) -> LogRow | str:
    cells = record.cells
    asked = [message for message in cells["messages"] if message.get("role") == "user"]
    prompt, pictures = _content(asked[0].get("content") if asked else None)
    shown = find_options(prompt)
    if shown is None:
        return NO_OPTIONS
    scored: Mapping[str, Any] = cells["sample_score"]
    score: Mapping[str, Any] = scored.get("score") or {}
    replies = [message for message in cells["messages"] if message.get("role") == "assistant"]
    reply = score.get("prediction") if not replies else _content(replies[-1].get("content"))[0]
    return LogRow(
        row=record.number,
        item=str(cells["index"]),
        question=shown.question,
        options=shown.options,
        option_ids=shown.option_ids,
        answer=(place := right_position(cells["target"], options=shown.options, option_ids=shown.option_ids)),
        target=unmatched(cells["target"], place),
        reply=text_of(reply),
        prompt=prompt,
        category=text_of((scored.get("sample_metadata") or {}).get("subject")),
        pictures=pictures,
        logged_reading=reading_of(score["extracted_prediction"], shown.option_ids)
        if "extracted_prediction" in score
        else None,
        logged_right=_verdict(score),
    )


def _content(content: Any) -> tuple[str, tuple[str | None, ...]]:
    if isinstance(content, str):
        return content, ()
    parts = [part for part in content or () if isinstance(part, Mapping)]
    texts = [str(part.get("text", "")) for part in parts if part.get("type", "text") == "text"]
    return "\n".join(texts), tuple(picture_hash(part.get("image")) for part in parts if part.get("type") == "image")


def _verdict(score: Mapping[str, Any]) -> bool | None:
    value = score.get("value")
    values = list(value.values()) if isinstance(value, Mapping) else [value]
    return verdict(values[0]) if len(values) == 1 else None


EVALSCOPE = Reader("evalscope", "evalscope reviews", _recognises, _read)
