"""How a multiple-choice question is asked and scored, in words that every harness shares.

Knows strings. Knows no harness and no rule. Readers of files make it, rules judge it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from vqaudit.lint.finding import Place
from vqaudit.lint.requests import Kind, Request, requests_in

__all__ = ["IMMEDIATE", "Dead", "Description", "Event", "Limit", "Part", "Reader", "Scored", "Text"]

Event = Literal["reply", "id-scores", "rationale-scores", "forced-token", "option-likelihood", "generation"]
"""The words of `vqaudit`'s own interfaces; a harness's names are translated."""
IMMEDIATE: tuple[Event, ...] = ("id-scores", "forced-token", "option-likelihood")
"""Events that are scored at the very next token, before anything is generated."""
Part = Literal["system", "earlier", "instruction", "question", "ending", "prefill"]
"""`earlier` is a turn before the one that is scored: it cannot contradict it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A piece of a prompt, in the order in which the model reads it."""

    words: str
    part: Part
    place: Place
    certain: bool = True
    """False where code decides from the row or the model whether it is shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """Which strings are compared or scored."""

    kind: Literal["ids", "texts", "cut texts"]
    """Option IDs, the options' texts, or texts that are cut at a full stop."""
    place: Place
    strings: tuple[str, ...] = ()
    """Where they are written out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """A pattern that takes the answer out of a reply."""

    pattern: str
    place: Place
    last: bool = False
    """Whether the last match counts, not the first."""
    sole: bool = True
    """False where it is one of several that code tries."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """How many new tokens may be generated."""

    tokens: int
    place: Place
    stated: bool = True
    """False where nothing is stated and the harness's default holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dead:
    """A setting that nothing reads."""

    words: str
    """Its key and value."""
    place: Place
    shared: bool = False
    """Whether it stands in a file that other tasks include, which may read it."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """One complete way to ask and to score; what is not known is None or empty."""

    name: str
    place: Place
    """Where the event is stated."""
    event: Event | None
    texts: tuple[Text, ...] = ()
    scored: Scored | None = None
    ids_shown: tuple[str, ...] | None = None
    """IDs before the options: empty where there are none, None where it cannot be told."""
    limit: Limit | None = None
    stops: tuple[str, ...] = ()
    stops_place: Place | None = None
    readers: tuple[Reader, ...] = ()
    whole_string: Place | None = None
    """Where it says that the whole reply must equal the answer."""
    guesses: Place | None = None
    """Where a reply that cannot be read gets a random answer."""
    thinking: Place | None = None
    """Where a thinking mode is switched on."""
    fewshot: bool = False
    dead: tuple[Dead, ...] = ()
    variant: str | None = None
    variants: tuple[str, ...] = ()
    """Model names that get a prompt of their own."""

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """What the prompt asks the model to write, in prompt order."""
        last = max((place for place, text in enumerate(self.texts) if text.words.strip()), default=-1)
        return tuple(
            replace(found, text=place)
            for place, text in enumerate(self.texts)
            for found in requests_in(text.words, last=place == last)
        )

    def asked(self, *kinds: Kind, possible: bool = False) -> Iterator[tuple[Request, Text]]:
        """Yields the requests of these kinds with their texts.

        Args:
            *kinds: Kinds of request.
            possible: Also those that only some rows or models may see.
        """
        for request in self.requests:
            text = self.texts[request.text]
            if request.kind in kinds and (possible or text.certain):
                yield request, text

    def first(self, *kinds: Kind, possible: bool = False) -> tuple[Request, Text] | None:
        """Returns the first such request, or None."""
        return next(self.asked(*kinds, possible=possible), None)
