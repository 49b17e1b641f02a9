"""Per-sample logs of lm-eval and lmms-eval (JSON lines): what was really asked and which event was scored.

Knows their columns. Looks at the first rows of a log; what is found is counted by row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.lint.description import Description, Event, Limit, Scored
from vqaudit.lint.finding import Place
from vqaudit.lint.prompts import prompt_texts, shown_in_prompt
from vqaudit.lint.shapes import as_list, as_mapping, as_tokens

__all__ = ["describe_samples", "is_sample_row"]

ROWS_READ = 200
"""Rows of a log that are looked at: a template shows in any of them."""
_LONGEST = 8 * 2**20
_NAME = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT.*)?$")


def is_sample_row(row: object) -> bool:
    """Returns whether a JSON object is a row of such a log."""
    return isinstance(row, Mapping) and "doc_id" in row and ("resps" in row or "filtered_resps" in row)


def describe_samples(path: Path) -> Iterator[Description]:
    """Yields a description of each of the first rows.

    Raises:
        DatasetError: A row is no JSON object, or no row of such a log; the message names it.
    """
    found = _NAME.search(path.stem)
    name = found.group(1) if found else path.stem
    for number, row in _rows(path):
        if not is_sample_row(row):
            raise DatasetError(
                "it has no doc_id with resps or filtered_resps; lint reads sample logs of lm-eval and lmms-eval",
                file=path,
                row=number,
            )
        yield _described(row, name, Place(file=str(path), key=f"row {number}", line=number))


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number in range(1, ROWS_READ + 1):
                line = lines.readline(_LONGEST + 1)
                if not line:
                    return
                if len(line) > _LONGEST:
                    raise DatasetError("it is longer than 8 MiB, which no sample is", file=path, row=number)
                if line.strip():
                    yield number, json.loads(line)
    except UnicodeDecodeError as error:
        raise DatasetError("it is not UTF-8 text; save it as UTF-8", file=path) from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"a line is no JSON ({error}); the file may be cut", file=path) from error
    except OSError as error:
        raise DatasetError(f"it cannot be read ({error.strerror or error})", file=path) from error


def _described(row: Mapping[str, Any], name: str, place: Place) -> Description:
    calls = _calls(row)
    prompt = calls[0][0] if calls else str(row.get("input") or "")
    second = [call[1] for call in calls]
    event = _event(row, second)
    settings = as_mapping(second[0]) if second else {}
    strings = tuple(choice for choice in second if isinstance(choice, str))
    return Description(
        name=name,
        place=place,
        event=event,
        texts=prompt_texts(prompt, place),
        ids_shown=shown_in_prompt(prompt),
        scored=_scored(strings, place) if event == "option-likelihood" else None,
        limit=_limit(settings, place),
        stops=tuple(str(stop) for stop in as_list(settings.get("until"))),
        stops_place=place,
    )


def _calls(row: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Prompt and second argument of each request of a row, in the shapes of several versions."""
    arguments = row.get("arguments")
    values = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    calls = []
    for each in values if isinstance(values, list) else ():
        parts = list(each.values()) if isinstance(each, Mapping) else each
        if isinstance(parts, list) and parts:
            calls.append((parts[0], parts[1] if len(parts) > 1 else None))
    return calls


def _event(row: Mapping[str, Any], second: list[Any]) -> Event | None:
    if second and all(isinstance(choice, str) for choice in second):
        return "option-likelihood"
    replies = row.get("filtered_resps") or row.get("resps")
    while isinstance(replies, list) and replies and isinstance(replies[0], list):
        if len(replies[0]) == 2 and str(replies[0][1]) in ("True", "False"):
            return "option-likelihood"
        replies = replies[0]
    return "generation" if isinstance(replies, list) and replies and isinstance(replies[0], str) else None


def _scored(strings: tuple[str, ...], place: Place) -> Scored | None:
    if not strings:
        return None
    bare = [string.strip().strip("().:") for string in strings]
    ids = len(bare) > 1 and all(len(each) == 1 for each in bare)
    return Scored(kind="ids" if ids else "texts", place=place, strings=strings)


def _limit(settings: Mapping[str, Any], place: Place) -> Limit | None:
    for key in ("max_gen_toks", "max_new_tokens", "max_tokens"):
        if (tokens := as_tokens(settings.get(key))) is not None:
            return Limit(tokens=tokens, place=place)
    return None
