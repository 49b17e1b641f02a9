"""Files into rows: JSON lines, JSON, CSV, TSV and Parquet.

Knows file formats. Knows no question, option or answer; no cell of a CSV or TSV is taken for anything but text.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vqaudit.errors import DatasetError
from vqaudit.items.cells import describe, is_empty, shorten

__all__ = ["SUFFIXES", "Row", "Table", "read_table"]

_LONGEST_CELL = 2**31 - 1
"""Characters: a picture in base64 takes megabytes, and Python's own limit is 131,072."""
_MOST_ROWS = 10_000_000
"""Rows of a Parquet file: 200 KB can state 50 million equal ones, which as Python values take gigabytes."""
_LIST_KEYS = ("data", "items", "questions", "examples", "samples", "rows")
"""Keys under which a JSON file may wrap its list of records."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One record as it stands in the file."""

    number: int
    """Counted from 1 as a person counts data rows: a header or a blank line is not one."""
    cells: Mapping[str, Any]
    problem: str | None = None
    """Why the record cannot be read at all; its cells are then empty."""
    key: str | None = None
    """Its key, where the file is a dictionary of records."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A file as rows."""

    path: Path
    columns: tuple[str, ...]
    """Every name that any row has, in the order of first sight."""
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, path: Path, rows: Iterable[Row]) -> Table:
        """Returns rows as a table with the columns that they have."""
        kept = tuple(rows)
        names = dict.fromkeys(name for row in kept for name in row.cells)
        return cls(path=path, columns=tuple(names), rows=kept)

    @property
    def is_keyed(self) -> bool:
        """Whether the file is a dictionary of records, keyed by ID."""
        return any(row.key is not None for row in self.rows)

    def values(self, column: str) -> Iterator[Any]:
        """Yields the cells of a column; None where a row has none."""
        return (row.cells.get(column) for row in self.rows)

    def is_filled(self, column: str) -> bool:
        """Returns whether any cell of the column holds something."""
        return any(not is_empty(value) for value in self.values(column))


def read_table(path: Path) -> Table:
    """Reads a file by the end of its name.

    Raises:
        DatasetError: No such file, an unknown kind, not UTF-8, broken, or without rows.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DatasetError(f"unknown kind of file {path.suffix!r}; {describe(list(_READERS))} can be read", file=path)
    if not path.is_file():
        raise DatasetError("there is no such file", file=path)
    rows = tuple(reader(path))
    if not rows:
        raise DatasetError("the file holds no rows", file=path)
    return Table.of(path, rows)


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(f"not UTF-8 at byte {error.start}; save the file as UTF-8", file=path) from None
    except OSError as error:
        raise DatasetError(f"cannot be read ({error.strerror})", file=path) from error


def _record(value: Any, number: int, key: str | None = None) -> Row:
    if isinstance(value, dict):
        return Row(number=number, cells=value, key=key)
    problem = f"a record must be an object with named fields, not {type(value).__name__} {shorten(value)}"
    return Row(number=number, cells={}, problem=problem, key=key)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns a JSON object; of two fields of one name JSON would silently drop the first, be it the right answer."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"the field {shorten(next(n for n in names if names.count(n) > 1))} stands twice in one object"
        )
    return found


def _read_jsonl(path: Path) -> Iterator[Row]:
    # Only \n ends a line: a JSON text may hold U+2028 and the like, at which splitlines() would cut.
    lines = (line for line in _read_text(path).split("\n") if line.strip())
    for number, line in enumerate(lines, start=1):
        try:
            yield _record(json.loads(line, object_pairs_hook=_object), number)
        except (ValueError, RecursionError) as error:
            yield Row(number=number, cells={}, problem=f"not valid JSON ({error})")


def _read_json(path: Path) -> Iterable[Row]:
    try:
        content = json.loads(_read_text(path), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        hint = "; one record a line? then name the file .jsonl" if "Extra data" in str(error) else ""
        raise DatasetError(f"not valid JSON ({error}){hint}", file=path) from None
    if isinstance(content, list):
        return [_record(value, number) for number, value in enumerate(content, start=1)]
    if isinstance(content, dict):
        for name in _LIST_KEYS:
            if isinstance(content.get(name), list):
                return [_record(value, number) for number, value in enumerate(content[name], start=1)]
        if content and all(isinstance(value, dict) for value in content.values()):
            return [_record(value, n, key) for n, (key, value) in enumerate(content.items(), start=1)]
    raise DatasetError(
        "a list of records, a dictionary of records keyed by ID, or a list under "
        f"{describe(_LIST_KEYS)} is needed, not {shorten(content)}",
        file=path,
    )


@contextmanager
def _long_cells() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _read_separated(path: Path, delimiter: str) -> list[Row]:
    rows: list[Row] = []
    with _long_cells():
        reader = csv.reader(io.StringIO(_read_text(path), newline=""), delimiter=delimiter, strict=True)
        try:
            header = _header(next(reader, []), path)
            for cells in reader:
                if cells:
                    rows.append(_separated_row(header, cells, len(rows) + 1))
        except csv.Error as error:
            raise DatasetError(
                f"broken near line {reader.line_num} ({error}); a cell that begins with a quote must be quoted as a "
                "whole, with every quote in it doubled",
                file=path,
                row=len(rows) + 1,
            ) from None
    return rows


def _header(names: Sequence[str], path: Path) -> list[str]:
    header = [name.strip() or f"column {place}" for place, name in enumerate(names, start=1)]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise DatasetError(f"the header names {describe(twice)} more than once", file=path)
    return header


def _separated_row(header: Sequence[str], cells: Sequence[str], number: int) -> Row:
    # Empty cells beyond the header come from a delimiter at the end of the line.
    if any(cell.strip() for cell in cells[len(header) :]):
        problem = (
            f"{len(cells)} cells, but the header names {len(header)} columns; is a cell with the delimiter quoted?"
        )
        return Row(number=number, cells={}, problem=problem)
    padded = [*cells[: len(header)], *[None] * (len(header) - len(cells))]
    return Row(number=number, cells=dict(zip(header, padded, strict=True)))


def _read_csv(path: Path) -> list[Row]:
    return _read_separated(path, ",")


def _read_tsv(path: Path) -> list[Row]:
    return _read_separated(path, "\t")


def _read_parquet(path: Path) -> list[Row]:
    try:
        with pq.ParquetFile(path) as file:
            _refuse_rows(file.metadata.num_rows, path)
            table = file.read()
        names = table.column_names
        records = [_record(cells, number) for number, cells in enumerate(table.to_pylist(), start=1)]
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        # Besides Arrow's own: names that are not UTF-8, and dates that Python has none for.
        raise DatasetError(f"not a readable Parquet file ({error})", file=path) from error
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DatasetError(f"the file has more than one column {describe(twice)}", file=path)
    return records


def _refuse_rows(rows: int, path: Path) -> None:
    if rows > _MOST_ROWS:
        raise DatasetError(f"{rows:,} rows; no benchmark has more than {_MOST_ROWS:,}, so split the file", file=path)


_READERS: dict[str, Callable[[Path], Iterable[Row]]] = {
    ".jsonl": _read_jsonl,
    ".json": _read_json,
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".parquet": _read_parquet,
}
SUFFIXES = tuple(_READERS)
"""Ends of the names of files that can be read."""
