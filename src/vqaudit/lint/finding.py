"""What a check found, where, how bad it is and what to do about it.

Knows files, keys and lines. Knows no rule and no harness.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["SEVERITIES", "Finding", "Place", "Severity"]

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Worst first. `error`: the score does not measure what the prompt asks for. `warning`: a part of the replies is
probably misjudged. `info`: what a reader of the score must know."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where something is written.

    Example:
        >>> print(Place(file="tasks/ocean.yaml", key="doc_to_text", line=4))
        tasks/ocean.yaml:4 (doc_to_text)
    """

    file: str
    key: str | None = None
    """Path of keys, joined by dots; of code, the function."""
    line: int | None = None
    """From 1; None where the file has no lines to speak of."""

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        return f"{self.file}{line}" + ("" if self.key is None else f" ({self.key})")


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One answer to: is the event that is scored the event that was asked for?"""

    rule: str
    severity: Severity
    task: str
    """Name of the task, interface or log."""
    place: Place
    evidence: str
    """What is written there, quoted, and what it meets."""
    advice: str
    variant: str | None = None
    """The model name for which the prompt is so; None where it is so for every model."""
    rows: int | None = None
    """Rows of a log in which it was found; None where no log was read."""
    rows_read: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns what `vqaudit lint --json` prints; keys without a value are left out."""
        kept = {name: value for name, value in asdict(self).items() if value is not None}
        kept["place"] = {name: value for name, value in kept["place"].items() if value is not None}
        return kept
