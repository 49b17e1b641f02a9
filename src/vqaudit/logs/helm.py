"""HELM: `scenario_state.json` of the adapter `multiple_choice_joint`.

Knows that framework's request states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.logs.answers import text_of
from vqaudit.logs.files import LogFile, Record
from vqaudit.logs.reader import NO_OPTIONS, Reader, read_rows
from vqaudit.logs.rows import Log, LogRow, LogSpec

__all__ = ["HELM"]

_JOINT = "multiple_choice_joint"


def _recognises(file: LogFile) -> bool:
    return "adapter_spec" in file.document and "request_states" in file.document


def _read(file: LogFile, spec: LogSpec) -> Log:
    adapter = file.document["adapter_spec"]
    if (method := adapter.get("method")) != _JOINT:
        raise DatasetError(f"was made by the adapter {method!r}; {_JOINT} is read", file=file.path)
    states = file.document["request_states"]
    records = [Record(place, state) for place, state in enumerate(states, 1)]
    parsed = read_rows(file, records, _row, spec)
    kept = ("model_deployment", "max_train_instances", "max_tokens", "temperature", "instructions")
    return Log(
        format="helm",
        rows=parsed.rows,
        left_out=parsed.left_out,
        model=text_of(adapter.get("model")),
        settings={name: adapter[name] for name in kept if name in adapter},
    )


def _row(record: Record, spec: LogSpec) -> LogRow | str:
    state = record.cells
    mapping = state.get("output_mapping")
    if not isinstance(mapping, Mapping) or len(mapping) < 2:
        return NO_OPTIONS
    instance, result = state["instance"], state.get("result") or {}
    options = tuple(str(text) for text in mapping.values())
    completions = result.get("completions") or ()
    failed = None if result.get("success", True) else str(result.get("error", "the request failed"))
    return LogRow(
        row=record.number,
        item=_name(instance),
        question=instance["input"]["text"],
        options=options,
        option_ids=tuple(mapping),
        answer=_right(instance, options),
        reply=completions[0].get("text") if completions else None,
        finish_reason=_stopped(completions[0]) if completions else None,
        error=failed,
        prompt=text_of((state.get("request") or {}).get("prompt")),
        repeat=int(state.get("train_trial_index", 0)),
    )


def _name(instance: Mapping[str, Any]) -> str:
    """Names the instance; a perturbed copy is a sample of its own."""
    perturbed = instance.get("perturbation")
    return f"{instance['id']} {perturbed['name']}" if isinstance(perturbed, Mapping) else str(instance["id"])


def _right(instance: Mapping[str, Any], options: tuple[str, ...]) -> int | None:
    texts = [ref["output"]["text"] for ref in instance["references"] if "correct" in ref.get("tags", ())]
    places = [place for place, option in enumerate(options) if option in texts]
    return places[0] if len(places) == 1 else None


def _stopped(completion: Mapping[str, Any]) -> str | None:
    reason = completion.get("finish_reason")
    return text_of(reason.get("reason")) if isinstance(reason, Mapping) else text_of(reason)


HELM = Reader("helm", "HELM", _recognises, _read)
