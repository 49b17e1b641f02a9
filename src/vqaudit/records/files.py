"""Files that a reader sees whole or not at all.

Knows paths, bytes and tables. Knows no column by name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from vqaudit.errors import RecordError
from vqaudit.records.migration import stamp, upgrade
from vqaudit.records.schemas import PART_OF

__all__ = ["as_frame", "load_table", "read_table", "save_table", "write_table", "write_text", "write_whole"]


def write_whole(path: Path, write: Callable[[BinaryIO], object], *, lasting: bool = True) -> None:
    """Writes beside the path, then renames: a kill leaves the old file or the new one.

    Args:
        path: The file.
        write: Writes its content.
        lasting: Whether to wait until the disk has it, so that it also outlives the machine; not for what can be made
            again.

    Raises:
        RecordError: The disk is full or not writable; nothing is left of the new file.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as handle:
            write(handle)
            if lasting:
                handle.flush()
                os.fsync(handle.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):  # where a parent is a file, unlinking fails too
            temporary.unlink(missing_ok=True)
        raise RecordError(f"{path} cannot be written ({error.strerror or error})") from error


def write_text(path: Path, text: str) -> None:
    """Writes a text file whole, by an atomic rename."""
    write_whole(path, lambda handle: handle.write(text.encode("utf-8")))


def write_table(path: Path, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> None:
    """Writes one Parquet file whole, by an atomic rename."""
    save_table(path, pa.Table.from_pylist(list(rows), schema=schema))


def save_table(path: Path, table: pa.Table) -> None:
    """Writes a table whole, with the schema version and a checksum per page, by an atomic rename."""
    stamped = table.replace_schema_metadata(stamp(table.schema.metadata))
    write_whole(path, lambda handle: pq.write_table(stamped, handle, compression="zstd", write_page_checksum=True))


def load_table(path: Path, schema: pa.Schema) -> pa.Table:
    """Reads one Parquet file of a run, brought up to this schema; columns beyond a smaller schema are not read.

    Raises:
        FileNotFoundError: There is no such file.
        RecordError: The file is damaged.
        SchemaMismatch: It was written by a newer vqaudit.
    """
    try:
        with path.open("rb") as handle, pq.ParquetFile(handle, page_checksum_verification=True) as file:
            wanted = _leaves(file.schema_arrow, schema)
            table = file.read(columns=wanted)
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:  # the last from names of columns
        raise RecordError(f"{path} is not a readable part of a run: {error}") from error
    return upgrade(table, schema, path=path)


def _leaves(held: pa.Schema, wanted: pa.Schema) -> list[str] | None:
    """Names what is read of a file; None for all of it, so that a column that no version knows is found."""
    if wanted.metadata is None or PART_OF not in wanted.metadata:
        return None
    return [leaf for field in wanted if field.name in held.names for leaf in _paths(field, held.field(field.name))]


def _paths(wanted: pa.Field, held: pa.Field) -> list[str]:
    if not (pa.types.is_list(wanted.type) and pa.types.is_list(held.type) and pa.types.is_struct(held.type.value_type)):
        return [wanted.name]
    return [f"{wanted.name}.list.element.{inner.name}" for inner in wanted.type.value_type]


def as_frame(table: pa.Table) -> pl.DataFrame:
    """Returns the same table for analysis."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def read_table(path: Path, schema: pa.Schema) -> pl.DataFrame:
    """Reads one Parquet file of a run; an absent file has no rows.

    Raises:
        RecordError: The file is not readable or has other columns.
    """
    try:
        return as_frame(load_table(path, schema))
    except FileNotFoundError:
        return as_frame(schema.empty_table())
