"""Short names of models into hub IDs.

Knows names. Whether a folder has that name is asked first; a hub ID, a folder and a file always mean themselves.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from vqaudit.engines.models.entries import MODELS
from vqaudit.engines.models.entry import ModelEntry
from vqaudit.errors import EngineError

__all__ = ["find_model", "known_model", "local_model", "resolve_model"]


def known_model(name: str) -> ModelEntry | None:
    """Returns the entry of a short name or of a hub ID; None where there is none.

    Example:
        >>> known_model("Qwen2-VL-7B").hub, known_model("google/gemma-3-4b-it").name, known_model("mine/own")
        ('Qwen/Qwen2-VL-7B-Instruct', 'gemma-3-4b', None)
    """
    wanted = _normal(name)
    for entry in MODELS.values():
        if wanted in (_normal(entry.name), _normal(entry.title)) or name == entry.hub:
            return entry
    return None


def find_model(name: str) -> ModelEntry:
    """Returns the entry of a short name or of a hub ID.

    Raises:
        EngineError: There is no entry; the message names similar ones.
    """
    found = known_model(name)
    if found is None:
        near = difflib.get_close_matches(name.casefold(), list(MODELS), n=2, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise EngineError(
            f"no model is called {name!r}; {hint}`vqaudit models` lists them, and any hub ID or folder works without "
            "an entry"
        )
    return found


def resolve_model(name: str) -> str:
    """Returns the hub ID of a short name; whatever else it is, itself.

    A folder or file of that name, and whatever holds a `/`, means itself.

    Raises:
        EngineError: It looks like a short name (no `/`, no such folder), is none, and resembles one.

    Example:
        >>> resolve_model("llava-1.5-7b"), resolve_model("mine/own-model")
        ('llava-hf/llava-1.5-7b-hf', 'mine/own-model')
    """
    if "/" in name or Path(name).exists():
        return name
    entry = known_model(name)
    if entry is not None:
        return entry.hub
    if difflib.get_close_matches(name.casefold(), list(MODELS), n=1, cutoff=0.8):
        find_model(name)
    return name


def local_model(name: str) -> str:
    """Returns what to load in this process for a name, as `resolve_model` does.

    Raises:
        EngineError: The model is one that transformers does not have; the message names the way.

    Example:
        >>> local_model("qwen2-vl-7b")
        'Qwen/Qwen2-VL-7B-Instruct'
    """
    found = resolve_model(name)
    entry = None if Path(found).exists() else known_model(found)
    if entry is not None and entry.engine == "vllm":
        raise EngineError(
            f"transformers does not have the family of {entry.title} ({entry.family}): run it with --model "
            f"vllm:{entry.hub}, or serve it and give --model openai:{entry.hub} --base-url URL"
        )
    return found


def _normal(name: str) -> str:
    return re.sub(r"[\s_.-]+", "", name).casefold()
