"""Option IDs -> tokens: how each can be written after a prompt, and what one position can tell.

Knows strings and tokens. Knows no probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from vqaudit.engines.local.control import ControlTokens
from vqaudit.engines.local.encoding import Prompt, shared_prefix
from vqaudit.engines.local.vocabulary import Vocabulary

__all__ = ["IDPlan", "IDTokens", "Tokens"]

Tokens = tuple[int, ...]
_KEPT_PLANS = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class IDPlan:
    """How the shown IDs can be written at one place. Lists are by position."""

    option_ids: tuple[str, ...]
    singles: tuple[Tokens, ...]
    """Single tokens that read, stripped, as the ID."""
    in_place: tuple[Tokens | None, ...]
    """What the tokenizer makes of the ID at this place; None where it merges with the prompt's own end."""
    sequences: tuple[tuple[Tokens, ...], ...]
    """Every way to write the ID that is counted: single tokens, and what the tokenizer makes of it with and
    without a blank before it. None begins with another of the same ID."""
    extending: tuple[frozenset[int], ...]
    """Tokens that, right after the ID, carry it on towards another shown ID."""
    contexts: tuple[Tokens, ...] = ()
    """Tokens after the prompt behind which a further distribution is needed; none begins another."""

    @property
    def one_position(self) -> bool:
        """Whether every ID is written as one token, so that the next token alone decides."""
        written = zip(self.singles, self.in_place, strict=True)
        return all(singles and (place is None or len(place) == 1) for singles, place in written)

    @property
    def first_only(self) -> IDPlan:
        """The same read off the next token alone, whatever would extend an ID."""
        return replace(self, extending=tuple(frozenset() for _ in self.option_ids), contexts=())

    @property
    def needs_sequences(self) -> bool:
        """Whether an ID's probability takes more than the next token."""
        return not self.one_position or any(self.extending)


class IDTokens:
    """Writes option IDs after prompts.

    Args:
        control: Encodes text.
        vocabulary: What tokens read as.
    """

    def __init__(self, control: ControlTokens, vocabulary: Vocabulary) -> None:
        self._control = control
        self._vocabulary = vocabulary
        self._plan = lru_cache(maxsize=_KEPT_PLANS)(self._make_plan)
        self._after = lru_cache(maxsize=_KEPT_PLANS)(self._encode_after)
        self._extending = lru_cache(maxsize=_KEPT_PLANS)(self._find_extending)

    def plan(self, option_ids: Sequence[str], prompt: Prompt) -> IDPlan:
        """Returns how the IDs can be written after a prompt; the same object for prompts that end alike."""
        return self._plan(tuple(option_ids), prompt.tail, prompt.lead)

    def emitted(self, vocabulary: Sequence[str], prompt: Prompt) -> int:
        """Returns the most tokens that any of the IDs takes as the model emits it: in place, with the blank."""
        written = self._after(prompt.tail, tuple(prompt.lead + option_id for option_id in vocabulary))
        return max(len(tokens) for tokens, _ in written)

    def paper(self, vocabulary: Sequence[str]) -> int:
        """Returns the most tokens of any bare ID, without special tokens or a blank that the tokenizer adds."""
        return max(len(tokens) for tokens in self.bare(vocabulary))

    def bare(self, option_ids: Sequence[str]) -> list[Tokens]:
        """Returns the tokens of each ID on its own."""
        return [tokens for tokens, _ in self._after("\n", tuple(option_ids))]

    def first_tokens(self, words: Sequence[str], prompt: Prompt) -> frozenset[int]:
        """Returns the tokens with which the words can begin after a prompt, but for mere white space."""
        written = self._after(prompt.tail, tuple(f"{blank}{word}" for word in words for blank in ("", " ")))
        first = {tokens[0] for tokens, whole in written if whole and tokens}
        return frozenset(token for token in first if self._vocabulary.text(token).strip())

    def watched(self, words: Sequence[str], plan: IDPlan, prompt: Prompt) -> frozenset[int]:
        """Returns the tokens with which watched words can begin after a prompt, but for those that are a shown ID."""
        shown = frozenset(token for singles in plan.singles for token in singles)
        return self.first_tokens(words, prompt) - shown

    def describe(self, option_ids: Sequence[str], prompt: Prompt) -> dict[str, Any]:
        """Returns, for each ID, how it is tokenised after a prompt, in words and JSON values."""
        plan = self.plan(option_ids, prompt)
        bare = self.bare(option_ids)
        return {
            option_id: {
                **self._describe_one(plan, index, bare[index]),
                "budget": {"emitted": self.emitted([option_id], prompt), "paper": self.paper([option_id])},
            }
            for index, option_id in enumerate(option_ids)
        }

    def _describe_one(self, plan: IDPlan, index: int, bare: Tokens) -> dict[str, Any]:
        option_id, in_place = plan.option_ids[index], plan.in_place[index]
        others = [other for other in plan.option_ids if other != option_id]
        first = None if in_place is None else in_place[0]
        alike = [
            other
            for other, place in zip(plan.option_ids, plan.in_place, strict=True)
            if other != option_id and place is not None and place[0] == first
        ]
        return {
            "bare": self._pieces(bare),
            "in_place": None if in_place is None else self._pieces(in_place),
            "in_place_ids": None if in_place is None else list(in_place),
            "spellings": [self._vocabulary.text(token) for token in plan.singles[index]],
            "spelling_ids": list(plan.singles[index]),
            "single_token": bool(plan.singles[index]) and (in_place is None or len(in_place) == 1),
            "extended_by": [other for other in others if other.startswith(option_id)],
            "same_first_token": alike,
            "distinguishable_at_first_position": not alike,
        }

    def _pieces(self, tokens: Tokens) -> list[str]:
        return [self._vocabulary.text(token) for token in tokens]

    def _make_plan(self, option_ids: tuple[str, ...], tail: str, lead: str) -> IDPlan:
        singles = tuple(self._vocabulary.spellings(option_id) for option_id in option_ids)
        led = self._after(tail, tuple(lead + option_id for option_id in option_ids))
        in_place = tuple(tokens if whole else None for tokens, whole in led)
        written = {blank: self._after(tail, tuple(blank + i for i in option_ids)) for blank in ("", " ")}
        sequences = []
        for index in range(len(option_ids)):
            ways = {(token,) for token in singles[index]}
            ways |= {tokens for both in written.values() for tokens, whole in (both[index],) if whole}
            sequences.append(_without_longer(ways) or (self.bare(option_ids)[index],))
        plan = IDPlan(
            option_ids=option_ids,
            singles=singles,
            in_place=in_place,
            sequences=tuple(sequences),
            extending=self._extending(option_ids),
        )
        return replace(plan, contexts=_contexts(plan)) if plan.needs_sequences else plan

    def _encode_after(self, tail: str, texts: tuple[str, ...]) -> tuple[tuple[Tokens, bool], ...]:
        """Tokens of each text after a tail, and whether they leave the tail's own tokens as they are."""
        marked = [tail, *(tail + self._control.mark(text) for text in texts)]
        before, *joint = (tuple(ids) for ids in self._control.encode(marked))
        shared = [shared_prefix(before, ids) for ids in joint]
        return tuple((ids[n:], n == len(before)) for ids, n in zip(joint, shared, strict=True))

    def _find_extending(self, option_ids: tuple[str, ...]) -> tuple[frozenset[int], ...]:
        return tuple(
            frozenset().union(
                *(self._vocabulary.continuing(o[len(i) :]) for o in option_ids if o != i and o.startswith(i))
            )
            for i in option_ids
        )


def _contexts(plan: IDPlan) -> tuple[Tokens, ...]:
    """The proper beginnings of all sequences, and whole sequences that could be extended; the longest of each."""
    wanted = {way[:n] for ways in plan.sequences for way in ways for n in range(1, len(way))}
    for ways, extending in zip(plan.sequences, plan.extending, strict=True):
        wanted |= set(ways) if extending else set()
    return tuple(sorted(one for one in wanted if not any(_begins(one, other) for other in wanted)))


def _begins(beginning: Tokens, whole: Tokens) -> bool:
    return len(beginning) < len(whole) and whole[: len(beginning)] == beginning


def _without_longer(ways: set[Tokens]) -> tuple[Tokens, ...]:
    """Drops what begins with another way: its probability is within the other's."""
    return tuple(sorted(way for way in ways if not any(_begins(other, way) for other in ways)))
