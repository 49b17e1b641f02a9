"""Small pictures of items, where the run directory keeps them: `thumbs/HASH.jpg`, `.png` or `.webp`.

Knows files and their first bytes. What is no raster picture is not shown, whatever its name says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["Pictures", "read_pictures"]

_KINDS = ("jpg", "jpeg", "png", "webp")
_HASH = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures as the page carries them."""

    images: bytes
    """One after the other."""
    lengths: np.ndarray
    """In bytes; uint32."""
    types: list[str]
    """Media type of each."""
    of_items: list[list[int]]
    """Item by item, which are its own; -1 for one that the run does not keep."""

    @property
    def kept(self) -> int:
        """How many there are."""
        return len(self.types)


def read_pictures(run: Path, images: Sequence[Sequence[str] | None], *, most: int | None = None) -> Pictures:
    """Reads the thumbnails of these items.

    Args:
        run: The run directory.
        images: Per item, the hashes of its pictures.
        most: At most so many bytes; those of the first items stay. None sets no limit.
    """
    found: dict[str, int] = {}
    parts: list[bytes] = []
    types: list[str] = []
    of_items = []
    size = 0
    for hashes in images:
        own = []
        for name in hashes or ():
            if name is not None and name not in found and (read := _read(run / "thumbs", name)) is not None:
                raw, kind = read
                if most is None or size + len(raw) <= most:
                    found[name] = len(parts)
                    parts.append(raw)
                    types.append(kind)
                    size += len(raw)
            own.append(found.get(name, -1) if name is not None else -1)
        of_items.append(own)
    return Pictures(b"".join(parts), np.array([len(part) for part in parts], np.uint32), types, of_items)


def _read(folder: Path, name: str) -> tuple[bytes, str] | None:
    # a hash is a file name and nothing else: no path leads out of the folder
    if not name or not set(name) <= _HASH:
        return None
    for ending in _KINDS:
        path = folder / f"{name}.{ending}"
        if path.is_file():
            raw = path.read_bytes()
            kind = _media_type(raw)
            return None if kind is None else (raw, kind)
    return None


def _media_type(raw: bytes) -> str | None:
    if raw.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if raw.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    return "image/webp" if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP" else None
