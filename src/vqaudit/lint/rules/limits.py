"""Whether the reply has room for what was asked: token limits and stop strings."""

from __future__ import annotations

from collections.abc import Iterator

from vqaudit.lint.description import Description
from vqaudit.lint.rules.rule import Hit, Rule

__all__ = ["LONG_GENERATION", "REASONING_CUT_SHORT", "REASONING_STOPPED"]

_SHORT = 256
"""Tokens within which most written-out reasoning is cut: a warning."""
_TIGHT = 512
"""Tokens within which long reasoning is cut: a remark."""
_LONG = 256
"""Tokens far beyond a letter: room for a reply that a reader of letters cannot read."""


def _cut_short(description: Description) -> Iterator[Hit]:
    found = _generated_reasoning(description)
    limit = description.limit
    if found is None or limit is None or limit.tokens > _TIGHT:
        return
    stated = "the limit is" if limit.stated else "no limit is stated, so the harness's default holds:"
    severity = "warning" if limit.tokens <= _SHORT else "info"
    yield Hit(place=limit.place, evidence=f"“{found}” is asked; {stated} {limit.tokens} tokens", severity=severity)


def _stopped(description: Description) -> Iterator[Hit]:
    found = _generated_reasoning(description)
    breaks = [stop for stop in description.stops if stop and not stop.strip() and "\n" in stop]
    if found is None or not breaks or description.stops_place is None:
        return
    yield Hit(
        place=description.stops_place,
        evidence=f"“{found}” is asked; the reply ends at {breaks[0]!r}",
        severity="info" if description.fewshot else "warning",
    )


def _generated_reasoning(description: Description) -> str | None:
    """The words that ask for reasoning which is then generated; None where a branch may ask for the bare answer."""
    if description.event != "generation":
        return None
    found = description.first("reasoning", possible=True)
    if found is None or (not found[1].certain and description.first("answer-only", possible=True) is not None):
        return None
    return found[0].words


def _long(description: Description) -> Iterator[Hit]:
    found = description.first("answer-only")
    if description.event != "generation" or found is None or description.first("reasoning", possible=True) is not None:
        return
    request, _ = found
    if not any(word in request.words.lower() for word in ("letter", "option", "choice", "label")):
        return
    limit = description.limit
    if limit is not None and limit.tokens >= _LONG:
        default = "" if limit.stated else " (the harness's default)"
        yield Hit(
            place=limit.place, evidence=f"“{request.words}” is asked; the limit is {limit.tokens} tokens{default}"
        )


REASONING_CUT_SHORT = Rule(
    name="reasoning-cut-short",
    severity="warning",
    asks=f"Reasoning is asked for and generated, but at most {_SHORT} tokens (info: {_TIGHT}) are allowed.",
    advice="Allow at least 1,024 new tokens, and count the replies that end at the limit.",
    check=_cut_short,
)
REASONING_STOPPED = Rule(
    name="stop-before-answer",
    severity="warning",
    asks="Reasoning is asked for, but a line break ends the reply (info where examples show one paragraph).",
    advice="Stop at an end token or a closing tag; a blank line stands between any two paragraphs.",
    check=_stopped,
)
LONG_GENERATION = Rule(
    name="answer-only-long-generation",
    severity="info",
    asks=f"Only the option's ID is asked for, but {_LONG} or more tokens may be generated and are searched for it.",
    advice="Report how many replies were exactly an ID; a long reply is read by a rule that can err.",
    check=_long,
)
