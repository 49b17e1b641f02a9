"""Whether the instructions of one prompt agree with one another and reach the model as they were meant."""

from __future__ import annotations

from collections.abc import Iterator

from vqaudit.lint.description import IMMEDIATE, Description, Text
from vqaudit.lint.requests import Kind, Request
from vqaudit.lint.rules.rule import Hit, Rule
from vqaudit.lint.templates import has_literal_escape

__all__ = ["CONTRADICTORY", "DEAD_SETTING", "LITERAL_ESCAPE", "MODEL_SPECIFIC"]


def _contradictory(description: Description) -> Iterator[Hit]:
    reasoning = _of_this_turn(description, "reasoning")
    if reasoning is None or description.event in IMMEDIATE:
        return
    only = _of_this_turn(description, "answer-only")
    if only is not None:
        place = only[1].place
        yield Hit(place=place, evidence=f"“{reasoning[0].words}” against “{only[0].words}”")
        return
    named = description.first("id")
    requests = description.requests
    if named is not None and requests.index(named[0]) < requests.index(reasoning[0]):
        place = named[1].place
        yield Hit(place=place, evidence=f"“{named[0].words}”, then “{reasoning[0].words}”", severity="info")


def _of_this_turn(description: Description, kind: Kind) -> tuple[Request, Text] | None:
    return next((found for found in description.asked(kind) if found[1].part != "earlier"), None)


def _dead(description: Description) -> Iterator[Hit]:
    for setting in description.dead:
        flat = " ".join(setting.words.split())[:160]
        severity = "info" if setting.shared else "warning"
        yield Hit(place=setting.place, evidence=f"this task does not read {flat}", severity=severity)


def _escapes(description: Description) -> Iterator[Hit]:
    for text in description.texts:
        if has_literal_escape(text.words):
            flat = " ".join(text.words.split())
            yield Hit(place=text.place, evidence=f"the model sees a backslash and an n: “{flat[:120]}”")
            return


def _model_specific(description: Description) -> Iterator[Hit]:
    if description.variants:
        names = ", ".join(description.variants)
        yield Hit(place=description.place, evidence=f"models named {names} get a prompt of their own")


CONTRADICTORY = Rule(
    name="contradictory-instructions",
    severity="warning",
    asks="One prompt asks for reasoning and for the bare answer (info: for the ID, then for reasoning).",
    advice="Keep one of the two, or say which comes last: 'reason first; in the last line write the letter only'.",
    check=_contradictory,
)
DEAD_SETTING = Rule(
    name="dead-prompt-setting",
    severity="warning",
    asks="A prompt or reader setting is written down, but the code that should use it never reads it (info: shared).",
    advice="Delete the setting or use it; the prompt that is run is not the prompt that the file shows.",
    check=_dead,
)
LITERAL_ESCAPE = Rule(
    name="literal-escape",
    severity="warning",
    asks="A prompt holds the two characters backslash and n where a line break was meant.",
    advice="Use double quotes or a block scalar in the YAML file.",
    check=_escapes,
)
MODEL_SPECIFIC = Rule(
    name="model-specific-prompt",
    severity="info",
    asks="The prompt depends on the model's name, so that two models are not asked alike.",
    advice="Compare models under one prompt, or report the prompt beside each score.",
    check=_model_specific,
)
