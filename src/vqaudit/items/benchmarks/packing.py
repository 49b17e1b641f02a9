"""Pictures of many rows in little memory: base64 becomes bytes, and the same picture is kept once.

Knows the cells that hold pictures. Decodes no picture.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from vqaudit.items.image_cells import bytes_of_base64

__all__ = ["PictureStore"]


class PictureStore:
    """Replaces pictures in rows by bytes that rows with the same picture share.

    Args:
        columns: The columns that hold pictures; others are left as they are.

    Example:
        >>> store = PictureStore(("image",))
        >>> one, two = (store.pack({"image": bytes([1, 2, 3]), "question": q}) for q in "ab")
        >>> one["image"] is two["image"]
        True
    """

    def __init__(self, columns: str | tuple[str, ...] | None) -> None:
        self._columns = (columns,) if isinstance(columns, str) else columns or ()
        self._known: dict[bytes, bytes] = {}

    def pack(self, cells: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the row with its pictures as shared bytes; whatever is no encoded picture stays."""
        packed = {name: self._shared(cells[name]) for name in self._columns if cells.get(name) is not None}
        return {**cells, **packed} if packed else cells

    def _shared(self, cell: Any) -> Any:
        if isinstance(cell, dict) and isinstance(cell.get("bytes"), bytes):
            return {**cell, "bytes": self._one(cell["bytes"])}
        if isinstance(cell, bytes):
            return self._one(cell)
        found = bytes_of_base64(cell) if isinstance(cell, str) else None
        return cell if found is None else self._one(found)

    def _one(self, data: bytes) -> bytes:
        return self._known.setdefault(hashlib.sha256(data).digest(), data)
