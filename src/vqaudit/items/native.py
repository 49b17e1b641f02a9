"""The files in which the authors of A-OKVQA, ScienceQA and V*Bench publish, into rows.

Knows their folders and fields. Knows no hub; no picture is opened.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np

from vqaudit.errors import DatasetError
from vqaudit.items.cells import shorten
from vqaudit.items.image_cells import file_exists
from vqaudit.items.tables import read_table

__all__ = ["NATIVE", "read_native"]

_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".JPG", ".PNG")
_KINDS = ("direct_attributes", "relative_position")
"""V*Bench's folders."""

NativeReader = Callable[[Path, str, Path], Iterator[dict[str, Any]]]
"""Yields rows of (file or folder, split, folder of the pictures)."""


def read_native(
    kind: str, place: Path, *, split: str, image_root: Path | None = None
) -> Iterator[dict[str, Any]] | None:
    """Returns the rows of the authors' own files; None where the place does not hold such files.

    Args:
        kind: One of `NATIVE`.
        place: The file, or the folder that it lies in.
        split: `val`, `test`, ... as the files call it; `validation` is `val`.
        image_root: The folder of the pictures; by default that of the file.

    Raises:
        DatasetError: The file is broken, or has no such split.
    """
    find, read = NATIVE[kind]
    split = "val" if split == "validation" else split
    found = find(place, split)
    if found is None:
        return None
    return read(found, split, image_root or (found if found.is_dir() else found.parent))


def _find_aokvqa(place: Path, split: str) -> Path | None:
    file = place / f"aokvqa_v1p0_{split}.json" if place.is_dir() else place
    if file.suffix != ".json" or not file.is_file():
        return None
    return file


def _read_aokvqa(file: Path, split: str, root: Path) -> Iterator[dict[str, Any]]:
    """COCO's pictures are named by a number of 12 digits, in `val2017/` or in the folder itself."""
    for row in read_table(file).rows:
        cells = dict(row.cells)
        if row.problem is not None or "image_id" not in cells:
            raise DatasetError(row.problem or "no 'image_id'; is it a file of A-OKVQA?", file=file, row=row.number)
        if cells.get("split", split) != split:
            continue
        yield {**cells, "image": _coco_name(cells["image_id"], split, root)}


def _coco_name(number: Any, split: str, root: Path) -> str:
    try:
        name = f"{int(number):012}.jpg"
    except (TypeError, ValueError):
        raise DatasetError(f"'image_id' must be a whole number, not {shorten(number)}") from None
    year = "val" if split == "val" else split
    names = (f"{year}2017/{name}", name, f"coco/{year}2017/{name}")
    return next((option for option in names if file_exists(root / option)), names[0])


def _find_scienceqa(place: Path, split: str) -> Path | None:
    names = ("problems.json", "scienceqa/problems.json", "data/scienceqa/problems.json")
    if place.is_dir():
        return next((place / name for name in names if (place / name).is_file()), None)
    return place if place.suffix == ".json" and place.is_file() else None


def _read_scienceqa(file: Path, split: str, root: Path) -> Iterator[dict[str, Any]]:
    """Problems are keyed by ID; which are of a split is said beside them, else by each problem itself."""
    table = read_table(file)
    chosen = _pids(file, split)
    for row in table.rows:
        cells = dict(row.cells)
        if row.key is None or row.problem is not None:
            raise DatasetError(row.problem or "problems keyed by ID are needed", file=file, row=row.number)
        if row.key in chosen if chosen is not None else cells.get("split", split) == split:
            yield {"id": row.key, **cells, "image": _scienceqa_picture(row.key, cells, split, root)}


def _pids(file: Path, split: str) -> frozenset[str] | None:
    beside = file.with_name("pid_splits.json")
    if not beside.is_file():
        return None
    try:
        splits = json.loads(beside.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DatasetError(f"not valid JSON ({error})", file=beside) from None
    if not isinstance(splits, dict) or split not in splits:
        raise DatasetError(f"no split {split!r}, only {shorten(list(splits))}", file=beside)
    return frozenset(str(pid) for pid in splits[split])


def _scienceqa_picture(pid: str, cells: Mapping[str, Any], split: str, root: Path) -> str | None:
    name = cells.get("image")
    if not name:
        return None
    own = cells.get("split") or split
    places = (f"{own}/{pid}/{name}", f"images/{own}/{pid}/{name}", f"{pid}/{name}")
    return next((place for place in places if file_exists(root / place)), places[0])


def _find_vstar(place: Path, split: str) -> Path | None:
    return place if any((place / kind).is_dir() for kind in _KINDS) else None


def _read_vstar(folder: Path, split: str, root: Path) -> Iterator[dict[str, Any]]:
    """One picture and one JSON file of the same stem per question; the first option is always the right one.

    The options are put in an order that follows from the question's name alone (a seeded permutation), so that always
    choosing the first scores what chance gives.
    """
    for kind in _KINDS:
        for file in sorted((folder / kind).glob("*.json")):
            try:
                cells = json.loads(file.read_text(encoding="utf-8"))
            except ValueError as error:
                raise DatasetError(f"not valid JSON ({error})", file=file) from None
            options = cells.get("options") if isinstance(cells, dict) else None
            if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
                raise DatasetError("a list of texts is needed under 'options'", file=file)
            order = _seeded_order(f"{kind}/{file.stem}", len(options))
            picture = next((file.stem + end for end in _PICTURES if file_exists(file.with_name(file.stem + end))), None)
            yield {
                "question_id": f"{kind}/{file.stem}",
                "question": cells.get("question"),
                "options": [options[place] for place in order],
                "answer": ascii_uppercase[order.index(0)],
                "category": kind,
                "image": f"{kind}/{picture or file.stem + '.jpg'}",
            }


def _seeded_order(name: str, count: int) -> list[int]:
    """Returns a permutation that the name alone decides: the same on every machine and for every selection of items."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return [int(place) for place in np.random.default_rng(seed).permutation(count)]


NATIVE: Mapping[str, tuple[Callable[[Path, str], Path | None], NativeReader]] = {
    "a-okvqa": (_find_aokvqa, _read_aokvqa),
    "scienceqa": (_find_scienceqa, _read_scienceqa),
    "vstar": (_find_vstar, _read_vstar),
}
"""Kind -> what finds its files, and what reads them."""
