"""What a reply stands for, or why it stands for nothing.

Knows outcomes. Knows no item, no format and no engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["Reading", "ReadingOutcome"]

ReadingOutcome = Literal["chosen", "ambiguous", "refused", "empty", "truncated", "unreadable", "bad_input", "failed"]
_OUTCOMES = frozenset(get_args(ReadingOutcome))


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The option that a reply or a set of scores stands for, or why none.

    Raises:
        ValueError: An unknown outcome, a `chosen` without an ID, or an ID without `chosen`.

    Example:
        >>> Reading(outcome="chosen", option_id="B", reason="whole reply").option_id
        'B'
    """

    outcome: ReadingOutcome
    option_id: str | None = None
    """The shown ID, exactly as shown; set if and only if the outcome is `chosen`."""
    reason: str = ""
    """The rule that decided, or why none did."""

    def __post_init__(self) -> None:
        if self.outcome not in _OUTCOMES:
            raise ValueError(f"unknown outcome {self.outcome!r}: use one of {', '.join(sorted(_OUTCOMES))}")
        if (self.outcome == "chosen") != (self.option_id is not None):
            raise ValueError(
                f"outcome {self.outcome!r} with option_id {self.option_id!r}: an ID belongs to `chosen` alone"
            )
