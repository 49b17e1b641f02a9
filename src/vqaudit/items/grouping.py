"""Items that show the same picture depend on one another: one group, by which intervals cluster.

Knows items and the bytes of their pictures. Decodes none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from vqaudit.errors import DatasetError
from vqaudit.items.item import ImageSource, Item

__all__ = ["group_by_picture"]


def group_by_picture(items: Sequence[Item]) -> tuple[Item, ...]:
    """Gives items with the same pictures one group, where they have none yet.

    The group is named by the pictures' content, so that it is the same wherever the data comes from. An item whose
    pictures nobody shares, and one whose picture cannot be read, stays alone.

    Example:
        >>> one, two = ((ImageSource(data=data),) for data in (b"one", b"two"))
        >>> pictures = {"1": one, "2": two, "3": one}
        >>> items = [Item(id=n, question="q", options=("a", "b"), answer=0, images=i) for n, i in pictures.items()]
        >>> [item.group is not None for item in group_by_picture(items)]
        [True, False, True]
    """
    digests: dict[ImageSource, str | None] = {}
    keys = [_key(item, digests) for item in items]
    shared = Counter(keys)
    return tuple(
        replace(item, group=f"picture {key}") if key and shared[key] > 1 and item.group is None else item
        for item, key in zip(items, keys, strict=True)
    )


def _key(item: Item, digests: dict[ImageSource, str | None]) -> str | None:
    parts = [_digest(source, digests) for source in item.images]
    known = [part for part in parts if part is not None]
    return "-".join(part[:16] for part in known) if known and len(known) == len(parts) else None


def _digest(source: ImageSource, digests: dict[ImageSource, str | None]) -> str | None:
    if source not in digests:
        try:
            digests[source] = source.digest()
        except DatasetError:
            digests[source] = None
    return digests[source]
