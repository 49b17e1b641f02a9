"""Shared beginnings, each computed once and kept while it is used.

Knows token IDs, pictures and how long each link of a chain is. Knows no request. What comes back depends on tokens,
pictures and chain alone, not on what was computed before, so that an interrupted run goes on with the same numbers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from vqaudit.engines.local.branches import Branch, Network, Prefix, Strategy
from vqaudit.engines.local.sessions import Row

__all__ = ["PrefixStore"]

_KEPT_LINKS = 4
"""Beginnings that are held: few, since each takes memory, and those that go on from one come right behind it."""
_Key = tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]


class PrefixStore:
    """Computes beginnings and keeps the last ones.

    Args:
        network: The model.
        prefill: Computes a row from nothing and returns it as a beginning.
        strategy: How one link of a chain sees the one before.
    """

    def __init__(self, network: Network, prefill: Callable[[Row], Prefix], strategy: Strategy) -> None:
        self._network = network
        self._prefill = prefill
        self._strategy: Strategy = strategy
        self._kept: OrderedDict[_Key, Prefix] = OrderedDict()

    def get(self, row: Row, chain: tuple[int, ...]) -> Prefix:
        """Returns the beginning of a row up to the chain's last length."""
        digests = () if row.pictures is None else row.pictures.digests
        key = digests, row.token_ids[: chain[-1]], chain
        if key not in self._kept:
            self._kept[key] = self._compute(row, chain)
        self._kept.move_to_end(key)
        while len(self._kept) > _KEPT_LINKS:
            self._kept.popitem(last=False)
        return self._kept[key]

    def _compute(self, row: Row, chain: tuple[int, ...]) -> Prefix:
        length = chain[-1]
        if len(chain) == 1:
            return self._prefill(Row(token_ids=row.token_ids[:length], pictures=row.pictures))
        before = self.get(row, chain[:-1])
        branch = Branch(self._network, before, 1, self._strategy)
        branch.step([row.token_ids[before.length : length]])
        return branch.as_prefix()
