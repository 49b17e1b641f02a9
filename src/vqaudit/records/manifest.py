"""Who was asked what, how and when.

Knows the manifest's fields. Written by the driver alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vqaudit.errors import RecordError
from vqaudit.records.files import write_text
from vqaudit.records.migration import check_version
from vqaudit.records.schemas import SCHEMA_VERSION

__all__ = ["Manifest", "read_manifest", "write_manifest"]


class Manifest(BaseModel):
    """Who was asked what, how and when. Written by the driver alone."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = SCHEMA_VERSION
    vqaudit_version: str
    reader_version: str
    """Version of the rules that turned replies into readings."""
    status: Literal["started", "complete", "interrupted", "failed", "imported"] = "started"
    model: str
    engine: dict[str, Any] = Field(default_factory=dict)
    """What the engine says of itself: revision, dtype, device, chat template and its arguments."""
    id_tokens: dict[str, Any] = Field(default_factory=dict)
    """How the option IDs are tokenised, by ID set."""
    watch: dict[str, Any] = Field(default_factory=dict)
    """Words whose next-token mass is recorded beside ID scores, and how they are tokenised."""
    dataset: dict[str, Any] = Field(default_factory=dict)
    """Name, file, columns, hash over all items, counts, items that were left out and why, hosts of fetched pictures."""
    designs: list[dict[str, Any]] = Field(default_factory=list)
    interfaces: dict[str, Any] = Field(default_factory=dict)
    formats: dict[str, Any] = Field(default_factory=dict)
    """Every ID set, delimiter and separator that was used, as shown."""
    reference_format: str | None = None
    system: str | None = None
    image_max_pixels: int | None = None
    seed: int | None = None
    identity: dict[str, Any] = Field(default_factory=dict)
    """What must be equal for two sessions to write into one directory: model, data, prompts, decoding."""
    stopping: dict[str, Any] = Field(default_factory=dict)
    """Of a run that drew until a target: target, draws, whether it was reached, why it stopped, what it saved."""
    counts: dict[str, int] = Field(default_factory=dict)
    """planned, done, failed."""
    packages: dict[str, str] = Field(default_factory=dict)
    environment: dict[str, Any] = Field(default_factory=dict)
    """Settings of the process that asked on which what it measures may depend: of Pillow, which pictures it decodes."""
    command: list[str] = Field(default_factory=list)
    started: str | None = None
    """UTC, ISO 8601."""
    finished: str | None = None
    seconds: float | None = None
    """Wall-clock time spent in all sessions."""


def write_manifest(run: Path, manifest: Manifest) -> None:
    """Writes `manifest.json` atomically."""
    write_text(run / "manifest.json", manifest.model_dump_json(indent=1) + "\n")


def read_manifest(run: str | Path) -> Manifest:
    """Reads `manifest.json`.

    Raises:
        RecordError: There is none, or it is not one of ours.
        SchemaMismatch: It was written by a newer vqaudit.
    """
    path = Path(run) / "manifest.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RecordError(f"{run} is no run directory: it has no manifest.json") from error
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(f"{path} cannot be read: {error}") from error
    check_version(raw.get("schema_version") if isinstance(raw, dict) else None, path=path)
    try:
        return Manifest.model_validate(raw | {"schema_version": SCHEMA_VERSION})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RecordError(f"{path}, field {place!r}: {first['msg']}") from error
