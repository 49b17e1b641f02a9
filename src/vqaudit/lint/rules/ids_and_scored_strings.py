"""Whether the strings that are scored are the strings that the prompt shows and asks for."""

from __future__ import annotations

from collections.abc import Iterator

from vqaudit.lint.description import Description
from vqaudit.lint.rules.rule import Hit, Rule

__all__ = ["CUT_OPTION_TEXTS", "IDS_SCORED_NOT_SHOWN", "IDS_SHOWN_TEXTS_SCORED"]


def _texts_scored(description: Description) -> Iterator[Hit]:
    scored, shown = description.scored, description.ids_shown
    if scored is not None and scored.kind == "texts" and shown:
        yield Hit(place=scored.place, evidence=f"the prompt shows {', '.join(shown)}; the options' texts are scored")


def _ids_scored(description: Description) -> Iterator[Hit]:
    scored = description.scored
    if scored is not None and scored.kind == "ids" and description.ids_shown == ():
        strings = ", ".join(scored.strings) or "option IDs"
        yield Hit(place=scored.place, evidence=f"{strings} are scored; the template shows no IDs before options")


def _cut_texts(description: Description) -> Iterator[Hit]:
    if description.scored is not None and description.scored.kind == "cut texts":
        yield Hit(place=description.scored.place, evidence="options are split at '.' and the second part is scored")


IDS_SHOWN_TEXTS_SCORED = Rule(
    name="ids-shown-texts-scored",
    severity="warning",
    asks="The prompt lists options with IDs, but the likelihood of the options' texts is scored.",
    advice="Score the IDs that are shown, or show the options without IDs.",
    check=_texts_scored,
)
IDS_SCORED_NOT_SHOWN = Rule(
    name="ids-scored-not-shown",
    severity="info",
    asks="Option IDs are scored, but the template shows none; the data may bring them.",
    advice="Look at a rendered row; if it shows no IDs, show them or score the texts.",
    check=_ids_scored,
)
CUT_OPTION_TEXTS = Rule(
    name="option-text-cut",
    severity="warning",
    asks="Option texts are cut at their first full stop before they are scored: 'A. 3.5 m' becomes '3'.",
    advice="Split once only, or take the text after the ID.",
    check=_cut_texts,
)
