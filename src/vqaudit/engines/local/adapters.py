"""The part of a checkpoint that is kept beside its weights: Phi-4-multimodal's vision adapter.

Knows peft and in which folder of a checkpoint the adapter lies. Knows no request. Once it is in the model it is on for
every forward pass, with a picture or without: it changes all tokens, not a picture's alone, and what was computed with
it does not fit what was computed without.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers.utils.hub import cached_file

from vqaudit.errors import EngineError, EngineUnavailable

__all__ = ["FOLDERS", "add_vision_adapter", "has_vision_adapter"]

FOLDERS: Mapping[str, str] = {"phi4_multimodal": "vision-lora"}
"""Where an adapter lies in a checkpoint, by the configuration's `model_type`."""
_NAME = "vision"
_PREFIX = "base_model.model."
"""What peft puts before the name of a weight when it saves an adapter."""


def add_vision_adapter(network: Any, name: str, *, revision: str | None) -> None:
    """Puts the adapter that a checkpoint keeps for pictures into its model, where it has one, and leaves it on.

    Args:
        network: The model that was loaded from the checkpoint.
        name: The checkpoint: a folder or a hub ID.
        revision: Branch, tag or commit on the hub.

    Raises:
        EngineError: The adapter does not belong to the model.
        EngineUnavailable: peft is missing.
    """
    folder = FOLDERS.get(network.config.model_type)
    found = folder and _file(name, folder, "adapter_config.json", revision)
    if not folder or found is None:
        return
    weights = _file(name, folder, "adapter_model.safetensors", revision)
    if weights is None:
        raise EngineError(f"the checkpoint {name!r} lacks the weights of its adapter in {folder!r}")
    _inject(network, Path(found).parent, load_file(weights), name)


def has_vision_adapter(network: Any) -> bool:
    """Whether the model was loaded with an adapter."""
    return _NAME in getattr(network, "peft_config", {})


def _file(name: str, folder: str, file: str, revision: str | None) -> str | None:
    return cached_file(name, file, subfolder=folder, revision=revision, _raise_exceptions_for_missing_entries=False)


def _inject(network: Any, folder: Path, weights: dict[str, torch.Tensor], name: str) -> None:
    """Does what transformers' `load_adapter` does, which wants a newer peft than the one that it works with."""
    try:
        peft: Any = import_module("peft")
    except ImportError as error:
        raise EngineUnavailable(f"the vision adapter of model {name!r}", extra="peft") from error
    config = peft.PeftConfig.from_pretrained(str(folder))
    named = {key.removeprefix(_PREFIX): tensor for key, tensor in weights.items()}
    with warnings.catch_warnings():
        # Weights say where the adapter goes: its own pattern may hit the audio tower too, and peft warns of that.
        warnings.simplefilter("ignore", RuntimeWarning)
        peft.inject_adapter_in_model(config, network, adapter_name=_NAME, state_dict=named)
    report = peft.set_peft_model_state_dict(network, named, adapter_name=_NAME)
    strange = [*report.unexpected_keys, *(key for key in report.missing_keys if f".{_NAME}." in key)]
    if strange:
        raise EngineError(f"the adapter of {name!r} does not fit its model, as at {min(strange)!r}")
