"""One run, packed for its explorer: the whole of it where it fits, and what was left out where it does not.

Knows the parts beside it and how large a page may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from vqaudit.records import RunTables
from vqaudit.report.explorer.columns import NO_SCORE, SCORE_STEPS, TrialColumns, trial_columns
from vqaudit.report.explorer.filters import FILTERS, item_flags
from vqaudit.report.explorer.packing import PackedColumn, pack, pack_column, text_of
from vqaudit.report.explorer.pictures import Pictures, read_pictures
from vqaudit.report.explorer.texts import text_table
from vqaudit.report.untrusted import printable

__all__ = ["MAX_PACKED", "Explorer", "explorer_data"]

MAX_PACKED = 16_500_000
"""Bytes of packed data that a page carries: as text, with all else, it stays below 25 MB."""
_CUTS = (2000, 400)
"""Characters of a reply that are kept where whole ones are too much."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Explorer:
    """What a page carries of a run's items and trials."""

    text: str
    """The packed data, base64."""
    items: int
    trials: int
    notes: tuple[str, ...]
    """What was left out to keep the page small, in sentences."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draft:
    """What would be packed."""

    trials: TrialColumns
    items: pl.DataFrame
    columns: Mapping[str, PackedColumn]
    pictures: Pictures
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes, pictures included; names and item texts count roughly."""
        texts = sum(len(text) for column in ("question", "item", "hint") for text in self.items[column].drop_nulls())
        options = int(self.items["options"].explode().str.len_chars().sum())
        return sum(column.size for column in self.columns.values()) + len(self.pictures.images) + texts + options


def explorer_data(tables: RunTables, *, interface: str, most: int = MAX_PACKED) -> Explorer | None:
    """Packs a run's items and trials; None where the run has no trial.

    What is too large loses, in this order, the names of trials, pictures, the ends of long replies, the last items.

    Args:
        tables: From `RunTables.load`.
        interface: Which one the explorer shows first.
        most: Bytes of packed data that are allowed.
    """
    if not tables.trials.height:
        return None
    draft = _smaller(_draft(tables, None), tables, most)
    kept = tables.items.height
    while draft.size > most and kept > 1:
        kept = max(1, int(kept * min(0.9, 0.95 * most / draft.size)))
        draft = _smaller(_draft(tables, kept), tables, most)
    packed = pack(_header(draft, interface), {**draft.columns, **_picture_columns(draft.pictures)})
    notes = draft.notes
    if kept < tables.items.height:
        notes += (f"The first {kept:,} of {tables.items.height:,} items are here: more would make the page too large.",)
    return Explorer(text=text_of(packed), items=draft.items.height, trials=draft.trials.table.height, notes=notes)


def _draft(tables: RunTables, keep: int | None) -> _Draft:
    trials = trial_columns(tables, keep=keep)
    items = tables.items if keep is None else tables.items.head(keep)
    flags = item_flags(trials.table, items=items.height, interfaces=len(trials.names["interfaces"]))
    prompts = text_table(_segment_texts(tables, trials))
    columns = {
        **trials.columns,
        "flags": flags.flags.ravel(),
        "judged": flags.judged.ravel(),
        "right_of": flags.right.ravel(),
        "prompt_text": prompts.utf8,
        "prompt_length": prompts.lengths,
    }
    packed = {name: pack_column(column) for name, column in columns.items()}
    pictures = read_pictures(tables.path, items["images"].to_list())
    return _Draft(trials=trials, items=items, columns={**packed, **_said(trials, None)}, pictures=pictures)


def _said(trials: TrialColumns, longest: int | None) -> dict[str, PackedColumn]:
    said = text_table(trials.said, longest=longest)
    return {"said_text": pack_column(said.utf8), "said_length": pack_column(said.lengths)}


def _smaller(draft: _Draft, tables: RunTables, most: int) -> _Draft:
    """Leaves out what an explorer can miss most easily, until it fits or only items are left to leave out."""
    if draft.size > most:
        draft = replace(draft, columns={name: c for name, c in draft.columns.items() if name != "trial"})
    if draft.size > most and draft.pictures.kept:
        room = max(0, most - (draft.size - len(draft.pictures.images)))
        fewer = read_pictures(tables.path, draft.items["images"].to_list(), most=room)
        note = f"{fewer.kept:,} of {draft.pictures.kept:,} pictures fit into this page."
        draft = replace(draft, pictures=fewer, notes=(*draft.notes, note))
    whole = draft
    for longest in _CUTS:
        if draft.size > most:
            note = f"Replies of more than {longest} characters are cut here and end in …; the records hold them whole."
            columns = {**whole.columns, **_said(draft.trials, longest)}
            draft = replace(whole, columns=columns, notes=(*whole.notes, note))
    return draft


def _picture_columns(pictures: Pictures) -> dict[str, PackedColumn]:
    return {
        "picture": pack_column(pictures.images, compress=False),
        "picture_length": pack_column(pictures.lengths),
    }


def _header(draft: _Draft, interface: str) -> dict[str, Any]:
    names = [name for name, *_ in draft.trials.names["interfaces"]]
    return {
        "main": names.index(printable(interface)) if printable(interface) in names else 0,
        "filters": [list(row) for row in FILTERS],
        "items": _item_rows(draft.items, draft.pictures),
        "picture_types": draft.pictures.types,
        "steps": SCORE_STEPS,
        "no_score": NO_SCORE,
        **draft.trials.names,
    }


def _segment_texts(tables: RunTables, trials: TrialColumns) -> list[str]:
    """Texts of the pieces in the order of their codes; a piece that the run does not hold says so."""
    known = tables.segments()
    return [known.get(name, f"[the records do not hold the piece {name}]") for name in trials.segments]


def _item_rows(items: pl.DataFrame, pictures: Pictures) -> dict[str, list[Any]]:
    """Item texts by column."""

    def texts(name: str) -> list[str | None]:
        return [None if text is None else printable(text) for text in items[name].to_list()]

    return {
        "id": texts("item"),
        "question": texts("question"),
        "options": [[printable(text or "") for text in row or ()] for row in items["options"].to_list()],
        "answer": items["answer"].to_list(),
        "category": texts("category"),
        "hint": texts("hint"),
        "notes": [[printable(text or "") for text in row or ()] for row in items["notes"].to_list()],
        "pictures": pictures.of_items,
    }
