"""Inspect: logs of `multiple_choice` tasks as `.eval` (a zip) or `.json`.

Knows that framework's samples. A score's value `C` means correct, not the option C. Pictures of a log are counted,
and hashed where they lie in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.logs.answers import reading_of, right_position, text_of, unmatched, verdict
from vqaudit.logs.files import LogFile, Record
from vqaudit.logs.pictures import picture_hash
from vqaudit.logs.prompts import find_options
from vqaudit.logs.reader import NO_OPTIONS, Reader, read_rows
from vqaudit.logs.rows import LETTERS, Log, LogRow, LogSpec

__all__ = ["INSPECT"]

_ATTACHMENT = "attachment://"
_SCORERS = ("choice", "answer", "match", "includes", "accuracy")


def _recognises(file: LogFile) -> bool:
    return file.kind == "eval" or ("eval" in file.document and ("samples" in file.document or "plan" in file.document))


def _read(file: LogFile, spec: LogSpec) -> Log:
    header = file.document
    task = header.get("eval")
    task = task if isinstance(task, Mapping) else {}
    records = file.records or [Record(place, entry) for place, entry in enumerate(header.get("samples") or (), 1)]
    if not records:
        raise DatasetError("holds no samples: it was written without them, or is a header alone", file=file.path)
    parsed = read_rows(file, records, _row, spec)
    status = str(header.get("status", "started"))
    cut = (f"the log's status is {status}: samples can be missing",) if status != "success" else ()
    data = task.get("dataset")
    return Log(
        format="inspect",
        rows=parsed.rows,
        left_out=parsed.left_out,
        model=text_of(task.get("model")),
        dataset=text_of(data.get("name")) if isinstance(data, Mapping) else None,
        notes=cut,
        settings={name: task[name] for name in ("task", "created", "model_args", "packages", "config") if name in task},
    )


def _row(record: Record, spec: LogSpec) -> LogRow | str:
    sample = record.cells
    message = _first_message(sample)
    prompt, pictures = _content(message, sample)
    shown = find_options(prompt)
    stored = [text_of(choice) or "" for choice in sample.get("choices") or ()]
    options = tuple(stored) or (shown.options if shown else ())
    if len(options) < 2:
        return NO_OPTIONS
    ids = shown.option_ids if shown and len(shown.option_ids) == len(options) else tuple(LETTERS[: len(options)])
    reply, reasoning, stopped = _output(sample)
    score = _score(sample)
    error = sample.get("error")
    return LogRow(
        row=record.number,
        item=str(sample["id"]),
        question=sample["input"] if isinstance(sample.get("input"), str) else (shown.question if shown else None),
        options=options,
        option_ids=ids,
        answer=(place := right_position(sample.get("target"), options=options, option_ids=ids)),
        target=unmatched(sample.get("target"), place),
        reply=reply,
        reasoning=reasoning,
        finish_reason=stopped,
        error=str(error.get("message", error))[:200] if isinstance(error, Mapping) else None,
        prompt=prompt,
        category=text_of((sample.get("metadata") or {}).get("subject")),
        pictures=pictures,
        repeat=int(sample.get("epoch", 1)) - 1,
        logged_reading=reading_of(score["answer"], ids) if "answer" in score else None,
        logged_right=verdict(score.get("value")),
    )


def _first_message(sample: Mapping[str, Any]) -> Any:
    """Gives the user's turn as it was sent; where the log keeps no messages, the sample's input."""
    asked = [message for message in sample.get("messages") or () if message.get("role") == "user"]
    return asked[0].get("content") if asked else sample.get("input")


def _content(content: Any, sample: Mapping[str, Any]) -> tuple[str, tuple[str | None, ...]]:
    texts: list[str] = []
    pictures: list[str | None] = []
    for part in _parts(content):
        if part.get("type") == "image":
            pictures.append(picture_hash(_resolved(part.get("image"), sample)))
        elif part.get("type", "text") == "text":
            texts.append(str(_resolved(part.get("text", ""), sample)))
    return "\n".join(texts), tuple(pictures)


def _parts(content: Any) -> Iterator[Mapping[str, Any]]:
    """Gives the parts of a text, of a list of parts, or of a list of messages."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and "role" in part:
            yield from _parts(part.get("content"))
        elif isinstance(part, Mapping):
            yield part


def _resolved(text: Any, sample: Mapping[str, Any]) -> Any:
    if isinstance(text, str) and text.startswith(_ATTACHMENT):
        return (sample.get("attachments") or {}).get(text.removeprefix(_ATTACHMENT), text)
    return text


def _output(sample: Mapping[str, Any]) -> tuple[str | None, str | None, str | None]:
    """Gives (reply, reasoning, why it stopped)."""
    output = sample.get("output") or {}
    choices = output.get("choices") or ()
    if not choices:
        return text_of(output.get("completion")), None, None
    content = (choices[0].get("message") or {}).get("content")
    parts = list(_parts(content))
    text = "\n".join(str(_resolved(part.get("text", ""), sample)) for part in parts if part.get("type") == "text")
    thought = "\n".join(str(part.get("reasoning", "")) for part in parts if part.get("type") == "reasoning")
    return text, thought or None, text_of(choices[0].get("stop_reason"))


def _score(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """Gives the score that reads an option; where no scorer is known to, the only one."""
    scores = sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else {})
    named = next((scores[name] for name in _SCORERS if name in scores), None)
    found = named if named is not None else next(iter(scores.values())) if len(scores) == 1 else {}
    return found if isinstance(found, Mapping) else {"value": found}


INSPECT = Reader("inspect", "Inspect", _recognises, _read)
