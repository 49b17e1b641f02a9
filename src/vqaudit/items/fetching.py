"""Pictures that data name by URL: fetched once into one folder, and what became of them.

Knows URLs, files and limits. What is kept is a raster picture by its own header, whatever the server calls it.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from vqaudit.errors import DatasetError, ImageError
from vqaudit.items.fetching_connection import Wire
from vqaudit.items.fetching_http import Download, Unanswered, download
from vqaudit.items.images import check_picture
from vqaudit.items.item import ImageSource, Item

__all__ = ["MAX_TOTAL_BYTES", "FetchedPictures", "PictureFetcher"]

MAX_TOTAL_BYTES = 8 * 2**30
"""Bytes that are fetched for one data set in one session, refused answers included."""
_AT_ONCE = 8
_SILENT = 5
"""After so many pictures in a row without an answer, a host is not asked again in this session."""
_LONGEST_NAME = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchedPictures:
    """Where the pictures of a data set were fetched from, now or in an earlier session."""

    pictures: int
    """Distinct URLs whose picture is there."""
    failed: int
    """Distinct URLs without one; their items are recorded as bad input."""
    origins: tuple[str, ...]
    """Scheme and host of every server that sent one, or led to it, sorted."""


class PictureFetcher:
    """Gives a place to every URL, and later fetches those that items need.

    A picture lies in the folder under the SHA-256 of its URL, beside a note of the servers that it came from; what lies
    there is not fetched again. Nothing else is sent than a request for the URL.

    Args:
        folder: Where the pictures are kept; made when the first is fetched.
        wire: For tests.
        most: Bytes that are fetched at most, over all pictures.
    """

    def __init__(self, folder: str | Path, *, wire: Wire | None = None, most: int = MAX_TOTAL_BYTES) -> None:
        self._folder = Path(folder).resolve()
        self._wire = wire
        self._left = self._most = most
        self._urls: dict[Path, str] = {}
        self._silent: Counter[str] = Counter()
        self._guard = threading.Lock()

    def source(self, url: str) -> ImageSource:
        """Returns where the picture of a URL will be; fetches nothing."""
        path = self._folder / hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
        self._urls[path] = url
        return ImageSource(path=path)

    def settle(self, items: Sequence[Item]) -> tuple[list[Item], FetchedPictures | None]:
        """Fetches what the items need and is not there yet.

        Returns:
            The items, those without a picture with the reason in its place; and what was fetched, None where no item
            names a URL.

        Raises:
            DatasetError: The folder cannot be written.
        """
        sources = dict.fromkeys(source for item in items for source in item.images)
        wanted = [source.path for source in sources if source.path is not None and source.path in self._urls]
        if not wanted:
            return list(items), None
        problems = dict(zip(wanted, self._fetch_all(wanted), strict=True))
        lost = {ImageSource(path=path): ImageSource(problem=why) for path, why in problems.items() if why is not None}
        there = [path for path, why in problems.items() if why is None]
        origins = sorted({origin for path in there for origin in self._origins(path)})
        found = FetchedPictures(pictures=len(there), failed=len(lost), origins=tuple(origins))
        return [_mended(item, lost) for item in items], found

    def _fetch_all(self, paths: Iterable[Path]) -> list[str | None]:
        """Returns for each why it is not there; None where it is."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error
        pool = ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="vqaudit-fetch")
        try:
            return list(pool.map(self._fetch, paths))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _fetch(self, path: Path) -> str | None:
        if path.is_file():
            return None
        url = self._urls[path]
        host = _host(url)
        try:
            if self._silent[host] >= _SILENT:
                raise ImageError(f"{host} had no answer for {_SILENT} pictures in a row and was not asked again")
            found = download(url, wire=self._wire, count=self._count)
            with self._guard:  # looking at a picture touches the process's warning filters
                check_picture(found.data)
        except ImageError as error:
            self._silent[host] += isinstance(error, Unanswered)
            return f"{_shown(url)}: {error.message}"
        self._silent[host] = 0
        self._keep(path, found)
        return None

    def _count(self, size: int) -> None:
        with self._guard:
            self._left -= size
        if self._left < 0:
            raise ImageError(f"these pictures have more than {self._most:,} bytes in all, the most that is fetched")

    def _keep(self, path: Path, found: Download) -> None:
        """Writes note and picture, each whole or not at all; the note first, so that no picture is without one."""
        note = json.dumps({"origins": found.origins}).encode()
        for place, data in ((_note(path), note), (path, found.data)):
            draft = place.with_name(f".{place.name}.{uuid4().hex}.tmp")
            try:
                draft.write_bytes(data)
                draft.replace(place)
            except OSError as error:
                draft.unlink(missing_ok=True)
                raise self._unwritable(error) from error

    def _origins(self, path: Path) -> tuple[str, ...]:
        """Who sent a picture: as its note says, else as its URL does."""
        try:
            return tuple(map(str, json.loads(_note(path).read_text(encoding="utf-8"))["origins"]))
        except (OSError, ValueError, KeyError, TypeError):
            parts = urlsplit(self._urls[path])
            return (f"{parts.scheme}://{parts.hostname}",)

    def _unwritable(self, error: OSError) -> DatasetError:
        return DatasetError(
            f"fetched pictures cannot be kept here ({error.strerror or error}); name another folder with fetch_images",
            file=self._folder,
        )


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _mended(item: Item, lost: Mapping[ImageSource, ImageSource]) -> Item:
    if not any(source in lost for source in item.images):
        return item
    return replace(item, images=tuple(lost.get(source, source) for source in item.images))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # refused with its reason where it is fetched
        return ""


def _shown(url: str) -> str:
    """Returns a URL for a message: without its query, which may hold a key, and without a password."""
    plain = url.split("?", 1)[0].split("#", 1)[0]
    scheme, _, rest = plain.partition("://")
    host, slash, path = rest.partition("/")
    plain = f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
    return plain if len(plain) <= _LONGEST_NAME else f"{plain[: _LONGEST_NAME - 3]}..."
