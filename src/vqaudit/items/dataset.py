"""A benchmark in memory: items, what was left out, and what is odd about the file as a whole.

Knows items. Knows no file format.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vqaudit.errors import DatasetError
from vqaudit.items.answers import AnswerKind
from vqaudit.items.columns import Columns
from vqaudit.items.fetching import FetchedPictures
from vqaudit.items.item import ImageSource, Item

__all__ = ["Dataset", "SkippedItem", "digest_items"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SkippedItem:
    """A row that is no item."""

    row: int
    """Counted from 1 as a person counts data rows."""
    item: str | None
    """The item's ID, where it could be read."""
    sentence: str
    """What is wrong with it, and where."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dataset:
    """The items of one file, screened."""

    name: str
    path: Path
    items: tuple[Item, ...]
    """In file order."""
    skipped: tuple[SkippedItem, ...] = ()
    """Rows left out because the caller allowed it; empty otherwise."""
    columns: Columns
    """As named in the file."""
    answers: AnswerKind
    """How an answer names the right option: declared, or proved over the whole file."""
    warnings: tuple[str, ...] = ()
    """Sentences about the file as a whole, for the summary and the report."""
    digest: str
    """SHA-256 over all items and the bytes of their images: the same wherever the file lies."""
    origin: str | None = None
    """Where a named benchmark was read: hub data set or local copy, revision and split; None for a file."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Rows of a named benchmark that are no questions of their own, counted by the reason why."""
    fetched: FetchedPictures | None = None
    """Where pictures were fetched from that the data name by URL; None where none were."""

    def __len__(self) -> int:
        """Returns the number of items."""
        return len(self.items)

    def __iter__(self) -> Iterator[Item]:
        """Yields the items in file order."""
        return iter(self.items)


def digest_items(items: Iterable[Item]) -> str:
    """Returns the SHA-256 over what is asked: IDs, texts, right answers, groups, and the bytes of the images.

    A picture that cannot be read counts as such, wherever it should have been.

    Example:
        >>> cat = Item(id="1", question="What is it?", options=("a cat", "a dog"), answer=0)
        >>> dog = Item(id="1", question="What is it?", options=("a cat", "a dog"), answer=1)
        >>> digest_items([cat]) == digest_items([cat]), digest_items([cat]) == digest_items([dog])
        (True, False)
    """
    digest = hashlib.sha256()
    pictures: dict[ImageSource, str] = {}
    for item in items:
        for source in item.images:
            if source not in pictures:
                pictures[source] = _picture(source)
        fields = {
            "id": item.id,
            "question": item.question,
            "options": item.options,
            "answer": item.answer,
            "images": [pictures[source] for source in item.images],
            "places": item.has_image_places,
            "hint": item.hint,
            "category": item.category,
            "group": item.group,
        }
        line = json.dumps(fields, ensure_ascii=False, sort_keys=True)
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _picture(source: ImageSource) -> str:
    try:
        return source.digest()
    except DatasetError:
        return "unreadable"
