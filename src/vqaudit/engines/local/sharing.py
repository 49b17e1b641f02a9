"""Which requests of a window go into one batch, behind which shared beginning.

Knows prompts, loads and budgets. Computes nothing; the same window always gives the same batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vqaudit.engines.local.batching import Load, Shared, cut
from vqaudit.engines.local.branches import Network, Strategy
from vqaudit.engines.local.encoding import Prompt
from vqaudit.engines.local.grouping import Group, prefix_groups

__all__ = ["Budget", "SharingPlan", "Slot"]

_LEFT = 4
"""Last tokens of a prompt that stay with what follows it, which may merge with them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """One request as it is placed."""

    prompt: Prompt
    digests: tuple[str, ...]
    """Its pictures, in their order."""
    load: Load
    continues: bool
    """Whether more than one continuation of the prompt is computed, so that even one prompt shares its own tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """What a batch may take."""

    tokens: int
    """Most tokens that are computed at once, padding included."""
    rows: int
    kv_tokens: int
    """Most tokens whose keys and values are held at once."""
    call: int
    """How many tokens one call of the model is worth."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SharingPlan:
    """Cuts windows of requests into batches.

    Args:
        budget: What a batch may take.
        image_tokens: Token IDs that stand for a part of a picture.
        network: The model, if it shares beginnings; None where every row is computed whole.
        strategy: How rows see a shared beginning.
    """

    budget: Budget
    image_tokens: frozenset[int]
    network: Network | None
    strategy: Strategy | None

    def batches(self, slots: Sequence[Slot | None]) -> list[tuple[list[int], Shared]]:
        """Returns batches of indices with the beginning that each shares; None is a request without a prompt."""
        placed: list[tuple[list[int], Shared]] = []
        alone = [index for index, slot in enumerate(slots) if slot is None]
        by_pictures: dict[tuple[str, ...], list[int]] = {}
        for index, slot in enumerate(slots):
            if slot is not None:
                by_pictures.setdefault(slot.digests, []).append(index)
        for members in by_pictures.values():
            chosen = [slot for slot in (slots[index] for index in members) if slot is not None]
            known: set[tuple[int, ...]] = set()
            for group in self._groups(chosen):
                indices = [members[place] for place in group.indices]
                if group.chain:
                    placed += self._behind(slots, indices, chosen[group.indices[0]], group.chain, known)
                    continue
                for place, index in zip(group.indices, indices, strict=True):
                    chain = self._own_chain(chosen[place])
                    if chain:
                        placed.append(([index], Shared(chain, chain[-1])))
                    else:
                        alone.append(index)
        return placed + [(batch, Shared()) for batch in self._cut(slots, sorted(alone), 0)]

    def _behind(
        self,
        slots: Sequence[Slot | None],
        indices: Sequence[int],
        one: Slot,
        chain: tuple[int, ...],
        known: set[tuple[int, ...]],
    ) -> list[tuple[list[int], Shared]]:
        """Cuts a group; its first batch pays for the links that no group before it has computed."""
        fresh = 0
        for before, length in pairwise((0, *chain)):
            link = one.prompt.token_ids[:length]
            fresh += 0 if link in known else length - before
            known.add(link)
        cuts = self._cut(slots, indices, chain[-1])
        return [(batch, Shared(chain, 0 if number else fresh)) for number, batch in enumerate(cuts)]

    def together(self, slots: Sequence[Slot]) -> Shared:
        """Returns the beginning of requests that are to be computed together, whatever they share."""
        chain = self._common_chain(slots)
        return Shared(chain, chain[-1]) if chain else Shared()

    def _common_chain(self, slots: Sequence[Slot]) -> tuple[int, ...]:
        if self.network is None or len({slot.digests for slot in slots}) > 1:
            return ()
        if len(slots) == 1:
            return self._own_chain(slots[0])
        first, last = min(s.prompt.token_ids for s in slots), max(s.prompt.token_ids for s in slots)
        groups = prefix_groups([first, last], call=max(len(first), len(last)))
        group = Group(chain=groups[0].chain, indices=tuple(range(len(slots))))
        return self._checked(group, slots).chain

    def _own_chain(self, slot: Slot) -> tuple[int, ...]:
        """The chain of a prompt that shares nothing with others; a few tokens are left, which a text may merge with."""
        if self.network is None or not slot.continues:
            return ()
        length = len(slot.prompt.token_ids) - _LEFT
        if length < 1 or self._image_behind(slot, length) or not self.network.same_regime(length, slot.load.length):
            return ()
        return (length,)

    def _groups(self, slots: Sequence[Slot]) -> list[Group]:
        if self.network is None:
            return [Group(chain=(), indices=tuple(range(len(slots))))]
        groups = prefix_groups([slot.prompt.token_ids for slot in slots], call=self.budget.call)
        return [self._checked(group, slots) for group in groups]

    def _checked(self, group: Group, slots: Sequence[Slot]) -> Group:
        """Drops beginnings that pictures reach beyond, and those that save little."""
        assert self.network is not None
        members = [slots[index] for index in group.indices]
        longest = max(slot.load.length for slot in members)
        chain = tuple(
            length
            for length in group.chain
            if not self._image_behind(members[0], length) and self.network.same_regime(length, longest)
        )
        shared = chain[-1] if chain else 0
        saves = (len(members) - 1) * shared > self.budget.call
        whole = not any(self._image_behind(slot, shared) for slot in members)
        return Group(chain=chain if saves and whole else (), indices=group.indices)

    def _image_behind(self, slot: Slot, length: int) -> bool:
        return bool(slot.digests) and not self.image_tokens.isdisjoint(slot.prompt.token_ids[length:])

    def _cut(self, slots: Sequence[Slot | None], indices: Sequence[int], shared: int) -> list[list[int]]:
        loads = [self._load(slots[index], shared) for index in indices]
        longest = max((load.length for load in loads), default=1)
        held = longest + (shared if self.strategy == "expanded" else 0)
        rows = max(1, min(self.budget.rows, self.budget.kv_tokens // held))
        cuts = cut(loads, token_budget=self.budget.tokens, max_batch=rows)
        return [[indices[place] for place in batch] for batch in cuts]

    @staticmethod
    def _load(slot: Slot | None, shared: int) -> Load:
        if slot is None:
            return Load(kind="bad input", length=1)
        return Load(kind=slot.load.kind, length=slot.load.length - shared)
