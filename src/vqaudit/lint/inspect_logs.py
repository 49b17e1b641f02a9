"""Inspect logs, `.eval` archives and JSON: the solvers, the scorer, and the prompts of the first samples.

Knows the log's keys. Inspect generates always, so the question is whether the reply has room and is read as asked.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.lint.description import Description, Limit, Text
from vqaudit.lint.finding import Place
from vqaudit.lint.prompts import prompt_texts
from vqaudit.lint.shapes import as_list, as_mapping, as_tokens

__all__ = ["describe_inspect", "is_inspect", "read_archive"]

_SAMPLES = 20
_LARGEST = 64 * 2**20
_REASONING_SOLVERS = ("chain_of_thought",)
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, OSError)
"""What `zipfile` raises on archives that are damaged, encrypted or packed in a way that it lacks (RuntimeError)."""
_ATTACHMENT = "attachment://"


def is_inspect(data: object) -> bool:
    """Returns whether a JSON object is such a log."""
    return isinstance(data, Mapping) and isinstance(data.get("eval"), Mapping) and "plan" in data


def read_archive(path: Path) -> dict[str, Any]:
    """Returns an archive's header with its first samples in place.

    Raises:
        DatasetError: It is no such archive, or a part of it cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = {info.filename: info for info in archive.infolist()}
            header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
            if header is None:
                raise DatasetError("it holds no header.json, so it is no Inspect log", file=path)
            log = json.loads(_entry(archive, names[header], path))
            samples = sorted(name for name in names if name.startswith("samples/"))[:_SAMPLES]
            log["samples"] = [json.loads(_entry(archive, names[name], path)) for name in samples]
            return log
    except (*_BROKEN_ZIP, ValueError, RecursionError) as error:
        raise DatasetError(f"it is no readable Inspect archive ({error})", file=path) from error


def _entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> bytes:
    if info.file_size > _LARGEST:
        raise DatasetError(f"{info.filename} in it is larger than {_LARGEST >> 20} MiB", file=path)
    return archive.read(info)


def describe_inspect(log: Mapping[str, Any], path: Path) -> Iterator[Description]:
    """Yields a description of each of the first samples; of a log without samples, one of its plan."""
    name = str(log["eval"].get("task") or path.stem)
    rows = [sample for sample in as_list(log.get("samples"))[:_SAMPLES] if isinstance(sample, Mapping)]
    common = Description(
        name=name,
        place=Place(file=str(path), key="plan"),
        event="generation",
        limit=_limit(log, path),
        stops=tuple(str(stop) for stop in as_list(_setting(log, "stop_seqs"))),
        stops_place=Place(file=str(path), key="plan.config.stop_seqs"),
        whole_string=_whole_string(log, path),
    )
    for number, sample in enumerate(rows, start=1):
        place = Place(file=str(path), key=f"sample {sample.get('id', number)}")
        yield replace(common, place=place, texts=_texts(sample, place))
    if not rows:
        yield replace(common, texts=_planned(log, path))


def _texts(sample: Mapping[str, Any], place: Place) -> tuple[Text, ...]:
    messages = sample.get("messages") or sample.get("input")
    if isinstance(messages, str):
        return prompt_texts(messages, place)
    attached = as_mapping(sample.get("attachments"))
    asked = []
    for message in as_list(messages):
        if not isinstance(message, Mapping) or (message.get("role") == "assistant" and asked):
            break
        asked.append({**message, "content": _resolved(message.get("content"), attached)})
    return prompt_texts(asked, place) if asked else ()


def _resolved(content: object, attached: Mapping[str, Any]) -> object:
    if isinstance(content, str) and content.startswith(_ATTACHMENT):
        return attached.get(content.removeprefix(_ATTACHMENT), "")
    if isinstance(content, list):
        return [{**part, "text": _resolved(part.get("text"), attached)} for part in content if isinstance(part, dict)]
    return content


def _steps(log: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [as_mapping(step) for step in as_list(as_mapping(log.get("plan")).get("steps"))]


def _planned(log: Mapping[str, Any], path: Path) -> tuple[Text, ...]:
    """The solvers' own words, where no sample shows the prompt."""
    texts = []
    for index, step in enumerate(_steps(log)):
        place = Place(file=str(path), key=f"plan.steps.{index}")
        params = as_mapping(step.get("params"))
        template = params.get("template")
        if isinstance(template, str):
            part = "system" if step.get("solver") == "system_message" else "instruction"
            texts.append(Text(words=template, part=part, place=place))
        elif step.get("solver") in _REASONING_SOLVERS or params.get("cot") is True:
            texts.append(Text(words="Think step by step.", part="instruction", place=place))
    return tuple(texts)


def _limit(log: Mapping[str, Any], path: Path) -> Limit | None:
    tokens = as_tokens(_setting(log, "max_tokens"))
    return None if tokens is None else Limit(tokens=tokens, place=Place(file=str(path), key="plan.config.max_tokens"))


def _setting(log: Mapping[str, Any], key: str) -> Any:
    """A generation setting: a solver's own, the plan's, or the model's."""
    plan = as_mapping(log.get("plan"))
    own = [step.get("params") for step in _steps(log)]
    for settings in (*own, plan.get("config"), log["eval"].get("model_generate_config")):
        if (found := as_mapping(settings).get(key)) is not None:
            return found
    return None


def _whole_string(log: Mapping[str, Any], path: Path) -> Place | None:
    for index, each in enumerate(as_list(log["eval"].get("scorers"))):
        scorer = as_mapping(each)
        where = as_mapping(scorer.get("options")).get("location")
        if scorer.get("name") == "exact" or (scorer.get("name") == "match" and where == "exact"):
            return Place(file=str(path), key=f"eval.scorers.{index}")
    return None
