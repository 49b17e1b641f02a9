"""Columns of numbers and texts packed for a page: a JSON header, then every column, gzip each for itself.

Knows arrays. Knows no record.

The layout, little-endian: the header's length in bytes (uint32), the header (UTF-8), then each column at its offset,
counted from the header's end. The header holds what it was given and, under `columns`, name -> [type, offset, packed
bytes, whether they are gzip].
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["PackedColumn", "pack", "pack_column", "text_of"]

_TYPES = {"uint8": "u1", "int8": "i1", "uint16": "u2", "uint32": "u4"}
_LEVEL = 6


@dataclass(frozen=True, slots=True)
class PackedColumn:
    """A column as the page carries it."""

    kind: str
    """`u1`, `i1`, `u2` or `u4`."""
    packed: bytes
    compressed: bool

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.packed)


def pack_column(column: np.ndarray | bytes, *, compress: bool = True) -> PackedColumn:
    r"""Returns a column packed; the same input gives the same bytes.

    Args:
        column: Bytes, or an array of uint8, int8, uint16 or uint32.
        compress: False for what is compressed already, such as pictures.

    Example:
        >>> packed = pack_column(np.array([258, 1], np.uint16))
        >>> packed.kind, gzip.decompress(packed.packed)
        ('u2', b'\x02\x01\x01\x00')
    """
    if isinstance(column, bytes):
        kind, raw = "u1", column
    else:
        kind = _TYPES[column.dtype.name]
        raw = column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes()
    return PackedColumn(kind, gzip.compress(raw, compresslevel=_LEVEL, mtime=0) if compress else raw, compress)


def pack(header: Mapping[str, Any], columns: Mapping[str, PackedColumn]) -> bytes:
    """Returns header and columns as one.

    Args:
        header: JSON values.
        columns: By name.

    Example:
        >>> whole = pack({"items": 2}, {"right": pack_column(b"ab", compress=False)})
        >>> size = int.from_bytes(whole[:4], "little")
        >>> json.loads(whole[4 : 4 + size]), whole[4 + size :]
        ({'items': 2, 'columns': {'right': ['u1', 0, 2, False]}}, b'ab')
    """
    table: dict[str, list[Any]] = {}
    place = 0
    for name, column in columns.items():
        table[name] = [column.kind, place, column.size, column.compressed]
        place += column.size
    text = json.dumps({**header, "columns": table}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    head = text.encode("utf-8")
    return b"".join([len(head).to_bytes(4, "little"), head, *(column.packed for column in columns.values())])


def text_of(packed: bytes) -> str:
    """Returns packed data as text that may stand in HTML: letters, digits, `+`, `/`, `=`."""
    return base64.b64encode(packed).decode("ascii")
