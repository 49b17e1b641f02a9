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

__all__ = ["read_table", "write_table", "write_text"]


def _write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Writes beside the path, flushes to the disk, then renames: a kill leaves the old file or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as handle:
            write(handle)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):  # where a parent is a file, unlinking fails too
            temporary.unlink(missing_ok=True)
        raise RecordError(f"{path} cannot be written ({error.strerror or error})") from error


def write_text(path: Path, text: str) -> None:
    """Writes a text file whole, by an atomic rename."""
    _write_whole(path, lambda handle: handle.write(text.encode("utf-8")))


def write_table(path: Path, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> None:
    """Writes one Parquet file whole, by an atomic rename."""
    table = pa.Table.from_pylist(list(rows), schema=schema)
    _write_whole(path, lambda handle: pq.write_table(table, handle, compression="zstd"))


def read_table(path: Path, schema: pa.Schema) -> pl.DataFrame:
    """Reads one Parquet file of a run; an absent file has no rows.

    Raises:
        RecordError: The file is not readable or has other columns.
    """
    try:
        table = pq.read_table(path, schema=schema)
    except FileNotFoundError:
        table = schema.empty_table()
    except (OSError, pa.ArrowInvalid) as error:
        raise RecordError(f"{path} is not a readable part of a run: {error}") from error
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame
