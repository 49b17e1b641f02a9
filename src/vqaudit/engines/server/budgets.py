"""How many tokens an exact reply may have, as far as a server lets one count them.

Knows token counts. Knows no reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from vqaudit.engines.base import Reply
from vqaudit.errors import EngineReplyError

__all__ = ["Budgets", "Count", "counted"]

Count = Callable[[str], Awaitable[int]]
"""Tokens of a text, as the server's tokenizer makes them."""


class Budgets:
    """Resolves `emitted` and `paper`; each ID is counted once.

    Where a server does not tokenise, an ID is taken to need as many tokens as it has characters: one for a letter or
    a digit, two for `10`, up to four for `viii`.

    Args:
        count: Counts a text's tokens; None where the server does not.
    """

    def __init__(self, count: Count | None) -> None:
        self._count = count
        self._known: dict[str, tuple[int, int]] = {}
        self._lock = asyncio.Lock()

    async def of(self, event: Reply) -> int:
        """Returns the budget of an event: the most tokens that any ID of its vocabulary needs."""
        if isinstance(event.budget, int):
            return event.budget
        needed = [await self._tokens(option_id) for option_id in event.vocabulary]
        return max(emitted if event.budget == "emitted" else bare for emitted, bare in needed)

    async def describe(self, option_ids: Sequence[str]) -> dict[str, Any]:
        """Returns, for each ID, its budgets and how they were found."""
        how = "counted by the server" if self._count else "one token per character: the server does not tokenise"
        found: dict[str, Any] = {}
        for option_id in option_ids:
            emitted, bare = await self._tokens(option_id)
            found[option_id] = {"budget": {"emitted": emitted, "paper": bare}, "how": how}
        return found

    async def _tokens(self, option_id: str) -> tuple[int, int]:
        async with self._lock:
            if option_id not in self._known:
                self._known[option_id] = await self._find(option_id)
            return self._known[option_id]

    async def _find(self, option_id: str) -> tuple[int, int]:
        if self._count is None:
            return len(option_id), len(option_id)
        # Some servers put a begin token before every text; in place, the two texts have it both.
        extra = await self._count("A") - 1
        in_place = await self._count(f"\n{option_id}") - await self._count("\n")
        return max(1, in_place), max(1, await self._count(option_id) - extra)


def counted(answer: Any) -> int:
    """Returns the number of tokens in a tokenizer's answer.

    Raises:
        EngineReplyError: It holds no list of tokens.
    """
    tokens = answer.get("tokens") if isinstance(answer, Mapping) else None
    if not isinstance(tokens, list):
        raise EngineReplyError("the server's tokenizer answered without a list of tokens")
    return len(tokens)
