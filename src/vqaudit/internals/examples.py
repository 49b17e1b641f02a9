"""The trials of a run whose states are kept, condition by condition, in one common order.

Knows records and states. Knows no fit. A condition is an interface that scores IDs at the next token; compared
conditions are taken over the same items in the same formats and orders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vqaudit.analysis.frame import analysis_frame
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables
from vqaudit.records.states import StateStore

__all__ = ["DIRECT", "Examples", "load_examples"]

DIRECT = ("bare-scores", "direct-scores")
"""Which condition is paper 2's Direct, the first that a run has."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, slots=True)
class Examples:
    """Rows that all conditions share; arrays are in their order."""

    tables: RunTables
    store: StateStore
    conditions: tuple[str, ...]
    """Names of interfaces; Direct first where there is one."""
    clusters: Ints
    """Codes of groups of items that depend on one another."""
    items: tuple[str, ...]
    n_options: Ints
    target: Ints
    """Position of the right option."""
    id_sets: tuple[str, ...]
    option_ids: tuple[tuple[str, ...], ...]
    """The IDs shown, by position."""
    native: Mapping[str, Ints]
    """Condition -> position that the model's own scores chose; -1 where they chose none."""
    left_out: int
    """Rows that not all conditions have, that failed, or whose right option is not known."""
    _trials: Mapping[str, pl.DataFrame] = field(repr=False)

    def __len__(self) -> int:
        return len(self.target)

    @property
    def direct(self) -> str | None:
        """The condition that is paper 2's Direct, or None."""
        return next((name for name in DIRECT if name in self.conditions), None)

    @property
    def layers(self) -> list[int]:
        """Layers whose states are kept."""
        return self.store.layers

    @property
    def last_layer(self) -> int:
        """The layer that the output embedding multiplies."""
        return self.store.readout.layers

    def states(self, condition: str, layer: int | None = None) -> Floats:
        """Returns the states of one condition at a layer (the last where None): rows x width."""
        wanted = self.last_layer if layer is None else layer
        stored = self.store.read(self._trials[condition], wanted)
        if not stored.found.all():
            raise AnalysisError(
                f"{self.tables.path}: {int((~stored.found).sum())} of {len(self)} trials of {condition} have no "
                f"states at layer {wanted}; states/ is incomplete"
            )
        return stored.values

    def trials(self, condition: str) -> pl.DataFrame:
        """Returns trial and attempt of one condition."""
        return self._trials[condition]


def load_examples(tables: RunTables, conditions: Sequence[str] | None = None) -> Examples:
    """Returns the examples of a run.

    Args:
        tables: The run.
        conditions: Interfaces that must be there; None for all that score IDs at the next token.

    Raises:
        AnalysisError: A condition is missing, or the conditions share no trial.
        RecordError: The run keeps no states.
    """
    store = StateStore(tables.path)
    frame = analysis_frame(tables).filter(pl.col("event") == "id-scores")
    known = frame["interface"].cast(pl.String).unique().to_list()
    names = _ordered(known if conditions is None else conditions)
    if missing := [name for name in names if name not in known]:
        raise AnalysisError(
            f"{tables.path} has no ID scores of {', '.join(missing)}; it has {', '.join(sorted(known)) or 'none'}"
        )
    extra = tables.trials.select("trial", "attempt", "option_ids", item_name="item")
    rows = frame.join(extra, on="trial", how="left", maintain_order="left")
    usable = rows.filter(~pl.col("failed"), pl.col("answer_position").is_not_null())
    usable = usable.filter(pl.Series(store.read(usable, store.readout.layers).found))
    parts = _aligned(usable, names)
    first = parts[names[0]]
    if not first.height:
        raise AnalysisError(f"{tables.path}: {', '.join(names)} share no trial with a known answer and kept states")
    every = max(frame.filter(pl.col("interface") == name).height for name in names)
    return Examples(
        tables=tables,
        store=store,
        conditions=tuple(names),
        clusters=first["cluster_code"].cast(pl.Int64).to_numpy(),
        items=tuple(first["item_name"].to_list()),
        n_options=first["n_options"].cast(pl.Int64).to_numpy(),
        target=first["answer_position"].cast(pl.Int64).to_numpy(),
        id_sets=tuple(first["id_set"].cast(pl.String).to_list()),
        option_ids=tuple(map(tuple, first["option_ids"].to_list())),
        native={name: part["position"].cast(pl.Int64).fill_null(-1).to_numpy() for name, part in parts.items()},
        left_out=every - first.height,
        _trials={name: part.select("trial", "attempt") for name, part in parts.items()},
    )


def _ordered(names: Sequence[str]) -> list[str]:
    direct = [name for name in DIRECT if name in names]
    return direct + sorted(name for name in set(names) if name not in direct)


def _aligned(rows: pl.DataFrame, names: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The rows of each condition whose item, format and orders all of them have, sorted alike."""
    keys = ["item_code", "variant_code"]
    mine = rows.filter(pl.col("interface").cast(pl.String).is_in(names))
    shared = mine.group_by(keys).agg(pl.col("interface").n_unique().alias("_n")).filter(pl.col("_n") == len(names))
    kept = mine.join(shared.select(keys), on=keys, how="semi").sort(keys)
    return {name: kept.filter(pl.col("interface") == name) for name in names}
