"""Whether the answer is taken out of the reply by a rule that can: tried on replies whose answer is plain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vqaudit.lint.description import Description, Reader
from vqaudit.lint.patterns import is_safe_to_try
from vqaudit.lint.rules.rule import Hit, Rule

__all__ = ["GUESSES", "READS_PROSE", "UNREQUESTED_FORM", "WHOLE_STRING"]

_PROBES = (
    ("Answer: B", "B"),
    ("Based on the picture, it is C.", "C"),
    ("A dog is shown, so D", "D"),
    ("Certainly (B)", "B"),
    ("The answer is (C).", "C"),
)
"""Replies and what a person reads in them."""


def _reads_prose(description: Description) -> Iterator[Hit]:
    for reader in description.readers:
        for reply, answer in _PROBES:
            read = _read(reader, reply)
            if read is not None and read != answer:
                yield Hit(
                    place=reader.place,
                    evidence=f"{reader.pattern!r} reads {read} in “{reply}”",
                    severity=None if reader.sole else "info",
                )
                break


def _read(reader: Reader, reply: str) -> str | None:
    """What the pattern takes out of a reply, where that is one capital letter."""
    if not is_safe_to_try(reader.pattern):
        return None
    try:
        found = [match.group(match.lastindex or 0) for match in re.finditer(reader.pattern, reply)]
    except (re.error, RecursionError, OverflowError):
        return None
    if not found:
        return None
    read = (found[-1] if reader.last else found[0]) or ""
    return read if re.fullmatch("[A-J]", read) else None


def _whole_string(description: Description) -> Iterator[Hit]:
    place = description.whole_string
    if place is None:
        return
    reasoning = description.first("reasoning")
    found = reasoning or description.first("answer-line")
    if found is not None:
        evidence = f"“{found[0].words}” is asked; the whole reply must equal the answer"
        yield Hit(place=place, evidence=evidence, severity="warning" if reasoning is None else "error")


def _guesses(description: Description) -> Iterator[Hit]:
    if description.guesses is not None:
        yield Hit(place=description.guesses, evidence="random.choice stands where replies are read")


def _unrequested(description: Description) -> Iterator[Hit]:
    """Only where the whole prompt is known and no examples could teach the words."""
    if description.fewshot or not any(text.certain for text in description.texts):
        return
    prompt = " ".join(text.words for text in description.texts).lower()
    for reader in description.readers:
        words = re.match(r"\(?\??:?\(?([A-Za-z][A-Za-z ]{5,40}?) ?[:(\[\\]", reader.pattern)
        if words and len(words.group(1).split()) > 1 and words.group(1).lower() not in prompt:
            yield Hit(place=reader.place, evidence=f"{reader.pattern!r} looks for words that the prompt never asks for")


READS_PROSE = Rule(
    name="reader-takes-letters-from-prose",
    severity="warning",
    asks="The pattern that reads the answer takes a letter out of ordinary words (tried on plain replies).",
    advice="Anchor the pattern to the answer's own words, and let what cannot be read be unreadable.",
    check=_reads_prose,
)
WHOLE_STRING = Rule(
    name="whole-reply-must-equal-answer",
    severity="error",
    asks="Reasoning (warning: an answer line) is asked for, but the whole reply is compared with the bare answer.",
    advice="Read the answer out of the reply, or ask for the bare answer.",
    check=_whole_string,
)
GUESSES = Rule(
    name="unreadable-replies-are-guessed",
    severity="warning",
    asks="A reply that cannot be read gets a random answer, so that chance is counted as knowledge.",
    advice="Count unreadable replies as such; add chance in the analysis, by name.",
    check=_guesses,
)
UNREQUESTED_FORM = Rule(
    name="reader-wants-unrequested-words",
    severity="info",
    asks="The reader looks for words that the prompt never asks for and no examples show.",
    advice="Ask for the words that are read.",
    check=_unrequested,
)
