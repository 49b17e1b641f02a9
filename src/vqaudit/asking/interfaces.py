"""Scoring interfaces as data: the ending that a prompt has, its place, and the event that is scored.

Knows strings. Knows no item and no engine. An interface is *aligned* when its ending asks for the event that is
scored; paper 2 is about the one that is not. Any combination has a name, `EVENT:ENDING[/PLACE]`, as in
`scores:answer-cue` or `free:cot/assistant`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from vqaudit.asking.endings import ENDINGS, Asks, Ending
from vqaudit.errors import VariantError

__all__ = [
    "ANSWER_CUE",
    "DEFAULT_WATCH",
    "EVENTS",
    "INTERFACES",
    "EventName",
    "Interface",
    "find_interface",
    "misalignments",
]

EventName = Literal["reply", "id-scores", "forced-token", "option-likelihood", "generation", "rationale-scores"]
Place = Literal["user", "assistant"]

_READS: dict[EventName, frozenset[Asks]] = {
    "reply": frozenset({"id"}),
    "id-scores": frozenset({"id"}),
    "forced-token": frozenset({"id"}),
    "option-likelihood": frozenset({"text"}),
    # what is written is read to its end, whatever it was asked to begin with
    "generation": frozenset({"id", "text", "reasoning"}),
    "rationale-scores": frozenset({"reasoning"}),
}
"""Which request each event answers."""
_SCORED: dict[EventName, str] = {
    "reply": "the whole reply as an ID",
    "id-scores": "the IDs at the very next token",
    "forced-token": "one token as an ID",
    "option-likelihood": "the option's text",
    "generation": "the whole generation",
    "rationale-scores": "the IDs after a generated rationale",
}
_ASKED: dict[Asks, str] = {"id": "an option ID", "reasoning": "a rationale", "text": "a text", "nothing": "nothing"}

ANSWER_CUE = "The answer is"
"""What follows a generated rationale before the IDs are scored (Kojima et al. 2022 use a longer one)."""

DEFAULT_WATCH = (
    *("First", "Let", "The", "To", "We", "This", "There", "In", "It", "Since", "Because", "So", "Step"),
    *("Based", "Looking", "Given", "Okay", "Sure", "Now"),
)
"""Words with which a rationale begins, whose probability is recorded beside the IDs' (paper 2, Eq. 8).

The paper names three of its fixed set ("First", "Let", "The"); the others are ours. None is an option ID: neither the
article `A` nor the pronoun `I` is here, since where IDs are letters nothing tells the word from the ID."""


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
    place: Place = "user"
    """Where the ending stands: at the end of the user's turn or at the beginning of the assistant's."""
    options_shown: bool = True
    """False for cloze: the question alone; then there is no format and no order."""
    cue: str | None = None
    """What is written after a generated rationale, before the IDs are scored; None for all other events."""

    @property
    def asks(self) -> Asks:
        """What the ending asks for here: without options shown, an answer can only be a text."""
        return "text" if self.ending.asks == "id" and not self.options_shown else self.ending.asks

    @property
    def aligned(self) -> bool:
        """Whether the ending asks for the event that is scored, or asks for nothing."""
        return self.asks == "nothing" or self.asks in _READS[self.event]

    @property
    def after_rationale(self) -> bool:
        """Whether the answer is read after the model has written a rationale, if it writes one."""
        return self.event in ("generation", "rationale-scores")

    @property
    def complaint(self) -> str | None:
        """What is asked for and what is scored, where they differ."""
        if self.aligned:
            return None
        return (
            f"{self.name}: the ending {self.ending.text!r} asks for {_ASKED[self.asks]}, but what is scored is "
            f"{_SCORED[self.event]}"
        )


INTERFACES: dict[str, Interface] = {
    interface.name: interface
    for interface in (
        Interface(name="direct", ending=ENDINGS["instruction"], event="reply"),
        Interface(name="direct-scores", ending=ENDINGS["instruction"], event="id-scores"),
        Interface(name="bare-scores", ending=ENDINGS["bare"], event="id-scores"),
        Interface(name="cot-prefix", ending=ENDINGS["cot"], event="id-scores"),
        Interface(name="cot-prefill", ending=ENDINGS["cot"], event="id-scores", place="assistant"),
        Interface(name="free-cot", ending=ENDINGS["cot"], event="generation"),
        Interface(name="cot-then-scores", ending=ENDINGS["cot"], event="rationale-scores", cue=ANSWER_CUE),
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
`full-string` are paper 2's; `cloze` is paper 1's CP-LN; `cot-then-scores` is what harnesses do that score the IDs
after a rationale."""

EVENTS: dict[str, tuple[EventName, bool]] = {
    "reply": ("reply", True),
    "scores": ("id-scores", True),
    "forced": ("forced-token", True),
    "full-string": ("option-likelihood", True),
    "cloze": ("option-likelihood", False),
    "free": ("generation", True),
    "rationale": ("rationale-scores", True),
}
"""Word before the colon -> event, and whether the options are shown."""


def find_interface(
    name: str,
    interfaces: Mapping[str, Interface] = INTERFACES,
    *,
    endings: Mapping[str, Ending] = ENDINGS,
) -> Interface:
    """Returns the interface of that name, or the combination `EVENT:ENDING[/PLACE]` that it spells.

    A combination that is shipped under a name of its own is that one: `scores:cot` is `cot-prefix`.

    Args:
        name: Such as `direct`, `scores:answer-cue` or `free:cot/assistant`.
        interfaces: Named ones.
        endings: Endings that a combination may use.

    Raises:
        VariantError: There is none; the message lists what there is.

    Example:
        >>> find_interface("scores:cot").name, find_interface("forced:cot/assistant").place
        ('cot-prefix', 'assistant')
    """
    if name in interfaces:
        return interfaces[name]
    if ":" not in name:
        raise VariantError(
            f"no interface {name!r}: choose from {', '.join(sorted(interfaces))}, or combine EVENT:ENDING[/PLACE], as "
            "in scores:answer-cue"
        )
    wanted = _combined(name, endings)
    same = (found for found in interfaces.values() if _shape(found) == _shape(wanted))
    return next(same, wanted)


def misalignments(interfaces: Iterable[Interface]) -> list[str]:
    """Returns, for each interface whose ending asks for another event than the one scored, a sentence that says so.

    Example:
        >>> misalignments([INTERFACES["direct"]])
        []
    """
    return [found.complaint for found in interfaces if found.complaint is not None]


def _shape(interface: Interface) -> tuple[object, ...]:
    return interface.ending, interface.event, interface.place, interface.options_shown


def _combined(name: str, endings: Mapping[str, Ending]) -> Interface:
    event_name, _, rest = name.partition(":")
    ending_name, _, place = rest.partition("/")
    if event_name not in EVENTS:
        raise VariantError(f"interface {name!r}: no event {event_name!r}; choose from {', '.join(EVENTS)}")
    if ending_name not in endings:
        raise VariantError(f"interface {name!r}: no ending {ending_name!r}; choose from {', '.join(sorted(endings))}")
    if place not in ("", "user", "assistant"):
        raise VariantError(f"interface {name!r}: no place {place!r}; choose user or assistant")
    event, shown = EVENTS[event_name]
    ending = endings[ending_name]
    if not shown and "{" in ending.text:
        raise VariantError(f"interface {name!r} hides the options, so ending {ending_name!r} cannot name their IDs")
    in_reply = place == "assistant" and bool(ending.text)
    return Interface(
        name=f"{event_name}:{ending_name}{'/assistant' if in_reply else ''}",
        ending=ending,
        event=event,
        place="assistant" if in_reply else "user",
        options_shown=shown,
        cue=ANSWER_CUE if event == "rationale-scores" else None,
    )
