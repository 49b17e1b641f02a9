"""Results files of lm-eval and lmms-eval (JSON): the tasks as they were run, with what the run added to them.

Knows their keys. A run adds a system instruction, a thinking mode and generation settings that no task file shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vqaudit.lint.description import Description, Limit, Text
from vqaudit.lint.finding import Place
from vqaudit.lint.shapes import as_mapping
from vqaudit.lint.tasks import TaskConfig, describe_task

__all__ = ["describe_results", "is_results"]

_THINKING = re.compile(r"(?:enable_thinking|think_mode|thinking)['\"]?\s*[=:]\s*['\"]?true", re.IGNORECASE)
_TOKENS = re.compile(r"(?:max_gen_toks|max_new_tokens|max_tokens)['\"]?\s*[=:]\s*(\d+)")


def is_results(data: object) -> bool:
    """Returns whether a JSON object is such a file."""
    return isinstance(data, Mapping) and isinstance(data.get("configs"), Mapping) and "results" in data


def describe_results(data: Mapping[str, Any], path: Path) -> Iterator[Description]:
    """Yields the descriptions of every task of a results file."""
    run, fewshot = as_mapping(data.get("config")), as_mapping(data.get("n-shot"))
    for name, config in data["configs"].items():
        if not isinstance(config, Mapping):
            continue
        task = _task(str(name), config, path)
        for found in describe_task(task):
            yield _as_run(found, data, run, path, fewshot.get(name))


def _task(name: str, config: Mapping[str, Any], path: Path) -> TaskConfig:
    def place(*keys: str) -> Place:
        return Place(file=str(path), key=".".join(("configs", name, *keys)))

    lmms = "doc_to_visual" in config or "lmms_eval_specific_kwargs" in config
    settings = config.get("lmms_eval_specific_kwargs")
    if isinstance(settings, Mapping):
        # the run writes the chosen block's keys beside the blocks; what was not chosen was not shown
        chosen = {key: value for key, value in settings.items() if not isinstance(value, Mapping)}
        config = {**config, "lmms_eval_specific_kwargs": chosen or settings}
    return TaskConfig(name=name, values=config, place=place, folder=None, harness="lmms-eval" if lmms else "lm-eval")


def _as_run(
    found: Description, data: Mapping[str, Any], run: Mapping[str, Any], path: Path, shots: object
) -> Description:
    system = data.get("system_instruction") or run.get("system_instruction")
    texts = found.texts
    if isinstance(system, str) and system.strip():
        place = Place(file=str(path), key="system_instruction")
        texts = (Text(words=system, part="system", place=place), *texts)
    thinking = next(
        (Place(file=str(path), key=f"config.{key}") for key in ("model_args", "gen_kwargs") if _thinks(run.get(key))),
        None,
    )
    tokens = _TOKENS.search(str(run.get("gen_kwargs") or ""))
    limit = found.limit
    if tokens and found.event == "generation":
        limit = Limit(tokens=int(tokens.group(1)), place=Place(file=str(path), key="config.gen_kwargs"))
    return replace(found, texts=texts, thinking=thinking, limit=limit, fewshot=found.fewshot or bool(shots))


def _thinks(settings: object) -> bool:
    return _THINKING.search(str(settings or "")) is not None
