"""What the manifest says of an interface, and what follows from its name where a log is silent.

Knows the manifest's words. Knows no trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Described", "describe"]

MISALIGNED = frozenset({"cot-prefix", "cot-prefill"})
"""Interfaces whose ending asks for another event than the one that is scored, where the manifest does not say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Described:
    """One interface."""

    name: str
    ending: str | None = None
    """Name of the ending; None where it is not known, as for all strings here."""
    ending_text: str | None = None
    asks: str | None = None
    strength: str | None = None
    """How strongly the ending invites a rationale: none, answer, minimal, explicit."""
    place: str | None = None
    event: str | None = None
    options_shown: bool = True
    aligned: bool = True
    """Whether the ending asks for the event that is scored."""
    after_rationale: bool | None = None
    """Whether the answer is read after the model has written a rationale."""


def describe(names: list[str], manifest: Mapping[str, Any]) -> dict[str, Described]:
    """Returns what is known of each interface.

    Args:
        names: Interfaces.
        manifest: The manifest's description of interfaces: `{name: {"ending": ..., "event": ..., ...}}`.

    Example:
        >>> describe(["cot-prefix"], {})["cot-prefix"].aligned
        False
    """
    return {name: _one(name, manifest.get(name)) for name in names}


def _one(name: str, said: Any) -> Described:
    known: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    texts = {key: _text(known.get(key)) for key in ("ending", "ending_text", "asks", "strength", "place", "event")}
    aligned, rationale = known.get("aligned"), known.get("after_rationale")
    return Described(
        name=name,
        **texts,
        options_shown=known.get("options_shown") is not False,
        aligned=aligned if isinstance(aligned, bool) else name not in MISALIGNED,
        after_rationale=rationale if isinstance(rationale, bool) else None,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
