r"""Interfaces that a person or vqaudit itself states: a small YAML or JSON file, or a run's manifest.

Knows the keys `interfaces`, `ending`, `event` and their companions. A file of one's own reads::

    interfaces:
      my-score:
        system: You are a careful examiner.
        ending: Let me think step by step.
        event: id-scores            # reply, id-scores, forced-token, option-likelihood, generation
        ids_shown: [A, B, C, D]
        scored: [A, B, C, D]        # the strings that are compared or scored
        max_new_tokens: 16
        stop: ["\n\n"]
        reads: "([A-D])"            # the pattern that takes the answer out of a reply
        whole_reply: false          # true where the whole reply must equal the answer
        thinking: false
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from vqaudit.errors import DatasetError
from vqaudit.lint.description import Description, Event, Limit, Part, Reader, Scored, Text
from vqaudit.lint.finding import Place
from vqaudit.lint.shapes import as_mapping, as_tokens

__all__ = ["describe_manifest", "describe_stated", "is_manifest", "is_stated"]

_ORDER: tuple[tuple[str, Part], ...] = (
    ("system", "system"),
    ("instruction", "instruction"),
    ("question", "question"),
    ("ending", "ending"),
    ("prefill", "prefill"),
)


class _Stated(BaseModel):
    model_config = ConfigDict(extra="forbid")

    event: Event
    system: str = ""
    instruction: str = ""
    question: str = ""
    ending: str = ""
    prefill: str = ""
    ids_shown: tuple[str, ...] | None = None
    scored: tuple[str, ...] | None = None
    max_new_tokens: int | None = None
    stop: tuple[str, ...] = ()
    reads: str | None = None
    whole_reply: bool = False
    thinking: bool = False


def is_stated(data: object) -> bool:
    """Returns whether a mapping states interfaces of one's own."""
    return isinstance(data, Mapping) and isinstance(data.get("interfaces"), Mapping) and "schema_version" not in data


def is_manifest(data: object) -> bool:
    """Returns whether a mapping is the manifest of a run of vqaudit."""
    return isinstance(data, Mapping) and "schema_version" in data and isinstance(data.get("interfaces"), Mapping)


def describe_stated(data: Mapping[str, Any], path: Path, place: Callable[..., Place]) -> Iterator[Description]:
    """Yields the interfaces that a file of one's own states.

    Raises:
        DatasetError: A field is unknown or wrong; the message names it.
    """
    for name, fields in data["interfaces"].items():
        try:
            stated = _Stated.model_validate(fields)
        except ValidationError as error:
            first = error.errors()[0]
            column = ".".join(["interfaces", str(name), *map(str, first["loc"])])
            raise DatasetError(f"{first['msg']}; docs/lint.md lists the fields", file=path, column=column) from error
        yield _described(str(name), stated, lambda key, name=name: place("interfaces", str(name), key))


def _described(name: str, stated: _Stated, place: Callable[[str], Place]) -> Description:
    limit = stated.max_new_tokens
    return Description(
        name=name,
        place=place("event"),
        event=stated.event,
        texts=tuple(
            Text(words=getattr(stated, key), part=part, place=place(key))
            for key, part in _ORDER
            if getattr(stated, key)
        ),
        scored=None if stated.scored is None else _scored(stated.scored, place("scored")),
        ids_shown=stated.ids_shown,
        limit=None if limit is None else Limit(tokens=limit, place=place("max_new_tokens")),
        stops=stated.stop,
        stops_place=place("stop"),
        readers=() if stated.reads is None else (Reader(pattern=stated.reads, place=place("reads")),),
        whole_string=place("whole_reply") if stated.whole_reply or stated.event == "reply" else None,
        thinking=place("thinking") if stated.thinking else None,
    )


def _scored(strings: tuple[str, ...], place: Place) -> Scored:
    ids = all(len(string.strip(" ().:")) <= 1 for string in strings)
    return Scored(kind="ids" if ids else "texts", place=place, strings=strings)


def describe_manifest(data: Mapping[str, Any], path: Path) -> Iterator[Description]:
    """Yields the interfaces that a run of vqaudit used."""
    limit = as_tokens(as_mapping(data.get("identity")).get("generation limit"))
    for name, spec in data["interfaces"].items():
        if not isinstance(spec, Mapping):
            continue

        def place(key: str, name: str = name) -> Place:
            return Place(file=str(path), key=f"interfaces.{name}.{key}")

        ending = str(spec.get("ending_text") or "")
        part: Part = "prefill" if spec.get("place") == "assistant" else "ending"
        texts = [Text(words=ending, part=part, place=place("ending_text"))] if ending else []
        if data.get("system"):
            texts.insert(0, Text(words=str(data["system"]), part="system", place=Place(file=str(path), key="system")))
        tokens = limit if spec.get("event") == "generation" else None
        yield Description(
            name=str(name),
            place=place("event"),
            event=spec.get("event"),
            texts=tuple(texts),
            limit=None if tokens is None else Limit(tokens=tokens, place=Place(file=str(path), key="generation limit")),
            whole_string=place("event") if spec.get("event") == "reply" else None,
        )
