"""What a reader of one harness's logs is, and how readers leave out what is no multiple-choice sample.

Knows files and rows. Knows no harness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from vqaudit.errors import DatasetError
from vqaudit.logs.files import LogFile, Record
from vqaudit.logs.rows import Left, Log, LogRow, LogSpec

__all__ = ["NO_OPTIONS", "Parsed", "Reader", "read_rows"]

NO_OPTIONS = "shows no options: not a multiple-choice sample"


class Reader(NamedTuple):
    """One harness's format."""

    name: str
    """What `--format` takes."""
    harness: str
    """How people call it."""
    recognises: Callable[[LogFile], bool]
    read: Callable[[LogFile, LogSpec], Log]


class Parsed(NamedTuple):
    """The rows of a log, and those left out."""

    rows: tuple[LogRow, ...]
    left_out: tuple[Left, ...]


def read_rows(
    file: LogFile, records: Iterable[Record], read: Callable[[Record, LogSpec], LogRow | str], spec: LogSpec
) -> Parsed:
    """Reads every record; `read` returns the reason, as text, for one that is no multiple-choice sample.

    Raises:
        DatasetError: A record is broken (the message names file and row), or none is a multiple-choice sample.
    """
    rows: list[LogRow] = []
    left: list[Left] = []
    for record in records:
        try:
            found = read(record, spec)
        except DatasetError as error:
            raise DatasetError(error.message, file=file.path, row=record.number, column=error.column) from error
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise DatasetError(
                f"has another shape than this log's other rows ({type(error).__name__}: {error})",
                file=file.path,
                row=record.number,
            ) from error
        if isinstance(found, str):
            left.append(Left(row=record.number, why=found))
        else:
            rows.append(found)
    if not rows:
        why = f", first: row {left[0].row} {left[0].why}" if left else ""
        raise DatasetError(f"holds no multiple-choice sample among {len(left)} rows{why}", file=file.path)
    return Parsed(tuple(rows), tuple(left))
