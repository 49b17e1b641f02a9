"""Hidden states beside the records: what `states/` of a run directory holds.

Knows arrays by trial and attempt. Knows no model. A part of states has the name of the part of records that it goes
with and is written before it, so that whatever is killed, a record on the disk has its states on the disk; a part
that a kill left without its records is replaced by the next one of that name.

Values are float32: whatever a model computes in (float32, bfloat16, float16) is kept exactly, and states of half
precision still take about two bytes a value, since their low bytes are zeros that compress away.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from vqaudit.errors import RecordError
from vqaudit.records.files import write_text, write_whole

__all__ = ["STATES_FOLDER", "ReadoutTable", "StateStore", "read_readout", "write_readout", "write_states"]

STATES_FOLDER = "states"
_ABOUT = "readout.json"
_ROWS = "readout.parquet"
_KEY = pa.schema([pa.field("trial", pa.string(), nullable=False), pa.field("attempt", pa.int32(), nullable=False)])
_LENS = pa.schema(
    [
        ("lens_id_logprobs", pa.list_(pa.list_(pa.float32()))),
        ("lens_id_ranks", pa.list_(pa.list_(pa.int32()))),
        ("lens_id_mass", pa.list_(pa.float32())),
        ("lens_watch_mass", pa.list_(pa.float32())),
    ]
)
"""By layer from 0 (and by position): what the layer says of the shown IDs through final norm and output embedding."""

Floats = NDArray[np.float32]


def write_states(run: Path, name: str, records: Sequence[Mapping[str, Any]]) -> None:
    """Writes the states of some records as one part; does nothing where none has any.

    Args:
        run: The run directory.
        name: File name of the part that will hold the records.
        records: Rows with `trial`, `attempt` and, where states are kept, `states`: `values` (layers x width) and the
            columns of the lens.

    Raises:
        RecordError: The disk is full or not writable.
    """
    kept = [record for record in records if record.get("states") is not None]
    if not kept:
        return
    values = np.stack([record["states"]["values"] for record in kept]).astype(np.float32)
    layers = _layer_names(values.shape[1])
    keys = pa.Table.from_pylist([{name: row[name] for name in _KEY.names} for row in kept], schema=_KEY)
    lens = pa.Table.from_pylist([dict(row["states"]) for row in kept], schema=_LENS)
    table = pa.table(
        {column: keys[column] for column in _KEY.names}
        | {layer: _fixed(values[:, place]) for place, layer in enumerate(layers)}
        | {column: lens[column] for column in _LENS.names}
    )
    write_whole(run / STATES_FOLDER / name, lambda handle: _write(table, layers, handle))


def _write(table: pa.Table, layers: Sequence[str], handle: Any) -> None:
    split = [f"{layer}.list.element" for layer in layers]
    pq.write_table(
        table,
        handle,
        compression="zstd",
        use_dictionary=False,
        use_byte_stream_split=split,  # pyright: ignore[reportArgumentType]
        write_page_checksum=True,
    )


def _layer_names(count: int) -> list[str]:
    return [f"layer_{layer}" for layer in range(count - 1)] + ["last"]


def _fixed(values: Floats) -> pa.FixedSizeListArray:
    flat = pa.array(np.ascontiguousarray(values).reshape(-1), pa.float32())
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


class _About(BaseModel):
    model_config = ConfigDict(extra="forbid")

    depth: str
    layers: int
    width: int
    softcap: float | None = None
    id_sets: dict[str, dict[str, tuple[int, ...]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadoutTable:
    """How the model of a run reads IDs off its last state."""

    depth: str
    """`last` or `all`: whose states are kept."""
    layers: int
    """Number of the last layer."""
    width: int
    id_sets: Mapping[str, Mapping[str, tuple[int, ...]]]
    """ID set -> ID -> every single token that is written as it; empty where it takes several."""
    token_ids: NDArray[np.int64]
    rows: Floats
    """Tokens x width: rows of the output embedding."""
    biases: Floats
    softcap: float | None = None

    def places(self, id_set: str, option_id: str) -> list[int]:
        """Returns which of the rows are written as an ID."""
        index = {int(token): place for place, token in enumerate(self.token_ids)}
        return [index[token] for token in self.id_sets.get(id_set, {}).get(option_id, ())]


def write_readout(run: Path, table: ReadoutTable) -> None:
    """Writes `states/readout.json` and `states/readout.parquet`, each whole."""
    about = _About(
        depth=table.depth,
        layers=table.layers,
        width=table.width,
        softcap=table.softcap,
        id_sets={name: dict(ids) for name, ids in table.id_sets.items()},
    )
    rows = pa.table({"token_id": table.token_ids, "bias": table.biases, "row": _fixed(table.rows)})
    write_whole(run / STATES_FOLDER / _ROWS, lambda handle: pq.write_table(rows, handle, compression="zstd"))
    write_text(run / STATES_FOLDER / _ABOUT, about.model_dump_json(indent=1) + "\n")


def read_readout(run: Path) -> ReadoutTable:
    """Returns how the model of a run reads IDs.

    Raises:
        RecordError: The run keeps no states, or the files are damaged.
    """
    folder = run / STATES_FOLDER
    if not (folder / _ABOUT).exists():
        raise RecordError(
            f"{run} keeps no hidden states; ask again with --keep-states last (or all), into another directory"
        )
    try:
        about = _About.model_validate(json.loads((folder / _ABOUT).read_text(encoding="utf-8")))
        rows = pq.read_table(folder / _ROWS)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise RecordError(f"{folder} holds no readable readout: {error}") from error
    return ReadoutTable(
        depth=about.depth,
        layers=about.layers,
        width=about.width,
        softcap=about.softcap,
        id_sets=about.id_sets,
        token_ids=rows["token_id"].to_numpy(),
        rows=_matrix(rows["row"]),
        biases=rows["bias"].to_numpy(),
    )


class Stored(NamedTuple):
    """States of some trials at one layer."""

    found: NDArray[np.bool_]
    """Which of the trials have states."""
    values: Floats
    """Those that have: rows x width."""


class StateStore:
    """The states of a run, read layer by layer.

    Args:
        run: The run directory.

    Raises:
        RecordError: The run keeps no states.
    """

    def __init__(self, run: Path) -> None:
        self.readout = read_readout(run)
        folder = run / STATES_FOLDER
        self._parts = sorted(
            path for path in folder.glob("*.parquet") if path.name != _ROWS and not path.name.startswith(".")
        )

    @property
    def layers(self) -> list[int]:
        """The layers that are kept, by their numbers."""
        last = self.readout.layers
        return list(range(last + 1)) if self.readout.depth == "all" else [last]

    def read(self, trials: pl.DataFrame, layer: int) -> Stored:
        """Returns the states of trials at one layer, in the order of the trials.

        Args:
            trials: With the columns `trial` and `attempt`: the visible records.
            layer: One of `layers`.

        Raises:
            RecordError: A part is damaged or lacks the layer.
        """
        column = "last" if layer == self.readout.layers else f"layer_{layer}"
        parts = [self._load(path, [*_KEY.names, column]) for path in self._parts]
        if not parts:
            return Stored(np.zeros(trials.height, dtype=bool), np.zeros((0, self.readout.width), dtype=np.float32))
        table = pa.concat_tables(parts)
        places = self._places(table, trials)
        values = _matrix(table[column])
        found = places >= 0
        return Stored(found, values[places[found]])

    def lens(self, trials: pl.DataFrame) -> pl.DataFrame:
        """Returns the columns of the lens for trials, in their order; null where there is none.

        Args:
            trials: With the columns `trial` and `attempt`: the visible records.
        """
        parts = [self._load(path, [*_KEY.names, *_LENS.names]) for path in self._parts]
        table = pa.concat_tables(parts) if parts else pa.schema([*_KEY, *_LENS]).empty_table()
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        newest = frame.unique(subset=_KEY.names, keep="last", maintain_order=True)
        return trials.select("trial", "attempt").join(
            newest, on=["trial", "attempt"], how="left", maintain_order="left"
        )

    def _load(self, path: Path, columns: Sequence[str]) -> pa.Table:
        try:
            return pq.read_table(path, columns=list(columns), page_checksum_verification=True)
        except (OSError, pa.ArrowException, KeyError) as error:
            raise RecordError(f"{path} is not a readable part of states: {error}") from error

    @staticmethod
    def _places(table: pa.Table, trials: pl.DataFrame) -> NDArray[np.int64]:
        """Row of the table for each trial, the last where there are several; -1 where there is none."""
        keys = pl.from_arrow(table.select(_KEY.names))
        assert isinstance(keys, pl.DataFrame)
        rows = keys.with_row_index("row").unique(subset=_KEY.names, keep="last", maintain_order=True)
        joined = trials.select("trial", "attempt").join(
            rows, on=["trial", "attempt"], how="left", maintain_order="left"
        )
        return joined["row"].cast(pl.Int64).fill_null(-1).to_numpy()


def _matrix(column: pa.ChunkedArray) -> Floats:
    lists = column.combine_chunks()
    width = lists.type.list_size
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
