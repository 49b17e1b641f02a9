"""A file into a screened dataset: columns found, answers proved, images located, bad rows reported.

Knows the order of the steps; what each step does is in a module of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict, Unpack, get_args

from vqaudit.errors import DatasetError
from vqaudit.items.answers import Answer, AnswerKind, prove_kind
from vqaudit.items.cells import describe, is_empty
from vqaudit.items.columns import Columns, resolve_columns
from vqaudit.items.copies import group_rotated_copies
from vqaudit.items.dataset import Dataset, SkippedItem, digest_items
from vqaudit.items.fetching import PictureFetcher
from vqaudit.items.hazards import find_hazards
from vqaudit.items.image_cells import ImageFinder
from vqaudit.items.item import Item
from vqaudit.items.nested import flatten_questions
from vqaudit.items.rows import Draft, ItemMaker, draft_row, row_id, text_numbers_images
from vqaudit.items.tables import Table, read_table

__all__ = ["ImagePlaces", "LoadSpec", "load_items", "load_table"]

_NAMED_DUPLICATES = 5


class ImagePlaces(TypedDict, total=False):
    """Where pictures are that the data do not carry themselves."""

    image_root: str | Path | None
    """The folder that image paths start from and must stay in; by default that of the file."""
    fetch_images: str | Path | None
    """A folder into which pictures are fetched that are named by URL; where it is None, a URL is refused."""


def load_items(
    path: str | Path,
    *,
    columns: Columns | None = None,
    answers: AnswerKind | None = None,
    skip_bad_items: bool = False,
    limit: int | None = None,
    **images: Unpack[ImagePlaces],
) -> Dataset:
    r"""Reads a benchmark from a .jsonl, .json, .csv, .tsv or .parquet file and screens its items.

    Images are located, not decoded: one that is missing, broken or could not be fetched becomes a `bad_input` record
    when it is asked.

    Args:
        path: The file. A .json file holds a list of records, a dictionary of records keyed by ID, or a list under
            `data`, `items`, `questions`, `examples`, `samples` or `rows`.
        columns: Which column holds what; what is not declared is found by name, as `Columns` documents.
        answers: What an answer means; where it is None, it must be provable over the whole file.
        skip_bad_items: Leave out bad rows and list them in `Dataset.skipped` instead of raising.
        limit: Read at most so many items, from the first; what answers mean is still proved over the whole file.
        **images: `image_root`, the folder that image paths start from and must stay in, by default that of the file;
            `fetch_images`, a folder into which pictures that are named by URL are fetched, each once: `https`, or
            `http` where the data say so, from public addresses alone, raster formats of at most 32 MiB. Without it a
            URL is refused.

    Raises:
        DatasetError: The file cannot be read, a column cannot be told, the answers have no provable meaning, or a row
            is bad; the message names file, row, column and item, and how many more rows are bad.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "tiny.csv")
        ...     _ = path.write_text("index,question,A,B,C,answer\n1,How many?,one,None,,B\n", encoding="utf-8")
        ...     [(item.id, item.options, item.answer) for item in load_items(path)]
        [('1', ('one', 'None'), 1)]
    """
    spec = LoadSpec(columns=columns or Columns(), answers=answers, skip_bad_items=skip_bad_items, limit=limit)
    return load_table(read_table(Path(path)), spec, **images)


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadSpec:
    """How rows are read; the fields are arguments of `load_items`."""

    columns: Columns = field(default_factory=Columns)
    answers: AnswerKind | None = None
    skip_bad_items: bool = False
    limit: int | None = None


def load_table(
    table: Table,
    spec: LoadSpec,
    *,
    image_root: str | Path | None = None,
    fetch_images: str | Path | None = None,
) -> Dataset:
    """Turns rows, wherever they come from, into a screened dataset.

    Args:
        table: The rows.
        spec: How they are read.
        image_root: As for `load_items`.
        fetch_images: As for `load_items`.

    Raises:
        DatasetError: As for `load_items`.
    """
    _check_arguments(spec.answers, spec.limit)
    fetcher = None if fetch_images is None else PictureFetcher(fetch_images)
    table = flatten_questions(table)
    found = resolve_columns(spec.columns, table)
    ids = _row_ids(table, found)
    outcomes = _draft_all(table, found, _duplicates(ids, table, column=found.id, raise_them=not spec.skip_bad_items))
    drafts = [outcome for outcome in outcomes if isinstance(outcome, Draft)]
    finder = _finder(table, found, ids, image_root)
    maker = ItemMaker(
        path=table.path,
        columns=found,
        kind=spec.answers or _prove(drafts, found, table),
        finder=finder if fetcher is None else replace(finder, place_of=fetcher.source),
        numbers_images=_numbers_images(drafts, found),
    )
    items, problems = _make_all(outcomes, maker, spec.limit)
    skipped = _leave_out(problems, table, any_item=bool(items), allowed=spec.skip_bad_items)
    if fetcher is None:
        return _dataset(items, skipped, maker, table)
    # Nothing is fetched before the data are known to be sound, and nothing for rows that are left out.
    items, fetched = fetcher.settle(items)
    return replace(_dataset(items, skipped, maker, table), fetched=fetched)


def _check_arguments(answers: str | None, limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise DatasetError(f"limit must be at least 1, not {limit}")
    if answers is not None and answers not in get_args(AnswerKind):
        raise DatasetError(f"answers={answers!r} is unknown; {describe(get_args(AnswerKind))} can be said")


def _row_ids(table: Table, columns: Columns) -> dict[int, str]:
    """Returns row number -> item ID, for the rows that have a readable one."""
    ids: dict[int, str] = {}
    for row in table.rows:
        try:
            ids[row.number] = row_id(row, columns)
        except DatasetError:
            continue
    return ids


def _duplicates(ids: dict[int, str], table: Table, *, column: str | None, raise_them: bool) -> dict[int, DatasetError]:
    """Returns row number -> error for every row whose ID an earlier row has."""
    places: dict[str, list[int]] = {}
    for number, item in ids.items():
        places.setdefault(item, []).append(number)
    twice = {item: numbers for item, numbers in places.items() if len(numbers) > 1}
    if twice and raise_them:
        named = [f"{item} (rows {', '.join(map(str, n))})" for item, n in list(twice.items())[:_NAMED_DUPLICATES]]
        more = f" and {len(twice) - len(named)} more" if len(twice) > len(named) else ""
        raise DatasetError(
            f"duplicate IDs: {', '.join(named)}{more}; every item needs an ID of its own, and columns=Columns(id='') "
            "numbers the rows instead",
            file=table.path,
            column=column,
        )
    return {
        number: DatasetError(f"row {numbers[0]} has this ID already", file=table.path, row=number, item=item)
        for item, numbers in twice.items()
        for number in numbers[1:]
    }


def _draft_all(table: Table, columns: Columns, bad: dict[int, DatasetError]) -> list[Draft | DatasetError]:
    outcomes: list[Draft | DatasetError] = []
    for row in table.rows:
        try:
            outcomes.append(bad.get(row.number) or draft_row(row, columns, table.path))
        except DatasetError as error:
            outcomes.append(error)
    return outcomes


def _prove(drafts: Sequence[Draft], columns: Columns, table: Table) -> AnswerKind:
    assert columns.answer is not None
    answers = [Answer(value=draft.row.cells.get(columns.answer), options=draft.options) for draft in drafts]
    try:
        return prove_kind(answers)
    except DatasetError as error:
        raise DatasetError(error.message, file=table.path, column=columns.answer) from None


def _finder(table: Table, columns: Columns, ids: dict[int, str], root: str | Path | None) -> ImageFinder:
    folder = (table.path.parent if root is None else Path(root)).resolve()
    if not folder.is_dir():
        raise DatasetError("image_root is no folder", file=folder)
    if not isinstance(columns.images, str) or not columns.images:
        return ImageFinder(root=folder)
    cells = {ids[row.number]: row.cells.get(columns.images) for row in table.rows if row.number in ids}
    return ImageFinder(root=folder, cells={item: cell for item, cell in cells.items() if not is_empty(cell)})


def _numbers_images(drafts: Sequence[Draft], columns: Columns) -> bool:
    """Returns whether `<image k>` in the texts of this file means image k.

    Columns of their own number the images. A column of lists does where several images of one item are placed and no
    place anywhere lacks its image; else `<image 1>` is text, as in a question about HTML.
    """
    if not columns.images:
        return False
    return not isinstance(columns.images, str) or text_numbers_images(drafts, columns.images)


def _make_all(
    outcomes: Sequence[Draft | DatasetError], maker: ItemMaker, limit: int | None
) -> tuple[list[Item], list[DatasetError]]:
    items: list[Item] = []
    problems: list[DatasetError] = []
    for outcome in outcomes:
        if len(items) == limit:
            break
        if isinstance(outcome, DatasetError):
            problems.append(outcome)
            continue
        try:
            items.append(maker.make(outcome))
        except DatasetError as error:
            problems.append(error)
    return items, problems


def _leave_out(
    problems: Sequence[DatasetError], table: Table, *, any_item: bool, allowed: bool
) -> tuple[SkippedItem, ...]:
    if problems and not (allowed and any_item):
        first, more = problems[0], len(problems) - 1
        rest = f"; {more} more row{'s are' if more > 1 else ' is'} bad" if more else ""
        advice = "" if allowed else " (skip_bad_items leaves bad rows out and lists them)"
        raise DatasetError(
            f"{first.message}{rest}{advice if more else ''}",
            file=table.path,
            row=first.row,
            column=first.column,
            item=first.item,
        )
    return tuple(SkippedItem(row=error.row or 0, item=error.item, sentence=str(error)) for error in problems)


def _dataset(items: Sequence[Item], skipped: tuple[SkippedItem, ...], maker: ItemMaker, table: Table) -> Dataset:
    grouped, copied = group_rotated_copies(items)
    warnings = find_hazards(grouped, columns=maker.columns, table=table)
    if copied:
        warnings.insert(
            0,
            f"the file holds rotated copies of {copied} questions (IDs that differ by 1,000,000): they are grouped, "
            "and designs that permute options need only the first of each",
        )
    return Dataset(
        name=table.path.stem,
        path=table.path,
        items=grouped,
        skipped=skipped,
        columns=maker.columns,
        answers=maker.kind,
        warnings=tuple(warnings),
        digest=digest_items(grouped),
    )
