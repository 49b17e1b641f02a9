"""What is odd about an item, and whether its options may be shown in another order.

Knows items. Changes no text: it only sets `permutable` and `notes`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from vqaudit.items.item import Item
from vqaudit.items.references import lists_options, names_options, position_dependent

__all__ = ["carries_instruction", "screen"]

_EMBEDDED_ID = re.compile(r"^[ \t]*(?:[(（\[][A-Za-z][)）\]]|[A-Z][).:．：、](?=\s))\s*\S", re.MULTILINE)
_ROMAN = re.compile(r"(?=[IVX])(?:X{0,2}(?:IX|IV|V?I{0,3}))", re.IGNORECASE)
_LETTER = re.compile(r"[A-Za-z]")
_SMALL_NUMBER = re.compile(r"[1-9]|1\d|2[0-6]")
_INSTRUCTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:answer|respond|reply)\s+(?:directly\s+)?(?:with|using|by\s+giving)\s+(?:only\s+)?(?:the|a|one)\b[^.\n]{0,40}?"
        r"\b(?:letters?|options?|words?|phrases?|numbers?)\b",
        r"\b(?:option|choice)'?s?'?\s+letter\b",
        r"\bletter\s+(?:only|of\s+the\s+(?:\w+\s+)?(?:option|answer|choice))\b",
        r"\bonly\s+(?:the|one|a(?:\s+single)?)\s+letter\b",
        r"\bsingle\s+(?:letter|word\s+or\s+phrase)\b",
        r"\b(?:answer|letter|option|word)s?\s+(?:only\s+)?and\s+nothing\s+else\b",
        r"\b(?:select|choose|pick)\s+(?:the\s+)?(?:\w+\s+){0,2}(?:answer|option|choice)\s+from\s+the\s+"
        r"(?:options|choices|given|following|above|list)\b",
        r"\bthink\s+step\s+by\s+step\b",
        r"(?:直接|请|只)\S{0,6}(?:回答|输出|给出)\S{0,6}(?:选项|字母)",
    )
)


def screen(item: Item) -> Item:
    """Returns the item with `permutable` and `notes` set by what its texts say.

    Not permutable are items whose options or question speak of options by ID or place. Options that are themselves
    IDs, that have the same text, or that begin with an ID of their own are noted and may be permuted.

    Example:
        >>> item = Item(id="1", question="What falls?", options=("rain", "snow", "Both A and B"), answer=2)
        >>> screen(item).permutable, screen(item).notes
        (False, ("option 3 speaks of other options ('Both A and B'): not permuted",))
    """
    reasons = _reasons(item)
    found = (*item.notes, *reasons, *_same_texts(item), *_looks_like_ids(item), *_oddities(item))
    return replace(item, permutable=item.permutable and not reasons, notes=tuple(dict.fromkeys(found)))


def carries_instruction(question: str) -> str | None:
    """Returns the words of a question that tell how to answer, which may contradict the ending; None if it has none.

    Example:
        >>> carries_instruction("What is it? Answer with the option's letter directly.")
        "Answer with the option's letter"
    """
    found = [match for pattern in _INSTRUCTIONS if (match := pattern.search(question))]
    if not found:
        return None
    first = min(found, key=lambda match: match.start())
    end = max(match.end() for match in found if match.start() < first.end())
    return question[first.start() : end]


def _reasons(item: Item) -> list[str]:
    reasons = [
        f"option {index + 1} speaks of other options ({item.options[index]!r}): not permuted"
        for index in position_dependent(item.options)
    ]
    if lists_options(item.question):
        reasons.append("the question holds a list of options itself: not permuted")
    elif names_options(item.question, item.n_options):
        reasons.append("the question names options by ID or place: not permuted")
    return reasons


def _same_texts(item: Item) -> list[str]:
    places: dict[str, list[int]] = {}
    for index, option in enumerate(item.options):
        places.setdefault(" ".join(option.split()), []).append(index)
    notes: list[str] = []
    for same in places.values():
        if len(same) > 1:
            names = " and ".join(str(index + 1) for index in same)
            right = ", one of them the right one: which counts as right cannot be told from the text"
            notes.append(f"options {names} have the same text{right if item.answer in same else ''}")
    return notes


def _looks_like_ids(item: Item) -> list[str]:
    if all(_ROMAN.fullmatch(option) for option in item.options):
        return ["the options are Roman numerals, as option IDs may be"]
    if all(_SMALL_NUMBER.fullmatch(option) for option in item.options):
        return ["the options are small numbers, as option IDs may be"]
    letters = sum(_LETTER.fullmatch(option) is not None for option in item.options)
    return [f"{letters} of {item.n_options} options are single letters, as option IDs may be"] if letters else []


def _oddities(item: Item) -> list[str]:
    notes = [
        f"option {number} holds an ID of its own ({option[:20]!r})"
        for number, option in enumerate(item.options, start=1)
        if _EMBEDDED_ID.search(option)
    ]
    notes += [
        f"option {number} reads {option!r}: a missing cell?"
        for number, option in enumerate(item.options, start=1)
        if option.lower() == "nan"
    ]
    instruction = carries_instruction(item.question)
    if instruction is not None:
        notes.append(f"the question carries an instruction of its own ({instruction!r})")
    return notes
