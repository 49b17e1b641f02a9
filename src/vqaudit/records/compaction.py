"""Many small parts made few large ones, without a record lost, doubled or changed.

Knows parts. Knows no trial.

A compacted part carries the names of all parts that ever went into it. From its rename on, readers leave these out, so
that a kill before they are deleted doubles nothing; what was not deleted is deleted the next time. A name is never
given again: it may also be that of a part of hidden states.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vqaudit.errors import RecordError
from vqaudit.records.files import load_table, write_whole
from vqaudit.records.migration import stamp
from vqaudit.records.ownership import own_run
from vqaudit.records.parts import COMPACTED, REPLACES, compacted_parts, list_parts, replaced_by, trial_parts
from vqaudit.records.schemas import TRIAL_SCHEMA

__all__ = ["Compaction", "compact"]

_PART_RECORDS = 1_000_000
"""Most records of a compacted part, give or take the last part that went in."""
_GROUP_RECORDS = 65_536
"""Records that are in memory at a time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compaction:
    """What compaction did."""

    parts_before: int
    parts_after: int
    records: int
    bytes_before: int
    bytes_after: int

    def to_dict(self) -> dict[str, Any]:
        """Returns the same as JSON values."""
        return asdict(self)


def compact(run: Path, *, part_records: int = _PART_RECORDS) -> Compaction:
    """Writes the parts of a run anew as a few large ones, every attempt kept.

    Args:
        run: The run directory. It must be at rest.
        part_records: Records per part; a part that has as many already is left as it is.

    Raises:
        RunConflict: A process is writing here.
        RecordError: A part is damaged (nothing is changed), or the disk is full.
    """
    with own_run(run):
        _delete_replaced(run)
        before = list_parts(run)
        sizes = {path: path.stat().st_size for path in before}
        for batch in _batches(before, part_records):
            _merge(run, batch)
        _delete_replaced(run)
        after = list_parts(run)
        return Compaction(
            parts_before=len(before),
            parts_after=len(after),
            records=sum(_rows(path) for path in after),
            bytes_before=sum(sizes.values()),
            bytes_after=sum(path.stat().st_size for path in after),
        )


def _rows(path: Path) -> int:
    try:
        with path.open("rb") as handle:
            return pq.read_metadata(handle).num_rows
    except (OSError, pa.ArrowException) as error:
        raise RecordError(f"{path} is not a readable part of a run: {error}") from error


def _batches(parts: Sequence[Path], part_records: int) -> Iterator[list[Path]]:
    """Parts that become one; those that are large enough, and a single one, stay."""
    batch: list[Path] = []
    records = 0
    for path in parts:
        rows = _rows(path)
        if rows >= part_records:
            continue
        batch.append(path)
        records += rows
        if records >= part_records:
            yield batch
            batch, records = [], 0
    if len(batch) > 1:
        yield batch


def _merge(run: Path, parts: Sequence[Path]) -> None:
    taken = [int(path.stem.rpartition("-")[2]) for path in compacted_parts(run)]
    target = run / "trials" / f"{COMPACTED}-{max(taken, default=-1) + 1:06d}.parquet"
    inherited = {name for path in compacted_parts(run) if path in parts for name in replaced_by(path)}
    replaces = json.dumps(sorted(inherited | {path.name for path in parts})).encode()
    schema = TRIAL_SCHEMA.with_metadata(stamp({REPLACES: replaces}))

    def write(handle: Any) -> None:
        with pq.ParquetWriter(handle, schema, compression="zstd", write_page_checksum=True) as writer:
            for table in _groups(parts):
                writer.write_table(table.cast(schema))

    write_whole(target, write)


def _groups(parts: Sequence[Path]) -> Iterator[pa.Table]:
    """The records of the parts, some tens of thousands at a time."""
    waiting: list[pa.Table] = []
    for path in parts:
        waiting.append(load_table(path, TRIAL_SCHEMA))
        if sum(table.num_rows for table in waiting) >= _GROUP_RECORDS:
            yield pa.concat_tables(waiting).combine_chunks()
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def _delete_replaced(run: Path) -> None:
    replaced = {name for path in compacted_parts(run) for name in replaced_by(path)}
    for path in trial_parts(run):
        if path.name in replaced:
            path.unlink(missing_ok=True)
