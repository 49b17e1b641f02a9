"""Zip archives that unpack to more than a log can be, or a sheet of more cells than memory has, found out beforehand.

Knows zip files and the tags of a worksheet. Keeps nothing that it unpacks.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from vqaudit.errors import DatasetError

__all__ = ["BROKEN_ZIP", "check_sheets", "check_sizes"]

BROKEN_ZIP = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(RuntimeError, EOFError, OSError, UnicodeDecodeError),
)
"""What `zipfile` raises on archives that are damaged, encrypted or packed in a way that it lacks (RuntimeError)."""
LARGEST = 8 << 30
"""Bytes of all members together, unpacked."""
HIGHEST_RATIO = 200
"""Bytes unpacked per byte packed; logs reach some tens, and DEFLATE at most 1,032."""
SMALL = 64 << 20
"""Bytes, unpacked, below which no ratio is asked: short logs of one repeated sample pack well."""
MOST_CELLS = 20_000_000
"""Cells of a worksheet from its first to its last; XLSX readers allocate them all, 32 bytes each, empty or not."""
_CHUNK = 1 << 20
_LONGEST_TAG = 1 << 12
_TAG = re.compile(rb"<(?:\w+:)?(row|c)\b([^<>]*)>")
_PLACE = re.compile(rb"""\br\s*=\s*["']\s*([A-Za-z]{0,3})([0-9]{0,9})\s*["']""")


def check_sizes(archive: zipfile.ZipFile, file: Path) -> None:
    """Refuses an archive by the sizes that its directory states.

    Raises:
        DatasetError: It unpacks to more than `LARGEST`, or to more than `HIGHEST_RATIO` times its own size.
    """
    total = sum(info.file_size for info in archive.infolist())
    packed = max(1, file.stat().st_size)
    if total > LARGEST or (total > SMALL and total > HIGHEST_RATIO * packed):
        raise DatasetError(
            f"unpacks from {packed:,} to {total:,} bytes, which no log does; unpack it yourself if it is sound",
            file=file,
        )


def check_sheets(file: Path) -> None:
    """Refuses an XLSX file by what it holds: sizes, checksums, and the cell farthest from the first.

    Raises:
        DatasetError: It is no zip file, is damaged or encrypted, unpacks to too much, or has a worksheet of more than
            `MOST_CELLS` cells.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            check_sizes(archive, file)
            for info in archive.infolist():
                rows, columns = _extent(archive, info)
                if rows * columns > MOST_CELLS:
                    raise DatasetError(
                        f"its part {info.filename} spans {rows:,} rows and {columns:,} columns; at most {MOST_CELLS:,} "
                        "cells are read, so delete what stands far from the table, or save it as CSV",
                        file=file,
                    )
    except BROKEN_ZIP as error:
        raise DatasetError(f"is no readable XLSX file: {error}", file=file) from error


def _extent(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[int, int]:
    """Returns the last row and the last column of a worksheet, from 1; zeros for a part that is none."""
    row = column = last_row = last_column = 0
    for kind, attributes in _tags(archive, info):
        place = _PLACE.search(attributes)
        if kind == b"row":
            row, column = int(place[2]) if place and place[2] else row + 1, 0
        elif place and place[1]:
            column, row = _column(place[1]), int(place[2] or row)
        else:
            column += 1
        last_row, last_column = max(last_row, row), max(last_column, column)
    return last_row, last_column


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _tags(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[tuple[bytes, bytes]]:
    """Yields the rows and cells of a part; reading it to its end also proves its size and checksum."""
    kept = b""
    with archive.open(info) as stream:
        while chunk := stream.read(_CHUNK):
            text, end = kept + chunk, 0
            for found in _TAG.finditer(text):
                end = found.end()
                yield found[1], found[2]
            kept = text[max(end, len(text) - _LONGEST_TAG) :]
