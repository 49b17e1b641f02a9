"""Small pictures of a run's items, kept beside the records so that a page can show them.

Knows items, pictures and the folder `thumbs/`. Knows no trial. The run itself never reads them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from PIL import Image

from vqaudit.errors import DatasetError
from vqaudit.items.images import open_image
from vqaudit.items.item import ImageSource, Item
from vqaudit.records import RunTables
from vqaudit.records.files import write_whole

__all__ = ["write_thumbnails"]

_FOLDER = "thumbs"
_SIDE = 256
"""Pixels of the longer side: readable on a page, and about 6 kB a picture."""
_QUALITY = 70
"""Of WebP, from 0 to 100."""


def write_thumbnails(run: Path, items: Iterable[Item]) -> int:
    """Writes `thumbs/HASH.webp` for every picture of the run's items that is not there yet, and returns how many.

    A picture belongs to the run where its hash stands in `items.parquet`, so that the data of another run add nothing.
    One that cannot be decoded has no thumbnail: the run recorded its trials as bad input.

    Args:
        run: The run directory.
        items: The data that were asked.

    Raises:
        RecordError: There is no run, or the folder cannot be written.
    """
    wanted = set(RunTables.load(run).items["images"].explode().drop_nulls().to_list())
    folder = run / _FOLDER
    written = 0
    for name, source in _named(items):
        path = folder / f"{name}.webp"
        if name in wanted and not path.exists() and (small := _small(source)) is not None:
            _write(path, small)
            written += 1
    return written


def _named(items: Iterable[Item]) -> Iterator[tuple[str, ImageSource]]:
    for item in items:
        for source in item.images:
            try:
                yield source.digest(), source
            except DatasetError:
                continue


def _small(source: ImageSource) -> bytes | None:
    try:
        pixels = open_image(source).pixels
    except DatasetError:
        return None
    pixels.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    pixels.save(buffer, "WEBP", quality=_QUALITY)
    return buffer.getvalue()


def _write(path: Path, data: bytes) -> None:
    write_whole(path, lambda handle: handle.write(data), lasting=False)
