"""Token sequences -> groups that share a beginning worth computing once.

Knows sequences of numbers. Knows no model and no request; the same sequences always give the same groups.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from vqaudit.engines.local.encoding import shared_prefix

__all__ = ["Group", "prefix_groups"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Sequences that are computed behind one shared beginning."""

    chain: tuple[int, ...]
    """Lengths of the beginnings that are computed one behind the other, the last being the group's own; empty where
    nothing is shared."""
    indices: tuple[int, ...]
    """Which of the given sequences, in sorted order."""

    @property
    def shared(self) -> int:
        """Tokens that the sequences share."""
        return self.chain[-1] if self.chain else 0


def prefix_groups(sequences: Sequence[Sequence[int]], *, call: int) -> list[Group]:
    """Cuts sequences into groups with a common beginning, nested where that saves more than it costs.

    Questions about one picture share the picture, and the variants of each share the question too: two levels, and
    the second is computed behind the first. A group splits off where the tokens that its members no longer repeat
    are more than two further calls of the model are worth. Every sequence keeps at least one token of its own.

    Args:
        sequences: Not empty, each of at least one token.
        call: How many tokens one call of the model is worth.

    Example:
        >>> groups = prefix_groups([(1, 2, 3, 4), (1, 2, 3, 5), (1, 9)], call=0)
        >>> [(group.chain, group.indices) for group in groups]
        [((1,), (2,)), ((1, 3), (0, 1))]
    """
    order = sorted(range(len(sequences)), key=lambda index: (tuple(sequences[index]), index))
    common = [shared_prefix(sequences[a], sequences[b]) for a, b in itertools.pairwise(order)]
    groups: list[Group] = []
    _split(_Run(sequences, order, common), (0, len(order)), (), call, groups)
    return groups


@dataclass(frozen=True, slots=True)
class _Run:
    sequences: Sequence[Sequence[int]]
    order: list[int]
    common: list[int]
    """Tokens that each sorted sequence shares with the next."""

    def shared(self, start: int, stop: int) -> int:
        """Tokens that sorted sequences share, at least one being left to each."""
        shortest = min(len(self.sequences[index]) for index in self.order[start:stop]) - 1
        return min([shortest, *self.common[start : stop - 1]])


def _split(run: _Run, span: tuple[int, int], chain: tuple[int, ...], call: int, groups: list[Group]) -> None:
    start, stop = span
    shared = run.shared(start, stop)
    if stop - start > 1 and shared > (chain[-1] if chain else 0):
        chain = (*chain, shared)
    own: list[int] = []
    # before the groups that go on from its beginning, so that this is still at hand for them
    place = len(groups)
    for low, high in _branches(run, start, stop, shared):
        saved = (high - low - 1) * (run.shared(low, high) - shared) if high - low > 1 else 0
        if (low, high) != span and saved > 2 * call:
            _split(run, (low, high), chain, call, groups)
        else:
            own += run.order[low:high]
    if own:
        groups.insert(place, Group(chain=chain, indices=tuple(own)))


def _branches(run: _Run, start: int, stop: int, shared: int) -> list[tuple[int, int]]:
    """Spans of sorted sequences that still agree behind what all share."""
    cuts = [place + 1 for place in range(start, stop - 1) if run.common[place] <= shared]
    edges = [start, *cuts, stop]
    return list(itertools.pairwise(edges))
