"""A reasoning cue before a score that is read at the next token: paper 2's mismatch."""

from __future__ import annotations

from collections.abc import Iterator

from vqaudit.lint.description import IMMEDIATE, Description
from vqaudit.lint.rules.rule import Hit, Rule

__all__ = ["ANALYSIS_SCORED_AT_ONCE", "REASONING_SCORED_AT_ONCE", "THINKING_SCORED_AT_ONCE"]


def _reasoning(description: Description) -> Iterator[Hit]:
    found = description.first("reasoning")
    if description.event in IMMEDIATE and found is not None:
        request, text = found
        yield Hit(place=text.place, evidence=f"“{request.words}” is asked, {_scored(description)} is scored at once")


def _analysis(description: Description) -> Iterator[Hit]:
    if description.event not in IMMEDIATE or description.first("reasoning") is not None:
        return
    found = description.first("analysis")
    if found is not None:
        request, text = found
        yield Hit(place=text.place, evidence=f"“{request.words}” is asked, {_scored(description)} is scored at once")


def _thinking(description: Description) -> Iterator[Hit]:
    if description.event in IMMEDIATE and description.thinking is not None:
        yield Hit(
            place=description.thinking, evidence=f"a thinking mode is on, {_scored(description)} is scored at once"
        )


def _scored(description: Description) -> str:
    if description.event == "option-likelihood":
        what = {"ids": "the likelihood of an option ID", "texts": "the likelihood of an option's text"}
        kind = None if description.scored is None else description.scored.kind
        return what.get(kind or "", "the likelihood of a choice")
    return "the option ID as the next token"


REASONING_SCORED_AT_ONCE = Rule(
    name="reasoning-cue-with-likelihood",
    severity="error",
    asks="The prompt asks for reasoning first, but likelihoods or ID scores are read right after it.",
    advice="Generate the reasoning and score after an answer cue, or drop the reasoning request.",
    check=_reasoning,
)
ANALYSIS_SCORED_AT_ONCE = Rule(
    name="analysis-with-likelihood",
    severity="warning",
    asks="The prompt asks to analyse or explain something, but likelihoods or ID scores are read right after it.",
    advice="Say what is to be written next (the ID, the label), or measure what the request costs.",
    check=_analysis,
)
THINKING_SCORED_AT_ONCE = Rule(
    name="thinking-with-likelihood",
    severity="error",
    asks="A model's thinking mode is on, but likelihoods or ID scores are read before it has thought.",
    advice="Switch thinking off for likelihood tasks, or use a generative version of the task.",
    check=_thinking,
)
