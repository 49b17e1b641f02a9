"""Tables that an older vqaudit wrote, brought up to the schema of this one.

Knows versions and columns. Reads and writes no file.

A column that is added later is null in older tables and needs no new version. Whatever else changes (a name, a type, a
meaning) raises `SCHEMA_VERSION` and adds a step here, so that a run is never rewritten and always readable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa

from vqaudit.errors import SchemaMismatch
from vqaudit.numerals import whole_number
from vqaudit.records.schemas import SCHEMA_VERSION

__all__ = ["STEPS", "check_version", "stamp", "upgrade"]

_KEY = b"vqaudit_schema_version"

STEPS: dict[int, Callable[[pa.Table], pa.Table]] = {}
"""Version -> what turns a table of that version into one of the next. A step is given every kind of table of a run,
so it looks at the columns before it changes any."""


def stamp(metadata: Mapping[bytes, bytes] | None) -> dict[bytes, bytes]:
    """Returns a table's metadata with the version of the schema that this vqaudit writes."""
    return {**(metadata or {}), _KEY: str(SCHEMA_VERSION).encode()}


def check_version(version: object, *, path: Path) -> int:
    """Returns the version if this vqaudit reads it.

    Raises:
        SchemaMismatch: It is newer than this vqaudit, or no version at all.
    """
    if not isinstance(version, int) or not 1 <= version <= SCHEMA_VERSION:
        raise SchemaMismatch(
            f"{path} has schema version {version!r}; this vqaudit reads versions 1 to {SCHEMA_VERSION}, "
            "so read it with the vqaudit that wrote it or a newer one"
        )
    return version


def _version(table: pa.Table) -> object:
    text = (table.schema.metadata or {}).get(_KEY, b"1").decode(errors="replace")
    number = whole_number(text)
    return text if number is None else number


def upgrade(table: pa.Table, schema: pa.Schema, *, path: Path) -> pa.Table:
    """Returns the table with exactly the schema's columns; what an older version did not have is null.

    Args:
        table: As it stands in the file; its metadata tell its version, and none means 1.
        schema: What this vqaudit works with.
        path: For messages.

    Raises:
        SchemaMismatch: The version is newer than this vqaudit, or a column is missing that every version has, is of
            another kind, or is not known.
    """
    for version in range(check_version(_version(table), path=path), SCHEMA_VERSION):
        table = STEPS[version](table)
    if unknown := [name for name in table.column_names if name not in schema.names]:
        raise SchemaMismatch(f"{path} has the column {unknown[0]!r}, which this vqaudit does not know")
    return pa.table([_column(table, field, path) for field in schema], schema=schema)


def _column(table: pa.Table, field: pa.Field, path: Path) -> pa.ChunkedArray | pa.Array:
    if field.name in table.column_names:
        try:
            return table.column(field.name).cast(field.type)
        except pa.ArrowException as error:
            raise SchemaMismatch(f"{path}, column {field.name!r} cannot be read as {field.type}: {error}") from error
    if not field.nullable:
        raise SchemaMismatch(f"{path} has no column {field.name!r}, which every version of this table has")
    return pa.nulls(table.num_rows, field.type)
