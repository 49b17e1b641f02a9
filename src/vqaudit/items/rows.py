"""One row into one item.

Knows a row's cells and which column holds what. Knows nothing of other rows, except through the image finder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.items.answers import Answer, AnswerKind, answer_index
from vqaudit.items.cells import is_empty, item_id, looks_like_list, parse_list, says_nan, text_of
from vqaudit.items.columns import Columns
from vqaudit.items.embedded import split_options
from vqaudit.items.image_cells import ImageFinder
from vqaudit.items.item import IMAGE_PLACE, MAX_OPTIONS, ImageSource, Item
from vqaudit.items.options import OptionList, read_labels, read_options
from vqaudit.items.screening import screen
from vqaudit.items.tables import Row

__all__ = ["Draft", "ItemMaker", "draft_row", "row_id", "text_numbers_images"]

_NO_HINT = ("nan", "none", "null", "n/a")
"""Words that some tables write into an empty hint; as a hint they would say nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A row of which ID, texts and options are read, and the answer is not yet."""

    row: Row
    id: str
    question: str
    hint: str | None
    options: OptionList
    notes: tuple[str, ...] = ()
    """What was done to the texts beyond reading them."""

    @property
    def places(self) -> frozenset[int]:
        """The images, from 1, that the texts place."""
        texts = (self.question, self.hint or "", *self.options.texts)
        return frozenset(int(match[1]) for text in texts for match in IMAGE_PLACE.finditer(text))


@contextmanager
def _at(
    path: Path, row: Row, *, item: str | None = None, column: str | tuple[str, ...] | None = None
) -> Iterator[None]:
    """Adds the place to every error of the data."""
    name = f"{column[0]} to {column[-1]}" if isinstance(column, tuple) else column
    try:
        yield
    except DatasetError as error:
        raise DatasetError(error.message, file=path, row=row.number, column=name or None, item=item) from error


def row_id(row: Row, columns: Columns) -> str:
    """Returns the ID of a row: from its column, its key in a keyed file, or its number.

    Raises:
        DatasetError: The row cannot be read, or its ID is missing.
    """
    if row.problem is not None:
        raise DatasetError(row.problem)
    if not columns.id:
        return row.key if row.key is not None and columns.id is None else f"row-{row.number}"
    found = item_id(row.cells.get(columns.id))
    if found is None or says_nan(found):
        raise DatasetError("the ID is missing")
    return found


def draft_row(row: Row, columns: Columns, path: Path) -> Draft:
    """Reads what can be read of a row before the meaning of the answers is known.

    Raises:
        DatasetError: No ID, question or options; the message names the place.
    """
    assert columns.question is not None
    assert columns.options is not None
    with _at(path, row, column=None if row.problem else columns.id):
        name = row_id(row, columns)
    with _at(path, row, item=name, column=columns.question):
        question = text_of(row.cells.get(columns.question))
        if question is None or says_nan(question):
            raise DatasetError("the question is empty")
    with _at(path, row, item=name, column=columns.hint):
        hint = text_of(row.cells.get(columns.hint)) if columns.hint else None
    notes: tuple[str, ...] = ()
    with _at(path, row, item=name, column=columns.options):
        if columns.options == columns.question:
            question, options, notes = _taken_apart(question)
        else:
            options = _options(row, columns)
    return Draft(
        row=row,
        id=name,
        question=question,
        hint=None if hint is None or hint.lower() in _NO_HINT else hint,
        options=options,
        notes=notes,
    )


def _taken_apart(text: str) -> tuple[str, OptionList, tuple[str, ...]]:
    """Returns question, options and notes of a question's text that holds its options."""
    found = split_options(text)
    if found is None:
        raise DatasetError(
            "the question's text holds no options that can be told apart in only one way (an open question?)"
        )
    _check_count(len(found.options))
    options = OptionList(texts=found.options, raw=found.options, labels=found.labels)
    said = found.instruction
    note = f"an instruction of the question is left out ({said!r}), since the ending of the prompt gives one"
    return found.question, options, (note,) if said else ()


def _check_count(count: int) -> None:
    if not 2 <= count <= MAX_OPTIONS:
        raise DatasetError(f"{count} option{'s' if count > 1 else ''}; 2 to {MAX_OPTIONS} are supported")


def _options(row: Row, columns: Columns) -> OptionList:
    assert columns.options is not None
    options = read_options(row.cells, columns.options)
    count = len(options.texts)
    _check_count(count)
    if not columns.labels or is_empty(row.cells.get(columns.labels)):
        return options
    labels = read_labels(row.cells.get(columns.labels))
    if len(labels) != count:
        raise DatasetError(f"{count} options, but {len(labels)} labels in {columns.labels!r}")
    return replace(options, labels=labels)


def text_numbers_images(drafts: Sequence[Draft], column: str) -> bool:
    """Returns whether a column of image lists numbers its images for the texts of the whole file."""
    counted = [(draft.places, _list_length(draft.row.cells.get(column))) for draft in drafts]
    is_complete = all(length is not None and max(places) <= length for places, length in counted if places)
    return is_complete and any(len(places) > 1 for places, _ in counted)


def _list_length(cell: Any) -> int | None:
    if isinstance(cell, str) and looks_like_list(cell):
        cell = parse_list(cell)
    return len(cell) if isinstance(cell, (list, tuple)) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemMaker:
    """Turns drafts into screened items, once it is known what the answers mean."""

    path: Path
    columns: Columns
    kind: AnswerKind
    finder: ImageFinder
    numbers_images: bool
    """Whether `<image k>` in a text is the place of image k."""

    def make(self, draft: Draft) -> Item:
        """Returns the item of a row.

        Raises:
            DatasetError: A bad answer, image or place; the message names file, row, column and item.
        """
        row, columns = draft.row, self.columns
        assert columns.answer is not None
        with _at(self.path, row, item=draft.id, column=columns.answer):
            answer = answer_index(Answer(value=row.cells.get(columns.answer), options=draft.options), self.kind)
        with _at(self.path, row, item=draft.id, column=columns.images):
            images = self._images(draft)
            has_places = self._has_places(draft, images)
        with _at(self.path, row, item=draft.id):
            return screen(
                Item(
                    id=draft.id,
                    question=draft.question,
                    options=draft.options.settle(answer).texts,
                    answer=answer,
                    images=images,
                    has_image_places=has_places,
                    hint=draft.hint,
                    category=_name(row, columns.category),
                    group=_name(row, columns.group),
                    notes=draft.notes,
                    source=f"{self.path.name}, row {row.number}",
                )
            )

    def _images(self, draft: Draft) -> tuple[ImageSource, ...]:
        columns, cells = self.columns.images, draft.row.cells
        if not columns:
            return ()
        if isinstance(columns, str):
            return self.finder.find(cells.get(columns), item=draft.id, folders=self._folders(draft))
        found = [self.finder.find(cells.get(column), item=draft.id) for column in columns]
        for column, sources in zip(columns, found, strict=True):
            if len(sources) > 1:
                raise DatasetError(f"{column!r} holds {len(sources)} images; where columns number them, each holds one")
        filled = [column for column, sources in zip(columns, found, strict=True) if sources]
        if filled != list(columns[: len(filled)]):
            raise DatasetError(f"{filled[-1]!r} has an image, but a column before it has none")
        return tuple(source for sources in found for source in sources)

    def _folders(self, draft: Draft) -> tuple[str, ...]:
        """Returns where a relative path may start: ScienceQA keeps `image.png` at `<split>/<id>/`."""
        split = draft.row.cells.get("split")
        if draft.row.key is None or not isinstance(split, str):
            return ("",)
        return ("", f"{split}/{draft.id}", f"images/{split}/{draft.id}")

    def _has_places(self, draft: Draft, images: Sequence[ImageSource]) -> bool:
        if not self.numbers_images or not draft.places:
            return False
        lacking = sorted(place for place in draft.places if place > len(images))
        if lacking:
            raise DatasetError(f"the text has a place <image {lacking[0]}>, but the item has {len(images)} images")
        return True


def _name(row: Row, column: str | None) -> str | None:
    """Returns a category or group as text."""
    value = row.cells.get(column) if column else None
    if isinstance(value, (list, tuple)):
        return ", ".join(str(part) for part in value) or None
    return None if says_nan(value) else item_id(value)
