"""Requests -> batches: like with like, within a number of tokens.

Knows lengths. Knows no request and no model; the same lengths always give the same batches.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import torch

from vqaudit.errors import EngineError

__all__ = ["Batch", "BatchFailed", "Load", "Shared", "cut", "halving", "trouble_with"]

_T = TypeVar("_T")
_R = TypeVar("_R")
_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "cannot allocate memory")


class Shared(NamedTuple):
    """The beginning that the rows of a batch share."""

    chain: tuple[int, ...] = ()
    """Lengths of its links, each computed behind the one before; empty where nothing is shared."""
    fresh: int = 0
    """How many of its tokens no earlier batch has computed."""


class Batch(list[_T]):
    """Some requests and the beginning that their prompts share."""

    def __init__(self, members: Iterable[_T], shared: Shared = Shared()) -> None:  # noqa: B008
        super().__init__(members)
        self.shared = shared


class BatchFailed(EngineError):
    """A batch cannot be computed; a part of it may."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """What one request puts on a batch."""

    kind: Hashable
    """Only equal kinds share a batch."""
    length: int
    """Tokens of its row, new ones included."""


def cut(loads: Sequence[Load], *, token_budget: int, max_batch: int) -> list[list[int]]:
    """Returns batches of indices: by kind in order of first sight, by length, ties in the given order.

    Args:
        loads: One per request.
        token_budget: Most tokens of a batch, padding included. A load that is larger stands alone.
        max_batch: Most rows of a batch.

    Example:
        >>> loads = [Load(kind="ids", length=n) for n in (9, 4, 5)]
        >>> cut(loads, token_budget=10, max_batch=8)
        [[1, 2], [0]]
    """
    kinds = {load.kind: place for place, load in reversed(list(enumerate(loads)))}
    order = sorted(range(len(loads)), key=lambda i: (kinds[loads[i].kind], loads[i].length, i))
    batches: list[list[int]] = []
    for index in order:
        load = loads[index]
        rows = len(batches[-1]) + 1 if batches else 0
        fits = rows <= max_batch and rows * load.length <= token_budget
        if batches and fits and loads[batches[-1][0]].kind == load.kind:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def trouble_with(error: Exception) -> BatchFailed:
    """Returns what to do about an error of a batch: try a part of it.

    Raises:
        EngineError: The device is lost, so that no part can be computed either.
    """
    text = str(error).strip()
    if isinstance(error, torch.cuda.OutOfMemoryError | MemoryError) or any(s in text.lower() for s in _OUT_OF_MEMORY):
        return BatchFailed("out of memory, even alone")
    if "cuda error" in text.lower():
        raise EngineError(f"the device is lost; start again and the run will resume: {text}") from error
    return BatchFailed(f"the model cannot compute this request: {type(error).__name__}: {text}")


def halving(items: Sequence[_T], run: Callable[[Sequence[_T]], list[_R]], give_up: Callable[[_T, str], _R]) -> list[_R]:
    """Runs items together, and in halves whenever they fail together.

    Args:
        items: What to run.
        run: Returns one result per item, or raises `BatchFailed`.
        give_up: Makes the result of a single item that fails, from the item and the reason.
    """
    if not items:
        return []
    try:
        return run(items)
    except BatchFailed as failure:
        if len(items) == 1:
            return [give_up(items[0], str(failure))]
    middle = len(items) // 2
    return halving(items[:middle], run, give_up) + halving(items[middle:], run, give_up)
