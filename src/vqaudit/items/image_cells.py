"""Cells into pictures: bytes, base64, a path under one folder, or the ID of another row.

Knows where a picture is. Decodes none, fetches none, and follows no path out of its folder.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.items.cells import is_empty, item_id, looks_like_list, parse_list, says_nan, shorten
from vqaudit.items.item import ImageSource

__all__ = ["ImageFinder", "bytes_of_base64", "file_exists", "looks_encoded"]

LONGEST_REFERENCE = 64
"""Characters: a longer cell is never the ID of another row (VLMEvalKit's rule)."""
_LONGEST_PATH = 1024
_URL = re.compile(r"(?!data:)[a-z][a-z0-9+.-]+:(//|\\\\)", re.IGNORECASE)
_DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_SIGNATURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*\x00", b"MM\x00*")


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFinder:
    """Turns the image cells of one file into sources."""

    root: Path
    """The folder that every path must stay in, resolved."""
    cells: Mapping[str, Any] = field(default_factory=dict)
    """Item ID -> image cell of that row, for cells that name another row."""
    place_of: Callable[[str], ImageSource] | None = None
    """Gives a URL the place where its picture will be; None = a URL is refused."""
    _of_rows: dict[str, tuple[ImageSource, ...]] = field(default_factory=dict, repr=False, compare=False)

    def find(self, cell: Any, *, item: str, folders: Sequence[str] = ("",)) -> tuple[ImageSource, ...]:
        """Returns the pictures that a cell stands for, in order; none for an empty cell.

        Args:
            cell: Text, bytes, a `{bytes, path}` structure, or a list (or its text) of these.
            item: The ID of the cell's row.
            folders: Folders under the root in which a relative path is looked for, in order.

        Raises:
            DatasetError: A URL that was not asked for, a path out of the root, or something that is no picture.
        """
        if is_empty(cell) or says_nan(cell):
            return ()
        if isinstance(cell, str) and looks_like_list(cell):
            cell = parse_list(cell)
        if isinstance(cell, (list, tuple)):
            return self._entries(cell, item=item, folders=folders)
        if isinstance(cell, (bytes, bytearray)):
            return (ImageSource(data=bytes(cell)),)
        if isinstance(cell, dict):
            return self._structure(cell, item=item, folders=folders)
        if isinstance(cell, (str, int, float)) and not isinstance(cell, bool):
            return self._text(str(item_id(cell)), item=item, folders=folders)
        raise DatasetError(f"an image must be a path, bytes or base64, not {shorten(cell)}")

    def _entries(self, cells: Sequence[Any], *, item: str, folders: Sequence[str]) -> tuple[ImageSource, ...]:
        try:
            return tuple(source for entry in cells for source in self.find(entry, item=item, folders=folders))
        except RecursionError:
            raise DatasetError("the list of images is nested too deeply; give a flat list") from None

    def _structure(self, cell: Mapping[str, Any], *, item: str, folders: Sequence[str]) -> tuple[ImageSource, ...]:
        if cell.get("bytes") is not None:
            return self.find(cell["bytes"], item=item, folders=folders)
        if cell.get("path") is not None:
            path = str(cell["path"])
            return (self._at_url(path) if _URL.match(path) else self._file(path, folders),)
        if {"bytes", "path"} & cell.keys():
            return ()
        raise DatasetError(f"an image given as an object needs a field 'bytes' or 'path', not {shorten(cell)}")

    def _text(self, text: str, *, item: str, folders: Sequence[str]) -> tuple[ImageSource, ...]:
        if _URL.match(text):
            return (self._at_url(text),)
        if match := _DATA_URI.match(text):
            return (ImageSource(data=_decoded(text[match.end() :])),)
        if len(text) <= LONGEST_REFERENCE and text != item and text in self.cells:
            return self._of_other_row(text, folders)
        if looks_encoded(text):
            return (ImageSource(data=_decoded(text)),)
        if len(text) > _LONGEST_PATH:
            # Neither base64 nor a path: kept, so that the item ends as a record with an undecodable picture.
            return (ImageSource(data=text.encode("utf-8", "surrogatepass")),)
        return (self._file(text, folders),)

    def _at_url(self, url: str) -> ImageSource:
        if self.place_of is None:
            raise DatasetError(
                f"images are never fetched unasked: download {shorten(url)} and give its path, or name a folder for it "
                "with --fetch-images (fetch_images)"
            )
        return self.place_of(url)

    def _of_other_row(self, other: str, folders: Sequence[str]) -> tuple[ImageSource, ...]:
        if other in self._of_rows:
            return self._of_rows[other]
        cell = self.cells[other]
        name = None if isinstance(cell, (list, tuple, dict, bytes)) else item_id(cell)
        if name is not None and name != other and len(name) <= LONGEST_REFERENCE and name in self.cells:
            raise DatasetError(f"the image is that of row {other!r}, which in turn names row {name!r}")
        found = self.find(cell, item=other, folders=folders)
        if not found:
            raise DatasetError(f"the image is that of row {other!r}, which has none")
        self._of_rows[other] = found
        return found

    def _file(self, text: str, folders: Sequence[str]) -> ImageSource:
        paths = [self._inside(f"{folder}/{text}" if folder else text, text) for folder in folders]
        return ImageSource(path=next((path for path in paths if file_exists(path)), paths[0]))

    def _inside(self, relative: str, text: str) -> Path:
        try:
            path = (self.root / relative).resolve()
        except (ValueError, OSError, RuntimeError) as error:
            raise DatasetError(f"not a usable path: {shorten(text)} ({error})") from None
        if not path.is_relative_to(self.root):
            raise DatasetError(
                f"the image path {shorten(text)} leaves the folder {str(self.root)!r}; name the folder that holds "
                "the images with image_root"
            )
        return path


def file_exists(path: Path) -> bool:
    """Returns whether there is such a file; also for a name that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def looks_encoded(text: str) -> bool:
    """Returns whether a text is a picture in base64 rather than a path.

    Long text in the alphabet of base64 is; short text only where it begins as a picture does.
    """
    packed = "".join(text.split())
    if not _BASE64.fullmatch(packed):
        return False
    if _decoded(packed[:LONGEST_REFERENCE]).startswith(_SIGNATURES):
        return True
    return len(packed) > 4 * LONGEST_REFERENCE


def bytes_of_base64(text: str) -> bytes | None:
    r"""Returns the bytes of a picture in base64; None where the text is a path or the ID of another row.

    Example:
        >>> bytes_of_base64("iVBORw0KGgo="), bytes_of_base64("images/1.png")
        (b'\x89PNG\r\n\x1a\n', None)
    """
    return _decoded(text) if looks_encoded(text) else None


def _decoded(text: str) -> bytes:
    """Returns the bytes of base64 text; cut text gives cut bytes, and no base64 at all gives the text itself."""
    packed = "".join(text.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    whole = packed[: len(packed) - (len(packed) % 4 == 1)]
    try:
        return base64.b64decode(whole + "=" * (-len(whole) % 4), validate=True)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "surrogatepass")
