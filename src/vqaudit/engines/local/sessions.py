"""What answering asks of whoever computes: the next tokens after some rows, whatever is shared between them.

Knows rows and distributions. Knows no request and no event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import torch

from vqaudit.engines.base import Depth
from vqaudit.engines.local.images import Pictures
from vqaudit.engines.local.states import Caught

__all__ = ["Begin", "Cost", "Generated", "Row", "Session"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One sequence to compute."""

    token_ids: tuple[int, ...]
    pictures: Pictures | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Generated:
    """One greedy reply."""

    tokens: tuple[int, ...]
    """Without the end token."""
    ended: bool
    """Whether an end token came."""
    first: torch.Tensor = field(repr=False)
    """Log-probabilities of the first new token."""
    end_probabilities: tuple[float, ...]
    """Probability of an end token at each step."""
    finite: bool
    """Whether every distribution on the way was one."""


class Cost(NamedTuple):
    """Tokens behind one row's answers, padding not counted."""

    computed: int
    reused: int


class Session(Protocol):
    """Some rows whose next tokens are asked for. Distributions are float32 log-probabilities on the CPU."""

    def first(self) -> torch.Tensor:
        """Returns the distributions of the token after each row: rows x vocabulary."""
        ...

    def first_with_states(self, depth: Depth) -> Caught:
        """Returns the same, and the hidden states that they were made from; asked before anything else."""
        ...

    def after(self, wanted: Sequence[tuple[int, tuple[int, ...]]]) -> Iterator[tuple[int, torch.Tensor]]:
        """Yields the distributions after further tokens.

        Args:
            wanted: Index of a row, and at least one token behind it.

        Yields:
            The index into `wanted`, and one distribution after each of its tokens.
        """
        ...

    def generate(self, max_tokens: int) -> list[Generated]:
        """Returns the greedy reply to each row, at most `max_tokens` tokens."""
        ...

    def costs(self) -> list[Cost]:
        """Returns what each row has cost so far."""
        ...


Begin = Callable[[Sequence[Row]], Session]
"""Opens a session over some rows."""
