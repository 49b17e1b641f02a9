"""One question with its options, right answer and images.

Knows what an item is. Knows nothing of how it is asked, who answers or where it was read.
"""

from __future__ import annotations

import hashlib
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from vqaudit.errors import DatasetError

__all__ = ["IMAGE_PLACE", "MAX_OPTIONS", "ImageSource", "Item"]

IMAGE_PLACE = re.compile(r"<image ([1-9][0-9]?)>")
"""The place of image k, counted from 1, in the text of a dataset that numbers its images."""

MAX_OPTIONS = 26
MAX_IMAGE_BYTES = 1 << 30
"""Bytes of the largest encoded picture that is read: more than any raster of the largest size has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageSource:
    """Where a picture is: encoded bytes, or a file; or why it is nowhere. Nothing is decoded until it is asked for."""

    data: bytes | None = None
    """The encoded picture (PNG, JPEG, ...), where the dataset carries it."""
    path: Path | None = None
    """The file that holds it, where the dataset names one."""
    problem: str | None = None
    """Why there is no picture, where it was to be fetched and could not be: what reading it says."""

    def __post_init__(self) -> None:
        if sum(part is not None for part in (self.data, self.path, self.problem)) != 1:
            raise DatasetError("an image is either bytes or a path")

    def read(self) -> bytes:
        """Returns the encoded bytes.

        Raises:
            DatasetError: The file cannot be read, is a pipe, a device or a folder, or is larger than 1 GiB; or the
                picture could not be fetched.
        """
        if self.problem is not None:
            raise DatasetError(self.problem)
        if self.data is not None:
            return self.data
        assert self.path is not None
        try:
            facts = self.path.stat()
            # A pipe in the folder would keep the reader waiting for ever, and a device never ends.
            if not stat.S_ISREG(facts.st_mode):
                raise DatasetError("the image is no regular file", file=self.path)
            if facts.st_size > MAX_IMAGE_BYTES:
                raise DatasetError(
                    f"the image has {facts.st_size:,} bytes; at most {MAX_IMAGE_BYTES:,} are read", file=self.path
                )
            return self.path.read_bytes()
        except OSError as error:
            raise DatasetError(f"the image cannot be read ({error.strerror})", file=self.path) from error

    def digest(self) -> str:
        """Returns the first 32 hexadecimal digits of the SHA-256 of the encoded bytes."""
        return hashlib.sha256(self.read()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One multiple-choice question.

    Raises:
        DatasetError: An empty question, fewer than 2 or more than 26 options, an answer out of range.

    Example:
        >>> item = Item(id="7", question="What is shown?", options=("a cat", "a dog"), answer=1)
        >>> item.options[item.answer]
        'a dog'
    """

    id: str
    """Unique within its dataset; always text, so that `8`, `8.0` and `"8"` are one."""
    question: str
    options: tuple[str, ...]
    """In dataset order: an option's index never changes, whatever is shown where."""
    answer: int
    """The index of the right option."""
    images: tuple[ImageSource, ...] = ()
    """In the order in which the dataset numbers them."""
    has_image_places: bool = False
    """Whether `<image k>` in the texts is the place of image k (the dataset numbers its images) or plain text."""
    hint: str | None = None
    category: str | None = None
    group: str | None = None
    """Items of one group depend on one another (one picture, one passage): intervals cluster by it."""
    permutable: bool = True
    """Whether the options may be shown in another order; `screening` says which may not, and why."""
    notes: tuple[str, ...] = ()
    """What screening found, in words, for the report."""
    source: str = field(default="", compare=False)
    """File and row, for error messages."""

    def __post_init__(self) -> None:
        if not self.id:
            raise DatasetError("an item has an empty ID")
        if not self.question.strip():
            raise DatasetError("the question is empty", item=self.id)
        if not 2 <= len(self.options) <= MAX_OPTIONS:
            raise DatasetError(f"{len(self.options)} options; 2 to {MAX_OPTIONS} are supported", item=self.id)
        if not 0 <= self.answer < len(self.options):
            raise DatasetError(
                f"the answer index {self.answer} is not among the {len(self.options)} options", item=self.id
            )

    @property
    def n_options(self) -> int:
        """How many options there are."""
        return len(self.options)

    @property
    def n_orders(self) -> int:
        """Admissible circular orders: as many as there are options, or 1 where they must not be permuted."""
        return self.n_options if self.permutable else 1

    @property
    def cluster(self) -> str:
        """What intervals cluster by: the group where there is one, else the item."""
        return self.group if self.group is not None else self.id
