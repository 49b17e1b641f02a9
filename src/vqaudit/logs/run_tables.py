"""A log into a run directory: manifest, items, prompt texts and records, null where the log is silent.

Knows rows and the record's columns. Knows no harness and computes no figure.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from vqaudit.errors import RunConflict
from vqaudit.logs.arrange import UNLIKE, Arranged, Placed, Question, arrange
from vqaudit.logs.prompts import format_of
from vqaudit.logs.readings import event_of, reading_columns
from vqaudit.logs.rows import Log, LogRow
from vqaudit.reading import READER_VERSION
from vqaudit.records import (
    ITEM_SCHEMA,
    SEGMENT_SCHEMA,
    Manifest,
    PartWriter,
    segment_hash,
    write_manifest,
    write_table,
)

__all__ = ["Imported", "write_run"]

_PART = 4096
_INTERFACES = {
    "generation": "logged",
    "id-scores": "logged-id-scores",
    "option-likelihood": "logged-likelihoods",
}
"""Event -> name of the interface that imported trials have."""
_CLOZE = "logged-cloze"


class Imported(NamedTuple):
    """What was written."""

    rows: int
    items: int
    left_out: int


def write_run(log: Log, out: str | Path, *, source: str, model: str | None = None) -> Imported:
    """Writes a log as a run directory that `vqaudit summary` and `vqaudit report` read.

    Args:
        log: From `read_log`.
        out: The run directory; it must not hold a run yet.
        source: Name of the log file, without its folder.
        model: Who answered; what the log says where None.

    Raises:
        DatasetError: Two rows have one ID and ask different things.
        RunConflict: There is a run already.
        RecordError: The directory cannot be written.
    """
    path = Path(out)
    if (path / "manifest.json").exists():
        raise RunConflict(f"{path} holds a run already; choose another --out")
    arranged = arrange(log.rows)
    write_table(path / "items.parquet", list(_items(arranged.questions, source)), ITEM_SCHEMA)
    prompts = sorted({row.prompt for row in log.rows if row.prompt is not None})
    segments = [{"segment": segment_hash(text), "text": text} for text in prompts]
    write_table(path / "segments.parquet", segments, SEGMENT_SCHEMA)
    records = [_record(placed) for placed in arranged.trials]
    writer = PartWriter(path, worker="import")
    for start in range(0, len(records), _PART):
        writer.write(records[start : start + _PART])
    failed = sum(record["outcome"] == "failed" for record in records)
    counts = {"planned": len(records), "done": len(records) - failed, "failed": failed}
    write_manifest(path, _manifest(log, arranged, source=source, model=model).model_copy(update={"counts": counts}))
    return Imported(len(records), len(arranged.questions), len(log.left_out))


def _items(questions: Sequence[Question], source: str) -> Iterator[dict[str, Any]]:
    for question in questions:
        base = question.base
        yield {
            "item": question.name,
            "question": base.question,
            "options": list(base.options),
            "answer": base.answer,
            "cluster": question.cluster,
            "category": base.category,
            "hint": base.hint,
            "images": None if base.pictures is None else list(base.pictures),
            # One order in a log does not say that others would not have been admissible.
            "n_orders": question.orders if question.orders > 1 else None,
            "notes": [] if question.note is None else [question.note],
            "source": f"{source}, row {base.row}",
        }


def _record(placed: Placed) -> dict[str, Any]:
    row = placed.row
    return (
        _variant_columns(placed)
        | reading_columns(row, placed.order)
        | {
            "reply": row.reply,
            "reasoning": row.reasoning,
            "finish_reason": row.finish_reason,
            "error": row.error,
            "logged_reading": row.logged_reading,
            "logged_right": row.logged_right,
            "attempt": 0,
            "worker": "import",
        }
        | _score_columns(row)
    )


def _variant_columns(placed: Placed) -> dict[str, Any]:
    row = placed.row
    shown = row.option_ids if row.options_shown else ()
    format = format_of(row.prompt, row.options, shown)
    return {
        "trial": _trial(placed),
        "item": placed.item,
        "id_set": format.id_set,
        "delimiter": format.delimiter,
        "separator": format.separator,
        "order": placed.order,
        "id_order": tuple(range(len(shown))) if shown else None,
        "interface": _interface(row),
        "event": event_of(row),
        "option_ids": shown,
        "segments": None if row.prompt is None else [segment_hash(row.prompt)],
    }


def _trial(placed: Placed) -> str:
    asked = [placed.item, list(placed.order), placed.repeat, placed.row.prompt, _interface(placed.row)]
    return hashlib.sha256(json.dumps(asked, ensure_ascii=True).encode()).hexdigest()[:16]


def _interface(row: LogRow) -> str:
    return _INTERFACES[event_of(row)] if row.options_shown else _CLOZE


def _score_columns(row: LogRow) -> dict[str, Any]:
    if not row.scores:
        return {}
    if row.scores_are_ids:
        scored = zip(row.option_ids, row.scores, strict=True)
        return {"id_scores": [{"option_id": option_id, "logprob": score.logprob} for option_id, score in scored]}
    return {
        "option_scores": [
            {"logprob": score.logprob, "tokens": score.tokens, "characters": score.characters} for score in row.scores
        ]
    }


def _manifest(log: Log, arranged: Arranged, *, source: str, model: str | None) -> Manifest:
    left = Counter(entry.why for entry in log.left_out)
    unlike = sum((question.note or "").startswith(UNLIKE) for question in arranged.questions)
    warnings = [*log.notes, *(f"{count} rows were left out: each {why}" for why, count in left.items())]
    if unlike:
        warnings.append(f"{unlike} rows do not fit their group and stand as items of their own")
    return Manifest(
        vqaudit_version=_version(),
        reader_version=READER_VERSION,
        status="imported",
        model=model or log.model or Path(source).stem,
        engine={"engine": f"log of {log.format}", **log.settings},
        dataset={
            "name": log.dataset,
            "file": source,
            "items": len(arranged.questions),
            "digest": _digest(arranged),
            "warnings": warnings,
            "skipped": [{"row": entry.row, "item": None, "why": entry.why} for entry in log.left_out],
        },
        interfaces={name: _described(rows[0]) for name, rows in _by_interface(log.rows).items()},
        packages={"python": sys.version.split()[0], "vqaudit": _version()},
        command=sys.argv,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _by_interface(rows: Sequence[LogRow]) -> dict[str, list[LogRow]]:
    found: dict[str, list[LogRow]] = {}
    for row in rows:
        found.setdefault(_interface(row), []).append(row)
    return found


def _described(row: LogRow) -> dict[str, Any]:
    return {"event": event_of(row), "options_shown": row.options_shown}


def _digest(arranged: Arranged) -> str:
    content = [(q.name, q.base.question, q.base.options, q.base.answer) for q in arranged.questions]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _version() -> str:
    try:
        return version("vqaudit")
    except PackageNotFoundError:
        return "unknown"
