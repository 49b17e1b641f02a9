"""A benchmark's name into a dataset: found, read, its traps handled, what is left out counted.

Knows the order of the steps. Which benchmark has which trap is data (`entries`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.items.benchmarks.entry import Benchmark, LeftOut
from vqaudit.items.benchmarks.names import Wanted
from vqaudit.items.benchmarks.packing import PictureStore
from vqaudit.items.cells import describe
from vqaudit.items.columns import Columns
from vqaudit.items.dataset import Dataset, digest_items
from vqaudit.items.grouping import group_by_picture
from vqaudit.items.hub import HubSource, read_hub
from vqaudit.items.loading import LoadSpec, load_table
from vqaudit.items.native import read_native
from vqaudit.items.tables import SUFFIXES, Row, Table, read_table

__all__ = ["load_benchmark"]

_COPIES = LeftOut("rotated copies of a question that is kept, since designs rotate the options themselves")
_NO_PICTURES = "no question has a picture: is this a copy without the images?"


def load_benchmark(
    wanted: Wanted,
    spec: LoadSpec | None = None,
    *,
    split: str | None = None,
    image_root: str | Path | None = None,
    fetch_images: str | Path | None = None,
) -> Dataset:
    """Reads a named benchmark from the hub, or from a local copy, and handles what is known of its data.

    Items that show the same picture are put into one group, so that intervals count them as depending on one another.

    Args:
        wanted: The benchmark, and where its data is; see `benchmarks.names.parse_name`.
        spec: Columns or answers other than the entry's, a limit, and whether bad rows may be left out.
        split: Another split than the entry's.
        image_root: The folder that image paths of a local copy start from; by default that of its file.
        fetch_images: A folder into which pictures are fetched that the data name by URL; else a URL is refused.

    Raises:
        DatasetError: There is no such split or copy, the hub cannot be reached, or a row is bad.
        EngineUnavailable: The package `datasets` is needed and not installed.
    """
    spec = spec or LoadSpec()
    entry, chosen = wanted.entry, _split(wanted.entry, split)
    source = _Source(entry=entry, wanted=wanted, split=chosen, root=None if image_root is None else Path(image_root))
    sieve = _Sieve(entry=entry)
    rows = list(sieve.pass_on(source.rows(), spec.limit))
    if not rows:
        left = sieve.sentences()
        raise DatasetError(f"no questions{''.join(f': {sentence}' for sentence in left)}", file=source.path)
    table = Table.of(source.path, rows)
    layout = _layout(entry, spec, table)
    dataset = load_table(table, layout, image_root=source.image_folder, fetch_images=fetch_images)
    return _finished(dataset, entry, sieve, origin=source.origin)


def _split(entry: Benchmark, split: str | None) -> str:
    known = (entry.split, *entry.splits)
    if split is None:
        return entry.split
    if split not in known:
        raise DatasetError(f"{entry.title} has no split {split!r} with right answers; it has {describe(known)}")
    return split


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    """Where the rows of a benchmark come from."""

    entry: Benchmark
    wanted: Wanted
    split: str
    root: Path | None

    @property
    def place(self) -> Path | None:
        """The local copy, where one is named."""
        return self.wanted.place

    @property
    def path(self) -> Path:
        """What error messages name."""
        return self.place or Path(self.wanted.hub)

    @property
    def image_folder(self) -> Path:
        """The folder that image paths must stay in."""
        if self.root is not None:
            return self.root
        if self.place is None:
            return Path()
        return self.place if self.place.is_dir() else self.place.parent

    @property
    def origin(self) -> str:
        """Where the data came from, for the manifest."""
        if self.place is not None:
            return f"local copy {self.place.name!r}, split {self.split!r}"
        revision = self.wanted.revision
        at = "" if revision is None else f" at {revision}"
        return f"hub data set {self.wanted.hub!r}{at}, split {self.split!r}"

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yields the rows as the source has them."""
        if self.place is not None:
            if self.entry.native is not None:
                native = read_native(self.entry.native, self.place, split=self.split, image_root=self.root)
                if native is not None:
                    return native
            if self.place.suffix.lower() in SUFFIXES:
                return self._file_rows(self.place)
        hub = HubSource(
            name=self.wanted.hub if self.place is None else str(self.place),
            configs=self.wanted.configs,
            split=self.split,
            revision=self.wanted.revision if self.place is None else None,
        )
        return read_hub(hub)

    def _file_rows(self, place: Path) -> Iterator[Mapping[str, Any]]:
        for row in read_table(place).rows:
            if row.problem is not None:
                raise DatasetError(row.problem, file=place, row=row.number)
            yield row.cells if row.key is None else {"id": row.key, **row.cells}


@dataclass(kw_only=True, slots=True)
class _Sieve:
    """Passes on the rows that are questions of their own and counts the others by reason."""

    entry: Benchmark
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def pass_on(self, rows: Iterable[Mapping[str, Any]], limit: int | None) -> Iterator[Row]:
        """Yields rows that keep their number in the source, at most `limit` of them."""
        seen: set[object] = set()
        pictures = PictureStore(self.entry.columns.images)
        kept = 0
        for number, cells in enumerate(rows, start=1):
            made = self._made(pictures.pack(cells), seen)
            if isinstance(made, LeftOut):
                self.left_out[made.reason] += 1
                self.first.setdefault(made.reason, f"row {number}")
                continue
            yield Row(number=number, cells=made)
            kept += 1
            if kept == limit:
                return

    def _made(self, cells: Mapping[str, Any], seen: set[object]) -> Mapping[str, Any] | LeftOut:
        for step in self.entry.steps:
            made = step(cells)
            if isinstance(made, LeftOut):
                return made
            cells = made
        if self.entry.copies is not None:
            key = self.entry.copies(cells)
            if key in seen:
                return _COPIES
            seen.add(key)
        return cells

    def sentences(self) -> list[str]:
        """Says how many rows were left out, and why."""
        return [
            f"left out: {count} row{'s' if count > 1 else ''} ({reason}; first: {self.first[reason]})"
            for reason, count in self.left_out.items()
        ]


def _layout(entry: Benchmark, spec: LoadSpec, table: Table) -> LoadSpec:
    """Returns the entry's layout where the table has all its columns, else what names tell; what is said wins."""
    named = {f.name: getattr(spec.columns, f.name) for f in fields(Columns)}
    declared = {f.name: getattr(entry.columns, f.name) for f in fields(Columns)}
    if declared["options"] == declared["question"] and {"A", "B"} <= set(table.columns):
        declared["options"] = None  # a copy in VLMEvalKit's layout, where the options have columns
    flat = [n for value in declared.values() for n in ((value,) if isinstance(value, str) else value or ())]
    if not set(filter(None, flat)) <= set(table.columns):
        return spec
    merged = {name: declared[name] if said is None else said for name, said in named.items()}
    return replace(spec, columns=Columns(**merged), answers=spec.answers or entry.answers)


def _finished(dataset: Dataset, entry: Benchmark, sieve: _Sieve, *, origin: str) -> Dataset:
    items = group_by_picture(dataset.items)
    why = entry.not_permutable
    if why is not None:
        items = tuple(replace(item, permutable=False, notes=(*item.notes, why)) for item in items)
    lacking = [_NO_PICTURES] if not any(item.images for item in items) else []
    return replace(
        dataset,
        name=entry.name,
        items=items,
        warnings=(*lacking, *sieve.sentences(), *dataset.warnings),
        digest=digest_items(items),
        origin=origin,
        left_out=dict(sieve.left_out),
    )
