"""Models by name in a terminal: the list with memory, and one model with its traps.

Knows the keys of an entry as JSON values. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from vqaudit.report.digits import count
from vqaudit.report.terminal.layout import View, bullets, columns, dim, plain, rows, section

__all__ = ["model_view", "models_view"]

_TRIED = {
    "tiny": "the family, on a tiny random model (shared prefixes, scores and replies against the plain path)",
    "no": "nothing; written down from its documentation",
}
_UNTRIED = "No entry was run with its real weights here: only tiny random models of the same families were."


def models_view(entries: Sequence[Mapping[str, Any]]) -> View:
    """Returns the list of models.

    Args:
        entries: Entries as JSON values with `memory_gib`, the memory at a stated prefix.
    """
    table = columns("name", "engine", "weights", "KV shared", "KV copied", "hub ID", right=(2, 3, 4), folding=(5,))
    for entry in entries:
        memory = entry["memory_gib"]
        table.add_row(
            plain(entry["name"], "bold"),
            plain(entry["engine"]),
            *(_gib(memory[key]) for key in ("weights", "shared", "expanded")),
            plain(entry["hub"]),
        )
    return View((table, "", *(dim(note) for note in (_stated(entries[0]["memory_gib"]), _UNTRIED))))


def model_view(entry: Mapping[str, Any]) -> View:
    """Returns one model: where it runs, how much memory it takes, and what to beware of."""
    memory, shape = entry["memory_gib"], entry["shape"]
    facts: list[tuple[RenderableType, ...]] = [
        ("hub ID", plain(entry["hub"])),
        ("engine", plain(entry["engine"])),
        ("tried here", plain(_TRIED[entry["tried"]])),
        ("licence", plain(entry["licence"])),
        *([("in the papers", plain(entry["paper"]))] if entry["paper"] else []),
        ("parameters", plain(f"{shape['parameters'] / 1e9:.2f} billion")),
        ("picture", plain(f"tokens: {entry['picture']}")),
        ("context", plain(f"{count(entry['context'])} tokens")),
        ("weights", plain(f"{_gib(memory['weights'])} GiB in {memory['dtype']}")),
        ("keys and values", plain(f"{count(entry['kv_bytes_per_token'])} bytes a token in bfloat16")),
        ("one batch", plain(f"{_gib(memory['shared'])} GiB shared, {_gib(memory['expanded'])} GiB copied")),
    ]
    way = f"vllm:{entry['name']}" if entry["engine"] == "vllm" else entry["name"]
    served = f"vqaudit run --model openai:{entry['hub']} --base-url URL --data mmstar --out RUN"
    parts: list[RenderableType] = [plain(entry["title"], "bold"), rows(facts, folding=(1,))]
    if entry["traps"]:
        parts.append(section("Traps", bullets(entry["traps"])))
    asked = f"vqaudit run --model {way} --data mmstar --out RUN"
    parts.append(section("Asking it, in this process or behind a server", plain(asked), plain(served)))
    return View((*parts, "", dim(_stated(memory)), dim(_UNTRIED)))


def _stated(memory: Mapping[str, Any]) -> str:
    return (
        f"GiB in {memory['dtype']}; keys and values (KV) of one batch of {memory['rows']} prompts that share "
        f"{count(memory['prefix'])} tokens and have {memory['own']} of their own: the beginning kept once (shared) or "
        "copied for each. Activations and the picture's encoder come on top."
    )


def _gib(value: float) -> str:
    return f"{value:.1f}"
