"""What is odd about a file as a whole: sentences for the person who audits with it.

Knows items and columns. Changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from vqaudit.items.cells import describe
from vqaudit.items.columns import Columns
from vqaudit.items.image_cells import file_exists
from vqaudit.items.item import IMAGE_PLACE, Item
from vqaudit.items.screening import carries_instruction
from vqaudit.items.tables import Table

__all__ = ["find_hazards"]

_FEWEST = 10
"""Items from which on the answers' places say something."""
_LOPSIDED = 0.6
_IMAGE_NAME = re.compile(r"(?:image|img|picture|photo)(?!.*type)", re.IGNORECASE)
"""A column that may hold images, unlike MMMU's `img_type`."""


def find_hazards(items: Sequence[Item], *, columns: Columns, table: Table) -> list[str]:
    """Returns one sentence per kind of trouble, with how often it occurs and where first."""
    return [
        *_answer_places(items),
        *_counted(
            [item for item in items if any(option.lower() == "nan" for option in item.options)],
            "suspicious option text 'nan' in {n}: a missing cell, or 'None' misread?",
        ),
        *_counted(
            [item for item in items if carries_instruction(item.question)],
            "the question carries an instruction of its own in {n}, which may contradict the ending",
        ),
        *_counted(
            [item for item in items if not item.permutable],
            "{n} cannot be permuted, since options or question speak of options by ID or place",
        ),
        *_counted(
            [item for item in items if any(s.path is not None and not file_exists(s.path) for s in item.images)],
            "the image file is missing for {n}; the answers will be recorded as bad input",
        ),
        *_not_fetched(items),
        *_counted(
            [item for item in items if not item.has_image_places and _names_a_place(item)],
            "'<image 1>' or the like stands in the text of {n}, whose images are not numbered: it is shown as text",
        ),
        *_one_group(items),
        *_unused_images(columns, table),
    ]


def _counted(found: Sequence[Item], sentence: str) -> list[str]:
    if not found:
        return []
    count = f"{len(found)} item{'s' if len(found) > 1 else ''} (first: {found[0].id!r})"
    return [sentence.format(n=count)]


def _not_fetched(items: Sequence[Item]) -> list[str]:
    found = [item for item in items if any(source.problem is not None for source in item.images)]
    first = next((s.problem for item in found for s in item.images if s.problem is not None), "")
    sentence = "a picture could not be fetched for {n}; the answers will be recorded as bad input"
    return [f"{words} ({first})" for words in _counted(found, sentence)]


def _names_a_place(item: Item) -> bool:
    return any(IMAGE_PLACE.search(text) for text in (item.question, *item.options))


def _answer_places(items: Sequence[Item]) -> list[str]:
    if len(items) < _FEWEST:
        return []
    place, count = Counter(item.answer for item in items).most_common(1)[0]
    if count == len(items) and place == 0:
        return [
            "the right option is always first: shuffle the options of every item, or a first-choice bias scores 100 %"
        ]
    share = count / len(items)
    if share <= _LOPSIDED:
        return []
    return [f"{share:.0%} of the right options ({count} of {len(items)}) stand at place {place + 1}"]


def _one_group(items: Sequence[Item]) -> list[str]:
    groups = {item.group for item in items}
    if len(items) < 2 or len(groups) != 1 or None in groups:
        return []
    return [f"all items are of one group {groups.pop()!r}, so no interval over groups can be given"]


def _unused_images(columns: Columns, table: Table) -> list[str]:
    if columns.images is not None:
        return []
    unused = [name for name in table.columns if _IMAGE_NAME.search(name) and table.is_filled(name)]
    if not unused:
        return []
    return [
        f"the items have no images, though the file has {describe(unused)}; say which with columns=Columns(images=...)"
    ]
