"""What is known of a benchmark before its data is there: source, layout, traps, and figures that others published.

Knows data about data. Reads nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from vqaudit.items.answers import AnswerKind
from vqaudit.items.columns import Columns

__all__ = ["Benchmark", "LeftOut", "Published", "RowKey", "Step", "Trap"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a row is no question of its own; equal reasons are counted together."""

    reason: str
    """In words that fit after a number of rows."""


Step = Callable[[Mapping[str, Any]], Mapping[str, Any] | LeftOut]
"""Makes a row of the source into a row of the loader, or says why it is left out."""
RowKey = Callable[[Mapping[str, Any]], object]
"""What all copies of one question have in common; the first of them is kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """Figures that others printed, to be held against those counted in the data; None where not printed."""

    where: str
    """The paper or card, with its table."""
    questions: int | None = None
    rotations: int | None = None
    """Rows of a circular evaluation: the sum of the numbers of options."""
    first_size: float | None = None
    """Mean image size in pixels, the column that is printed first (headed H in paper 1's table 5)."""
    second_size: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Trap:
    """Something about the data that makes a careless score wrong."""

    what: str
    handled: str
    """What is done about it, or that nothing can be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """A benchmark by its name on the command line."""

    name: str
    title: str
    hub: str
    """Owner and name of the data set on the Hugging Face hub."""
    configs: tuple[str | None, ...] = (None,)
    """The hub's configurations, read one after the other."""
    split: str
    splits: tuple[str, ...] = ()
    """Other splits that have right answers."""
    revision: str | None = None
    """Commit on the hub; None reads the newest. None of the entries was read from the hub where they were written."""
    licence: str | None = None
    """As the source states it; None where no source that was read states one."""
    licence_note: str = ""
    columns: Columns = field(default_factory=Columns)
    """The hub's layout; another layout is found by names."""
    answers: AnswerKind | None = None
    """What an answer of that layout means."""
    steps: tuple[Step, ...] = ()
    copies: RowKey | None = None
    """How rotated copies are told; None where there are none."""
    not_permutable: str | None = None
    """Why no item's options may be shown in another order or under other IDs."""
    format: str = "upper/dot/line_break"
    """The standard format, by its name in `vqaudit formats`."""
    format_source: str
    """Who asks in it."""
    published: tuple[Published, ...] = ()
    traps: tuple[Trap, ...] = ()
    local: str = "a folder with the hub's files, one Parquet, TSV, CSV or JSON file, or what save_to_disk wrote"
    """What a local copy may be."""
    native: str | None = None
    """The reader for the authors' own files: `a-okvqa`, `scienceqa` or `vstar`."""

    def to_dict(self) -> dict[str, Any]:
        """Returns what a person or a program may know of the entry, as JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "hub": self.hub,
            "configs": [config for config in self.configs if config is not None],
            "split": self.split,
            "splits": [self.split, *self.splits],
            "revision": self.revision,
            "licence": self.licence,
            "licence_note": self.licence_note or None,
            "format": self.format,
            "format_source": self.format_source,
            "permutable": self.not_permutable is None,
            "published": [asdict(figures) for figures in self.published],
            "traps": [asdict(trap) for trap in self.traps],
            "local": self.local,
        }
