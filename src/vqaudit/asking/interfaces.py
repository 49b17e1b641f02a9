"""Scoring interfaces as data: the ending that a prompt has, its place, and the event that is scored.

Knows strings. Knows no item and no engine. An interface is *aligned* when its ending asks for the event that is
scored; paper 2 is about the one that is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from vqaudit.errors import VariantError

__all__ = ["ENDINGS", "INTERFACES", "Asks", "Ending", "EventName", "Interface", "find_interface"]

Asks = Literal["id", "reasoning", "text", "nothing"]
EventName = Literal["reply", "id-scores", "forced-token", "option-likelihood", "generation"]

_READS: dict[EventName, Asks] = {
    "reply": "id",
    "id-scores": "id",
    "forced-token": "id",
    "option-likelihood": "text",
    "generation": "reasoning",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """The words after the options."""

    name: str
    text: str
    """`{instruction}` stands for paper 1's instruction, which names the IDs shown."""
    asks: Asks
    """What these words ask the model to write next."""


ENDINGS: dict[str, Ending] = {
    ending.name: ending
    for ending in (
        Ending(name="instruction", text="{instruction}", asks="id"),
        Ending(name="bare", text="", asks="nothing"),
        Ending(name="cot", text="Let me think step by step.", asks="reasoning"),
        Ending(name="answer-cue", text="Answer:", asks="id"),
        Ending(name="lead-in", text="The answer is", asks="text"),
    )
}
"""Shipped endings: paper 1's instruction, paper 2's Direct (`bare`) and reasoning cue, an answer cue, a lead-in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interface:
    """One way to get an answer out of a model.

    Example:
        >>> INTERFACES["cot-prefix"].aligned, INTERFACES["free-cot"].aligned
        (False, True)
    """

    name: str
    ending: Ending
    event: EventName
    place: Literal["user", "assistant"] = "user"
    """Where the ending stands: at the end of the user's turn or at the beginning of the assistant's."""
    options_shown: bool = True
    """False for cloze: the question alone; then there is no format and no order."""

    @property
    def aligned(self) -> bool:
        """Whether the ending asks for the event that is scored, or asks for nothing."""
        return self.ending.asks in (_READS[self.event], "nothing")


INTERFACES: dict[str, Interface] = {
    interface.name: interface
    for interface in (
        Interface(name="direct", ending=ENDINGS["instruction"], event="reply"),
        Interface(name="direct-scores", ending=ENDINGS["instruction"], event="id-scores"),
        Interface(name="bare-scores", ending=ENDINGS["bare"], event="id-scores"),
        Interface(name="cot-prefix", ending=ENDINGS["cot"], event="id-scores"),
        Interface(name="cot-prefill", ending=ENDINGS["cot"], event="id-scores", place="assistant"),
        Interface(name="free-cot", ending=ENDINGS["cot"], event="generation"),
        Interface(name="forced-token", ending=ENDINGS["instruction"], event="forced-token"),
        Interface(name="full-string", ending=ENDINGS["bare"], event="option-likelihood"),
        Interface(name="cloze", ending=ENDINGS["bare"], event="option-likelihood", options_shown=False),
        Interface(
            name="cloze-lead-in",
            ending=ENDINGS["lead-in"],
            event="option-likelihood",
            place="assistant",
            options_shown=False,
        ),
    )
}
"""Shipped interfaces. `direct` is paper 1's; `bare-scores`, `cot-prefix`, `free-cot`, `forced-token` and
`full-string` are paper 2's; `cloze` is paper 1's CP-LN."""


def find_interface(name: str, interfaces: Mapping[str, Interface] = INTERFACES) -> Interface:
    """Returns the interface of that name.

    Raises:
        VariantError: There is none; the message lists what there is.
    """
    try:
        return interfaces[name]
    except KeyError:
        raise VariantError(f"no interface {name!r}: choose from {', '.join(sorted(interfaces))}") from None
