"""What a piece of prompt asks the model to write, sentence by sentence.

Knows wording. A request that is taken back ("do not explain") is none: it asks for the bare answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from vqaudit.lint.wording import (
    ANALYSIS,
    ANSWER_LINE,
    ANSWER_ONLY,
    CUE,
    ID,
    NEGATED_AFTER,
    NEGATED_BEFORE,
    REASONING,
    SCOPED,
)

__all__ = ["Kind", "Request", "requests_in"]

Kind = Literal["reasoning", "analysis", "answer-only", "id", "answer-line"]
_SENTENCE = re.compile(r"[^\n]+?(?:(?<![\d.])[.!?](?=[\s\"'”’)]|$)|[。！？]|\n|$)")
_QUOTED = 160
_LONGEST = 2000
"""Characters of a sentence that are looked at: no request is longer, but a picture written as text is."""
_NEAR = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One thing that a sentence asks for."""

    kind: Kind
    words: str
    """The sentence, shortened."""
    text: int = 0
    """Which piece of the prompt it stands in."""


@lru_cache(maxsize=4096)
def requests_in(text: str, *, last: bool = False) -> tuple[Request, ...]:
    """Returns what the sentences of a text ask for.

    Args:
        text: Prompt text; places to fill in may be left as `{{...}}`.
        last: The text ends the prompt, so that a cue at its end ("Reasoning:") counts.

    Example:
        >>> [found.kind for found in requests_in("Think step by step. Then give only the letter.")]
        ['reasoning']
        >>> [found.kind for found in requests_in("Give only the letter; do not explain your reasoning.")]
        ['answer-only']
    """
    sentences = [sentence[:_LONGEST].strip() for sentence in _SENTENCE.findall(text)]
    sentences = [sentence for sentence in sentences if sentence]
    found = [Request(kind=kind, words=_short(words)) for words in sentences for kind in _kinds(words.lower())]
    if last and sentences and not any(each.kind == "reasoning" for each in found):
        tail = sentences[-1].rpartition("}}")[2].strip().lower()
        if CUE.search(tail):
            found.append(Request(kind="reasoning", words=_short(sentences[-1])))
    return tuple(found)


def _kinds(sentence: str) -> Iterator[Kind]:
    straight = sentence.replace("’", "'")
    asked = _stands(REASONING, straight)
    if asked:
        yield "reasoning"
    elif _stands(ANALYSIS, straight):
        yield "analysis"
    taken_back = REASONING.search(straight) is not None and not asked
    only = ANSWER_ONLY.search(straight) is not None
    if ((only or _explanation_refused(straight)) and not SCOPED.search(straight)) or taken_back:
        yield "answer-only"
    elif ANSWER_LINE.search(straight):
        yield "answer-line"
    elif ID.search(straight):
        yield "id"


def _stands(pattern: re.Pattern[str], sentence: str) -> bool:
    """Whether the pattern is found somewhere without being taken back."""
    return any(
        not NEGATED_BEFORE.search(sentence[max(0, found.start() - _NEAR) : found.start()] + _lead(found.group()))
        and not NEGATED_AFTER.search(sentence[found.end() :])
        for found in pattern.finditer(sentence)
    )


def _lead(matched: str) -> str:
    """The part of a match that stands before its verb, such as a comma."""
    return matched[: len(matched) - len(matched.lstrip(" ,;:("))]


def _explanation_refused(sentence: str) -> bool:
    refused = re.search(r"\b(?:do not|don't|never|without|no)\b(?: \w+){0,2} (?:explain\w*|explanations?)\b", sentence)
    return refused is not None


def _short(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= _QUOTED else flat[: _QUOTED - 1].rstrip() + "…"
