"""What a dataset is, counted in its data: questions, options, pictures and their sizes, places of the right options.

Knows items. Compares nothing with what others printed; `benchmarks.entry.Published` holds that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from vqaudit.items.dataset import Dataset
from vqaudit.items.images import ImageError, image_size
from vqaudit.items.item import ImageSource, Item

__all__ = ["DatasetStatistics", "dataset_statistics"]


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetStatistics:
    """Counts of one dataset."""

    questions: int
    rotations: int
    """Trials of a circular evaluation in one format: every item in each of its admissible orders."""
    all_rotations: int
    """The sum of the numbers of options: what paper 1's table 5 calls circular evaluation."""
    not_permutable: int
    options: Mapping[int, int]
    """Number of options -> questions with so many."""
    answer_places: Mapping[int, int]
    """Place in the data's own order, from 0 -> questions whose right option stands there."""
    without_image: int
    several_images: int
    unreadable_images: int
    """Pictures whose size cannot be told; they are left out of the means."""
    images: int
    """Pictures that questions show; one that several show counts for each of them."""
    distinct_images: int
    mean_width: float | None
    """Pixels, upright, over the pictures that questions show; None without a picture."""
    mean_height: float | None
    groups: int
    """Clusters for intervals: questions that share nothing are one each."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Rows that are no questions of their own, by the reason why."""
    skipped: int = 0
    """Bad rows that the caller allowed to leave out."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the counts as JSON values; keys that are numbers become text."""
        found = asdict(self)
        for name in ("options", "answer_places"):
            found[name] = {str(key): count for key, count in sorted(found[name].items())}
        return found | {"left_out": dict(self.left_out)}


def dataset_statistics(dataset: Dataset) -> DatasetStatistics:
    """Counts what a dataset holds, and measures its pictures without decoding their pixels.

    Example:
        >>> from pathlib import Path
        >>> from vqaudit.items.columns import Columns
        >>> items = [Item(id=str(n), question="q", options=("a", "b", "c")[: 2 + n], answer=n) for n in (0, 1)]
        >>> data = Dataset(name="x", path=Path("x"), items=tuple(items), columns=Columns(), answers="letter", digest="")
        >>> found = dataset_statistics(data)
        >>> found.questions, found.rotations, found.options, found.mean_width
        (2, 5, {2: 1, 3: 1}, None)
    """
    items = dataset.items
    sizes = _sizes(items)
    shown = [sizes[source] for item in items for source in item.images]
    measured = [size for size in shown if size is not None]
    return DatasetStatistics(
        questions=len(items),
        rotations=sum(item.n_orders for item in items),
        all_rotations=sum(item.n_options for item in items),
        not_permutable=sum(not item.permutable for item in items),
        options=dict(sorted(Counter(item.n_options for item in items).items())),
        answer_places=dict(sorted(Counter(item.answer for item in items).items())),
        without_image=sum(not item.images for item in items),
        several_images=sum(len(item.images) > 1 for item in items),
        unreadable_images=len(shown) - len(measured),
        images=len(shown),
        distinct_images=len(sizes),
        mean_width=fmean(width for width, _ in measured) if measured else None,
        mean_height=fmean(height for _, height in measured) if measured else None,
        groups=len({item.cluster for item in items}),
        left_out=dict(dataset.left_out),
        skipped=len(dataset.skipped),
    )


def _sizes(items: Iterable[Item]) -> dict[ImageSource, tuple[int, int] | None]:
    sizes: dict[ImageSource, tuple[int, int] | None] = {}
    for source in (source for item in items for source in item.images):
        if source in sizes:
            continue
        try:
            sizes[source] = image_size(source)
        except ImageError:
            sizes[source] = None
    return sizes
