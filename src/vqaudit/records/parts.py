"""Trial records on the disk: appended as whole parts, and read while they are written.

Knows parts and their names. Knows no engine, no prompt and no statistic.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from vqaudit.errors import RecordError
from vqaudit.records.files import as_frame, load_table, write_table
from vqaudit.records.schemas import TRIAL_SCHEMA
from vqaudit.records.states import write_states

__all__ = [
    "COMPACTED",
    "REPEATS",
    "REPLACES",
    "PartWriter",
    "compacted_parts",
    "fold_trials",
    "list_parts",
    "read_parts",
    "read_trials",
    "replaced_by",
    "trial_parts",
    "worker_trials",
]

T = TypeVar("T")

COMPACTED = "compact"
"""Worker name of parts that compaction wrote."""
REPLACES = b"vqaudit_replaces"
"""Metadata key of a compacted part: the names of the parts that it holds, as a JSON list."""
REPEATS = "repeats"
"""Folder of a run that holds second answers, laid out as a run of its own."""
_ROWS = 400_000
"""So many records are in memory at one time where they are read bit by bit, and those of a part more."""
_TRIES = 5
"""So often a reader starts anew where compaction took away a part that it was about to read."""


class PartWriter:
    """Appends trial records as whole parts named worker-sequence.

    A part that is being written has a name that no reader looks at, so a kill leaves whole parts only.

    Args:
        run: The run directory.
        worker: Name of the writer, unique among those that write at one time.
    """

    def __init__(self, run: Path, *, worker: str) -> None:
        self._folder = run / "trials"
        self._worker = worker
        self._folder.mkdir(parents=True, exist_ok=True)
        for leftover in self._folder.glob(f".{worker}-*.tmp"):
            leftover.unlink(missing_ok=True)
        # A name that a compacted part replaces stays taken: under it, a new part would not be read.
        names = {path.name for path in trial_parts(run)}.union(*map(replaced_by, compacted_parts(run)))
        mine = (Path(name).stem.rpartition("-") for name in names)
        taken = [int(number) for name, _, number in mine if name == worker]
        self._next = max(taken, default=-1) + 1

    def write(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Writes the records as one part; does nothing where there are none."""
        if not records:
            return
        path = self._folder / f"{self._worker}-{self._next:06d}.parquet"
        write_states(self._folder.parent, path.name, records)  # first, so that no record is without its states
        write_table(path, records, TRIAL_SCHEMA)
        self._next += 1


def trial_parts(run: Path) -> list[Path]:
    """Returns every whole part that stands in the folder, sorted by name."""
    return sorted(path for path in (run / "trials").glob("*.parquet") if not path.name.startswith("."))


def compacted_parts(run: Path) -> list[Path]:
    """Returns the parts that compaction wrote."""
    return [path for path in trial_parts(run) if path.name.startswith(f"{COMPACTED}-")]


def replaced_by(path: Path) -> set[str]:
    """Returns the names of the parts that a compacted part holds.

    Raises:
        FileNotFoundError: There is no such part any more.
        RecordError: It is damaged.
    """
    try:
        with path.open("rb") as handle:
            metadata = pq.read_schema(handle).metadata or {}
        return set(json.loads(metadata.get(REPLACES, b"[]")))
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException, ValueError) as error:
        raise RecordError(f"{path} is not a readable part of a run: {error}") from error


def list_parts(run: Path) -> list[Path]:
    """Returns the parts that hold the run's records: those that a compacted part replaces are left out.

    Raises:
        RecordError: A compacted part is damaged.
    """
    parts = trial_parts(run)
    replaced = {name for path in compacted_parts(run) for name in replaced_by(path)}
    return [path for path in parts if path.name not in replaced]


def read_trials(run: Path, *, schema: pa.Schema = TRIAL_SCHEMA) -> pl.DataFrame:
    """Returns every record of a run, superseded attempts included; also of one that is being written or compacted.

    Args:
        run: The run directory.
        schema: What is read: all, or what `trial_columns` leaves of it.

    Raises:
        RecordError: A part cannot be read.
    """
    return read_parts(run, partial(_read_all, schema=schema))


def fold_trials(run: Path, keep: Callable[[pl.DataFrame], T], *, schema: pa.Schema) -> list[T]:
    """Returns what `keep` makes of the records, bit by bit, so that they never are in memory as a whole.

    Args:
        run: The run directory; also one that is being written or compacted.
        keep: Is given whole parts, joined, superseded attempts included.
        schema: What is read of them.

    Raises:
        RecordError: A part cannot be read.
    """
    return read_parts(run, lambda parts: [keep(bit) for bit in _bits(parts, schema)])


def _bits(parts: Iterable[Path], schema: pa.Schema) -> Iterator[pl.DataFrame]:
    tables: list[pa.Table] = []
    for path in parts:
        tables.append(load_table(path, schema))
        if sum(table.num_rows for table in tables) >= _ROWS:
            yield as_frame(pa.concat_tables(tables))
            tables = []
    if tables:
        yield as_frame(pa.concat_tables(tables))


def worker_trials(run: Path, worker: str) -> set[str]:
    """Returns the trials that have a record in a worker's own parts, whatever came of them.

    Raises:
        RecordError: One of its parts is damaged.
    """
    own = [path for path in trial_parts(run) if path.stem.rpartition("-")[0] == worker]
    return {trial for path in own for trial in load_table(path, TRIAL_SCHEMA).column("trial").to_pylist()}


def read_parts(run: Path, read: Callable[[Iterable[Path]], T]) -> T:
    """Returns what `read` makes of the parts; starts anew where compaction takes one away meanwhile."""
    for _ in range(_TRIES):
        try:
            return read(list_parts(run))
        except FileNotFoundError:
            continue
    raise RecordError(f"the parts of {run} change faster than they can be read; try again when it is at rest")


def _read_all(parts: Iterable[Path], *, schema: pa.Schema) -> pl.DataFrame:
    tables = [load_table(path, schema) for path in parts]
    return as_frame(pa.concat_tables(tables) if tables else schema.empty_table()).rechunk()
