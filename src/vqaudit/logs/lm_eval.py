"""lm-evaluation-harness: sample logs `samples_<task>_<time>.jsonl`, of `multiple_choice` and `generate_until` tasks.

Knows that harness's fields. One row stands there per (document, filter); the replies of a document's rows are the
same, so that one of them is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.logs.answers import list_options, reading_of, right_position, text_of, unmatched, verdict
from vqaudit.logs.beside import results_beside
from vqaudit.logs.files import LogFile, Record
from vqaudit.logs.prompts import find_options
from vqaudit.logs.reader import NO_OPTIONS, Reader, read_rows
from vqaudit.logs.rows import LETTERS, NOTHING_READ, Log, LogRow, LogSpec, OptionScore

__all__ = ["LM_EVAL"]

_OPTION_FIELDS = ("choices", "options", "endings", "candidates")
_METRICS = ("acc", "exact_match", "em", "accuracy", "score")
_TASK = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d{2}-\d{2}T.*)?$")


def _recognises(file: LogFile) -> bool:
    return {"doc_id", "doc", "arguments", "resps"} <= file.columns


def _read(file: LogFile, spec: LogSpec) -> Log:
    records, filters = _one_filter(file)
    parsed = read_rows(file, records, _row, spec)
    rows = _targets_as_text(parsed.rows, {record.number: record.cells for record in records})
    results = results_beside(file.path)
    task = _TASK.match(file.path.stem)
    notes = [f"the log scores every reply under the filters {', '.join(filters)}; its verdicts are those of the first"]
    return Log(
        format="lm-eval",
        rows=rows,
        left_out=parsed.left_out,
        model=results.get("model_name"),
        dataset=task["task"] if task else None,
        notes=tuple(notes if len(filters) > 1 else ()),
        settings=results,
    )


def _one_filter(file: LogFile) -> tuple[list[Record], list[str]]:
    """Keeps the rows of the filter that the log names first."""
    filters = list(dict.fromkeys(str(record.cells.get("filter", "none")) for record in file.records))
    kept = [record for record in file.records if str(record.cells.get("filter", "none")) == filters[0]]
    seen: set[str] = set()
    for record in kept:
        if "doc_id" not in record.cells:
            raise DatasetError("has no doc_id, unlike the rows before it", file=file.path, row=record.number)
        doc_id = str(record.cells["doc_id"])
        if doc_id in seen:
            raise DatasetError(
                f"document {doc_id!r} stands there twice under one filter; import logs of several tasks one by one",
                file=file.path,
                row=record.number,
            )
        seen.add(doc_id)
    return kept, filters


def _row(record: Record, spec: LogSpec) -> LogRow | str:
    cells = record.cells
    requests = _requests(cells["arguments"])
    doc = cells["doc"] if isinstance(cells["doc"], Mapping) else {}
    if _is_scored(cells["resps"]):
        return _scored_row(record, requests, doc)
    prompt = text_of(requests[0][0]) or ""
    options, ids, question = _options(doc, prompt)
    if not options:
        return NO_OPTIONS
    filtered = cells.get("filtered_resps")
    return LogRow(
        row=record.number,
        item=str(cells["doc_id"]),
        question=question,
        options=options,
        option_ids=ids,
        answer=(place := right_position(cells.get("target"), options=options, option_ids=ids, from_zero=True)),
        target=unmatched(cells.get("target"), place),
        reply=_first_text(cells["resps"]),
        prompt=prompt,
        category=text_of(doc.get("subject") or doc.get("category")),
        logged_reading=reading_of(_first(filtered), ids),
        logged_right=_verdict(cells),
    )


def _scored_row(record: Record, requests: list[Sequence[Any]], doc: Mapping[str, Any]) -> LogRow | str:
    cells = record.cells
    prompt = text_of(requests[0][0]) or ""
    # Tasks with mutual information ask every continuation a second time, without the question.
    kept = [place for place, request in enumerate(requests) if request[0] == requests[0][0]]
    continuations = [str(requests[place][1]).strip() for place in kept]
    scores = [_score(_answers(cells["resps"])[place], continuations[i]) for i, place in enumerate(kept)]
    of_ids = continuations == list(LETTERS[: len(continuations)])
    shown, ids, question = _options(doc, prompt)
    options = (shown if len(shown) == len(continuations) else ()) if of_ids else tuple(continuations)
    if len(options) < 2:
        return NO_OPTIONS
    best = max(range(len(scores)), key=lambda place: scores[place].logprob)
    tied = sum(score.logprob == scores[best].logprob for score in scores) > 1
    listed = ids if len(ids) == len(options) else ()
    found = LogRow(
        row=record.number,
        item=str(cells["doc_id"]),
        question=question,
        options=options,
        option_ids=listed,
        answer=right_position(cells.get("target"), options=options, option_ids=listed or LETTERS, from_zero=True),
        prompt=prompt,
        options_shown=of_ids or all(option in prompt for option in options),
        category=text_of(doc.get("subject") or doc.get("category")),
        scores=tuple(scores),
        scores_are_ids=of_ids,
        logged_right=_verdict(cells),
    )
    return replace(found, logged_reading=NOTHING_READ if tied else found.option_ids[best])


def _targets_as_text(rows: Sequence[LogRow], cells: Mapping[int, Mapping[str, Any]]) -> tuple[LogRow, ...]:
    """Reads digits as texts instead of positions where the log's own verdicts agree with that and not with the other.

    A target `2` is position 2, or the option `2`: the log does not say, but its verdicts do.
    """
    as_text = []
    for row in rows:
        target = cells[row.row].get("target")
        place = right_position(target, options=row.options, option_ids=row.option_ids)
        as_text.append(replace(row, answer=place))
    if any(row.answer is None for row in as_text):
        return tuple(rows)
    return tuple(as_text) if _agreeing(as_text) > _agreeing(rows) else tuple(rows)


def _agreeing(rows: Sequence[LogRow]) -> int:
    return sum(
        (row.logged_reading == row.option_ids[row.answer]) == row.logged_right for row in rows if row.answer is not None
    )


def _requests(arguments: Any) -> list[Sequence[Any]]:
    """Gives (context, continuation or settings) of every request; older logs have lists in the place of objects."""
    if isinstance(arguments, Mapping):
        ordered = sorted(arguments.items(), key=lambda pair: int(pair[0].rpartition("_")[2]))
        return [list(request.values()) for _, request in ordered]
    return [list(request) for request in arguments]


def _answers(resps: Any) -> list[Any]:
    return [answer[0] if isinstance(answer[0], list | tuple) else answer for answer in resps]


def _is_scored(resps: Any) -> bool:
    first = _answers(resps)[0] if isinstance(resps[0], list | tuple) else resps[0]
    return isinstance(first, list | tuple) and len(first) == 2 and str(first[1]) in ("True", "False")


def _score(answer: Sequence[Any], continuation: str) -> OptionScore:
    return OptionScore(logprob=float(answer[0]), characters=len(continuation))


def _first(value: Any) -> Any:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return value


def _first_text(value: Any) -> str | None:
    return None if _first(value) in ([], None) else str(_first(value))


def _verdict(cells: Mapping[str, Any]) -> bool | None:
    named = cells.get("metrics") or ()
    for name in (*(name for name in _METRICS if name in cells), *(name for name in named if name in cells)):
        if (found := verdict(cells[name])) is not None:
            return found
    return None


def _options(doc: Mapping[str, Any], prompt: str) -> tuple[tuple[str, ...], tuple[str, ...], str | None]:
    """Gives the options of the document, else of the prompt; their IDs; the question."""
    shown = find_options(prompt)
    stored = next((texts for name in _OPTION_FIELDS if len(texts := list_options(doc.get(name))) > 1), ())
    question = text_of(doc.get("question")) or (shown.question if shown else None)
    if stored:
        ids = shown.option_ids if shown and len(shown.option_ids) == len(stored) else tuple(LETTERS[: len(stored)])
        return stored, ids, question
    return (shown.options, shown.option_ids, question) if shown else ((), (), question)


LM_EVAL = Reader("lm-eval", "lm-evaluation-harness", _recognises, _read)
