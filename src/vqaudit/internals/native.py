"""The model's own readout, from stored states: what its output embedding says of the IDs.

Knows states, rows of the output embedding and which tokens are written as which ID. Knows no fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vqaudit.internals.material import Side
from vqaudit.records.states import ReadoutTable

__all__ = ["IDTokenPlan", "apply_softcap", "id_logits", "plan_ids"]

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class IDTokenPlan:
    """Which rows of the readout table are written as the ID at each position of each example."""

    table: ReadoutTable
    kinds: tuple[tuple[str, tuple[str, ...]], ...]
    """Distinct (ID set, IDs by position)."""
    kind: Ints
    """Which of them each example shows."""
    places: Ints
    """Kinds x positions x spellings: index of a row, -1 where there is none."""

    @property
    def of_examples(self) -> Ints:
        """Examples x positions x spellings."""
        return self.places[self.kind]


def plan_ids(side: Side) -> IDTokenPlan | None:
    """Returns which tokens are which IDs; None where a shown ID takes several tokens."""
    table = side.examples.store.readout
    shown = [(side.examples.id_sets[row], side.examples.option_ids[row]) for row in side.rows.tolist()]
    kinds = tuple(dict.fromkeys(shown))
    lists = [[table.places(id_set, option_id) for option_id in ids] for id_set, ids in kinds]
    if not all(places for ids in lists for places in ids):
        return None
    most = max(map(len, lists))
    longest = max(len(places) for ids in lists for places in ids)
    padded = np.full((len(kinds), most, longest), -1, dtype=np.int64)
    for kind, ids in enumerate(lists):
        for position, places in enumerate(ids):
            padded[kind, position, : len(places)] = places
    index = {kind: number for number, kind in enumerate(kinds)}
    return IDTokenPlan(table=table, kinds=kinds, kind=np.array([index[one] for one in shown]), places=padded)


def apply_softcap(logits: Floats, softcap: float | None) -> Floats:
    """Returns logits as the model's own cap leaves them."""
    return logits if softcap is None else (softcap * np.tanh(logits / softcap)).astype(logits.dtype)


def id_logits(token_logits: Floats, places: Ints) -> Floats:
    """Returns the score of the ID at each position: the log-sum over its spellings, as the records' scores.

    Args:
        token_logits: Examples x rows of the readout table.
        places: Examples x positions x spellings, -1 where there is none.

    Example:
        >>> scores = id_logits(np.array([[0.0, 0.0, 1.0]]), np.array([[[0, 1], [2, -1]]]))
        >>> scores.round(3).tolist()
        [[0.693, 1.0]]
    """
    gathered = np.take_along_axis(token_logits[:, None, :], np.maximum(places, 0), axis=2)
    gathered = np.where(places >= 0, gathered, -np.inf)
    with np.errstate(divide="ignore"):
        return np.logaddexp.reduce(gathered, axis=2)
