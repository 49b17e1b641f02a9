"""What a plan would cost, in a terminal.

Knows the keys of a cost estimate. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import RenderableType

from vqaudit.report.digits import UNKNOWN, count, duration
from vqaudit.report.terminal.layout import View, dim, plain, rows
from vqaudit.report.untrusted import bare_name

__all__ = ["cost_view"]

_TOKENS = (
    ("tokens computed", "tokens_computed", "those that pass the model, replies included"),
    ("tokens reused", "tokens_reused", "what prompts share and is computed once"),
)


def cost_view(cost: Mapping[str, Any], *, model: str, data: str) -> View:
    """Returns what `rich` prints of a plan: trials, pictures, tokens, time.

    Args:
        cost: A cost estimate as JSON values: `trials`, `items`, `images`, `trials_by_interface`, `prompt_tokens`
            and `seconds` (None where not known), `tokens_computed` and `tokens_reused` (likewise), `sampled`.
        model: Name of the model.
        data: Name of the dataset.
    """
    by_interface = cost["trials_by_interface"]
    several, only = len(by_interface) > 1, next(iter(by_interface), "no interface")
    sampled = f"scaled up from {count(cost['sampled'])} trials"
    lines: list[tuple[RenderableType, ...]] = [
        ("items", count(cost["items"]), dim(f"{count(cost['images'])} pictures")),
        ("trials", count(cost["trials"]), dim("of these interfaces:" if several else f"through {only}")),
        *(("", count(trials), plain(interface)) for interface, trials in by_interface.items() if several),
        ("prompt tokens", *_scaled(cost["prompt_tokens"], count, sampled, "this engine cannot count them")),
        *((label, count(cost[key]), dim(note)) for label, key, note in _TOKENS if cost.get(key) is not None),
        ("time", *_scaled(cost["seconds"], duration, f"here, {sampled}", "not timed")),
    ]
    table = rows(lines, right=(1,), folding=(2,))
    title = plain(f"{bare_name(model)} on {bare_name(data)}", "bold")
    return View((title, table, dim("Nothing was written; what was answered to tell the time is thrown away.")))


def _scaled(value: float | None, write: Callable[[Any], str], known: str, unknown: str) -> tuple[str, RenderableType]:
    return (UNKNOWN, dim(unknown)) if value is None else (write(value), dim(known))
