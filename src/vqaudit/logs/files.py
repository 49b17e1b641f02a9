"""Log files into records: JSON lines, JSON, CSV, TSV, XLSX and Inspect's `.eval`.

Knows file formats. Knows no harness. No cell is taken for anything but text, nothing is unpickled, unpacked to the
disk or fetched.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from vqaudit.errors import DatasetError, EngineUnavailable
from vqaudit.logs.archives import BROKEN_ZIP, check_sheets, check_sizes

__all__ = ["LogFile", "Record", "open_log"]

Kind = Literal["jsonl", "json", "csv", "tsv", "xlsx", "eval"]

_LONGEST_CELL = 2**31 - 1
_LARGEST_MEMBER = 1 << 30
"""Bytes of one unpacked member of a zip; more is taken for a bomb."""
_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".npy", ".npz", ".joblib")
_MEMBER = "samples/"


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file."""

    number: int
    """Counted from 1; blank lines and headers are none."""
    cells: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class LogFile:
    """A log file, parsed."""

    path: Path
    kind: Kind
    records: tuple[Record, ...]
    """Rows of a table or JSON lines, the objects of a JSON list, the samples of an `.eval`."""
    document: Mapping[str, Any] = field(default_factory=dict)
    """The root of a JSON file that is an object; the header of an `.eval`; else empty."""

    @property
    def columns(self) -> frozenset[str]:
        """Names that the first records have."""
        return frozenset(name for record in self.records[:50] for name in record.cells)


def open_log(path: str | Path) -> LogFile:
    """Parses a log file by its ending.

    Raises:
        DatasetError: The file is missing, a pickle, of an unknown kind, or broken at a row that the message names.
        EngineUnavailable: An XLSX file, and the packages of the extra `logs` are not installed.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending in _PICKLES:
        raise DatasetError(
            "is a pickle or an array file, which can run code when it is opened; export the log as JSON, TSV or XLSX",
            file=file,
        )
    if ending not in _OPENERS:
        raise DatasetError(f"has the ending {ending!r}; logs end in {', '.join(sorted(_OPENERS))}", file=file)
    if not file.is_file():
        raise DatasetError("is a folder; name the log file itself" if file.is_dir() else "does not exist", file=file)
    opened = _OPENERS[ending](file)
    if not opened.records and not opened.document:
        raise DatasetError("holds no record", file=file)
    return opened


def _text(file: Path) -> str:
    raw = file.read_bytes()
    if raw[:1] == b"\x80":
        raise DatasetError("is a pickle, whatever its name says; pickles are not opened", file=file)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(f"is not UTF-8 text (byte {error.start})", file=file) from error


def _open_lines(file: Path) -> LogFile:
    text = _text(file)
    # Some tools name one JSON document `.jsonl`.
    if text.lstrip()[:1] == "[" or (text.lstrip()[:1] == "{" and _one_document(text)):
        return _of_json(file, _parsed(text, file))
    lines = ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
    records = tuple(Record(place, _object(line, file, number)) for place, (number, line) in enumerate(lines, 1))
    return LogFile(path=file, kind="jsonl", records=records)


def _one_document(text: str) -> bool:
    """True where the first line alone is no JSON but the whole is."""
    first = text.lstrip().split("\n", 1)[0]
    return not _is_json(first) and _is_json(text)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _object(line: str, file: Path, number: int) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"line {number} is no JSON ({error}); was the file cut?", file=file) from error
    if not isinstance(value, dict):
        raise DatasetError(f"line {number} is no JSON object but a {type(value).__name__}", file=file)
    return value


def _parsed(text: str, file: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"is no JSON: {error}", file=file) from error


def _open_json(file: Path) -> LogFile:
    return _of_json(file, _parsed(_text(file), file))


def _of_json(file: Path, value: Any) -> LogFile:
    if isinstance(value, list):
        if wrong := [place for place, entry in enumerate(value, 1) if not isinstance(entry, dict)]:
            raise DatasetError("is no JSON object", file=file, row=wrong[0])
        records = tuple(Record(place, entry) for place, entry in enumerate(value, 1))
        return LogFile(path=file, kind="json", records=records)
    if not isinstance(value, dict):
        raise DatasetError(f"holds a {type(value).__name__}, not a list or an object", file=file)
    return LogFile(path=file, kind="json", records=(), document=value)


def _separated(separator: str, kind: Kind) -> Callable[[Path], LogFile]:
    def opener(file: Path) -> LogFile:
        rows = csv.reader(io.StringIO(_text(file), newline=""), delimiter=separator)
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            header = next(rows, [])
            records = tuple(_table_rows(header, rows, file))
        except csv.Error as error:
            raise DatasetError(f"cannot be read as {kind.upper()}: {error}", file=file) from error
        finally:
            csv.field_size_limit(before)
        return LogFile(path=file, kind=kind, records=records)

    return opener


def _table_rows(header: list[str], rows: Iterator[list[str]], file: Path) -> Iterator[Record]:
    if len(set(header)) != len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise DatasetError("stands twice in the header", file=file, column=twice)
    filled = (row for row in rows if any(cell.strip() for cell in row))
    for number, row in enumerate(filled, 1):
        if len(row) > len(header):
            raise DatasetError(f"has {len(row)} cells under {len(header)} columns", file=file, row=number)
        yield Record(number, dict(zip(header, [*row, *[None] * (len(header) - len(row))], strict=True)))


def _open_xlsx(file: Path) -> LogFile:
    try:
        import fastexcel
        import polars as pl
    except ImportError as error:
        raise EngineUnavailable("reading an XLSX log", extra="logs") from error
    check_sheets(file)
    try:
        table = pl.read_excel(file, engine="calamine", infer_schema_length=0)
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise DatasetError(f"is no readable XLSX file: {error}", file=file) from error
    records = tuple(Record(number, cells) for number, cells in enumerate(table.iter_rows(named=True), 1))
    return LogFile(path=file, kind="xlsx", records=records)


def _open_eval(file: Path) -> LogFile:
    try:
        with zipfile.ZipFile(file) as archive:
            check_sizes(archive, file)
            names = sorted(name for name in archive.namelist() if name.startswith(_MEMBER) and name.endswith(".json"))
            header = _member(archive, _header_name(archive), file)
            records = tuple(Record(place, _member(archive, name, file)) for place, name in enumerate(names, 1))
    except BROKEN_ZIP as error:
        raise DatasetError(f"is no readable .eval file: {error}", file=file) from error
    return LogFile(path=file, kind="eval", records=records, document=header)


def _header_name(archive: zipfile.ZipFile) -> str:
    # A log of a run that was broken off has the journal's beginning alone.
    return "header.json" if "header.json" in archive.namelist() else "_journal/start.json"


def _member(archive: zipfile.ZipFile, name: str, file: Path) -> Mapping[str, Any]:
    try:
        size = archive.getinfo(name).file_size
    except KeyError as error:
        raise DatasetError(f"holds no {name}; it is no Inspect log", file=file) from error
    if size > _LARGEST_MEMBER:
        raise DatasetError(f"member {name} unpacks to {size:,} bytes; at most {_LARGEST_MEMBER:,} are read", file=file)
    try:
        value = json.loads(archive.read(name))
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"member {name} is no JSON: {error}", file=file) from error
    if not isinstance(value, dict):
        raise DatasetError(f"member {name} is no JSON object", file=file)
    return value


_OPENERS: dict[str, Callable[[Path], LogFile]] = {
    ".jsonl": _open_lines,
    ".json": _open_json,
    ".csv": _separated(",", "csv"),
    ".tsv": _separated("\t", "tsv"),
    ".xlsx": _open_xlsx,
    ".eval": _open_eval,
}
