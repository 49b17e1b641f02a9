"""Damaged parts: taken out of a run with a note, so that their trials are asked again.

Knows parts. Decides nothing about trials: what is not on the disk is missing, and a session asks for what is missing.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa

from vqaudit.errors import RecordError, SchemaMismatch
from vqaudit.records.clock import utc_now
from vqaudit.records.files import as_frame, load_table, write_text
from vqaudit.records.parts import compacted_parts, list_parts, replaced_by
from vqaudit.records.schemas import TRIAL_SCHEMA

__all__ = ["QUARANTINE", "Quarantined", "read_sound_trials"]

QUARANTINE = "quarantine"
"""Folder of a run that holds what was taken out, each file with a note beside it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Quarantined:
    """What the note says of one part that was taken out."""

    part: str
    """Its name in `trials/`, and the name's beginning in `quarantine/`."""
    why: str
    when: str
    """UTC, ISO 8601."""
    bytes: int
    sha256: str

    @property
    def sentence(self) -> str:
        """What happened, in one sentence."""
        return f"{self.part} is damaged and stands in {QUARANTINE}/ now; its trials are asked again ({self.why})"


def read_sound_trials(run: Path) -> tuple[pl.DataFrame, list[Quarantined]]:
    """Reads every record that can be read and takes every damaged part out of the run. For the owner of a run alone.

    A part is damaged where its end or its index is missing or a page's checksum is wrong. A part of a newer schema is
    not damaged: it is refused, and nothing is moved.

    Returns:
        All records, superseded attempts included, and what was taken out.

    Raises:
        SchemaMismatch: A part was written by a newer vqaudit.
        RecordError: A damaged part cannot be moved.
    """
    taken: list[Quarantined] = []
    for path in compacted_parts(run):
        try:
            replaced_by(path)
        except RecordError as error:
            taken.append(_take_out(run, path, str(error)))
    tables = [TRIAL_SCHEMA.empty_table()]
    for path in list_parts(run):
        try:
            tables.append(load_table(path, TRIAL_SCHEMA))
        except SchemaMismatch:
            raise
        except RecordError as error:
            taken.append(_take_out(run, path, str(error)))
    return as_frame(pa.concat_tables(tables)).rechunk(), taken


def _take_out(run: Path, path: Path, why: str) -> Quarantined:
    folder = run / QUARANTINE
    try:
        content = path.read_bytes()
        folder.mkdir(exist_ok=True)
        note = Quarantined(
            part=path.name,
            why=why,
            when=utc_now(),
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        name = f"{path.name}.{note.sha256[:8]}"
        write_text(folder / f"{name}.json", json.dumps(asdict(note), indent=1) + "\n")
        os.replace(path, folder / name)
    except OSError as error:
        raise RecordError(f"{path} is damaged and cannot be moved to {folder} ({error.strerror or error})") from error
    return note
