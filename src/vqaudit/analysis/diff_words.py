"""What two runs' manifests say differently, what must be said before the split is read, and the split in sentences.

Knows manifests and the parts' numbers. Computes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vqaudit.analysis.diff_matching import Matching
from vqaudit.analysis.diff_sides import Side

__all__ = ["said", "settings_apart", "warnings_of"]

_MEANS = {
    "items": "they hold other items",
    "prompts": "common items were asked otherwise",
    "readings": "the same reply was read otherwise",
    "replies": "the same prompt got another reply",
    "untold": "a log does not tell whether the prompts were the same",
}
_LONGEST = 80


def settings_apart(a: Side, b: Side) -> list[dict[str, str]]:
    """Returns the settings that the manifests name differently; what one of them does not name is left out."""
    first, second = (_settings(side) for side in (a, b))
    return [
        {"name": name, "a": _short(first[name]), "b": _short(second[name])}
        for name in first
        if name in second and first[name] != second[name] and None not in (first[name], second[name])
    ]


def _settings(side: Side) -> dict[str, Any]:
    manifest = side.tables.manifest
    identity = {name: value for name, value in manifest.identity.items() if name not in ("interfaces", "formats")}
    return {
        "model": manifest.model,
        "score": side.score,
        "interface": side.interface,
        "design": side.design,
        "reader": manifest.reader_version,
        "system prompt": manifest.system,
        "image limit": manifest.image_max_pixels,
        "dtype": manifest.engine.get("dtype"),
        "revision": manifest.engine.get("revision") or manifest.engine.get("commit"),
        "dataset": manifest.dataset.get("name"),
        **{name: value for name, value in identity.items() if name not in ("model", "dataset", "system prompt")},
    }


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def warnings_of(a: Side, b: Side, matching: Matching) -> list[str]:
    """Returns what must be known before the split is read."""
    found = []
    models = [side.tables.manifest.model for side in (a, b)]
    if models[0] != models[1]:
        found.append(f"the runs name two models, {models[0]} and {models[1]}: replies then tell the models apart too")
    if not matching.pairs:
        found.append("the runs have no item in common, so that the whole difference is one of items")
    if matching.other_content:
        found.append(
            f"{matching.other_content} items have one ID in both runs but another question, options or right answer: "
            "they count as other items"
        )
    return found


def said(a: str, b: str, parts: Mapping[str, float | None]) -> list[str]:
    """Returns the split in sentences, the largest part first; parts of nothing are not told."""
    told = sorted(((v, cause) for cause, v in parts.items() if v), key=lambda pair: -abs(pair[0]))
    if not told:
        return [f"{b} and {a} have the same score for every cause"]
    return [f"{100 * value:+.1f} pp from {a} to {b}: {_MEANS[cause]} ({cause})" for value, cause in told]
