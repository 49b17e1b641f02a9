"""The waist of the hourglass: what a run directory holds, and the only code that writes or reads it.

Knows tables. Knows no engine, no prompt and no statistic. A run directory::

    manifest.json           who was asked what, how and when (Manifest)
    plan.parquet            which trials were planned, and for which designs (PLAN_SCHEMA)
    items.parquet           the items without their pictures (ITEM_SCHEMA)
    segments.parquet        hash -> text; a trial's prompt is the concatenation of its segments
    trials/*.parquet        append-only parts (TRIAL_SCHEMA), each written whole by an atomic rename
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field

from vqaudit.errors import RecordError, SchemaMismatch

__all__ = [
    "ITEM_SCHEMA",
    "PLAN_SCHEMA",
    "SCHEMA_VERSION",
    "SEGMENT_SCHEMA",
    "TRIAL_SCHEMA",
    "VOLATILE_COLUMNS",
    "Manifest",
    "PartWriter",
    "RunTables",
    "missing_trials",
    "read_manifest",
    "read_table",
    "read_trials",
    "records_digest",
    "segment_hash",
    "visible",
    "write_manifest",
    "write_table",
    "write_text",
]

SCHEMA_VERSION = 1

_ID_SCORE = pa.struct(
    [
        ("option_id", pa.string()),
        ("logprob", pa.float64()),
        ("rank", pa.int32()),
        ("token_ids", pa.list_(pa.int32())),
        ("spelling", pa.string()),
        ("in_place_logprob", pa.float64()),
    ]
)
_OPTION_SCORE = pa.struct([("logprob", pa.float64()), ("tokens", pa.int32()), ("characters", pa.int32())])
_TOP_TOKEN = pa.struct([("token_id", pa.int32()), ("text", pa.string()), ("logprob", pa.float64())])

TRIAL_SCHEMA = pa.schema(
    [
        # which trial
        pa.field("trial", pa.string(), nullable=False),
        pa.field("item", pa.string(), nullable=False),
        # how it was asked; null where a log is silent or the variant has no such thing
        pa.field("id_set", pa.string()),
        pa.field("delimiter", pa.string()),
        pa.field("separator", pa.string()),
        pa.field("order", pa.list_(pa.int16())),
        pa.field("id_order", pa.list_(pa.int16())),
        pa.field("interface", pa.string()),
        pa.field("ending", pa.string()),
        pa.field("place", pa.string()),
        pa.field("event", pa.string()),
        pa.field("option_ids", pa.list_(pa.string())),
        pa.field("segments", pa.list_(pa.string())),
        pa.field("prefill", pa.string()),
        # what came back
        pa.field("reply", pa.string()),
        pa.field("further", pa.string()),
        pa.field("reasoning", pa.string()),
        pa.field("finish_reason", pa.string()),
        pa.field("budget", pa.int32()),
        pa.field("id_scores", pa.list_(_ID_SCORE)),
        pa.field("id_mass", pa.float64()),
        pa.field("watch_mass", pa.float64()),
        pa.field("end_given_id", pa.float64()),
        pa.field("top_tokens", pa.list_(_TOP_TOKEN)),
        pa.field("option_scores", pa.list_(_OPTION_SCORE)),
        # what it was read as
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("position", pa.int16()),
        pa.field("chosen", pa.int16()),
        pa.field("reason", pa.string()),
        pa.field("margin", pa.float64()),
        pa.field("longer_id", pa.string()),
        pa.field("lenient_outcome", pa.string()),
        pa.field("lenient_position", pa.int16()),
        pa.field("lenient_chosen", pa.int16()),
        pa.field("lenient_reason", pa.string()),
        # how it went
        pa.field("attempt", pa.int32(), nullable=False),
        pa.field("worker", pa.string()),
        pa.field("seconds", pa.float64()),
        pa.field("tokens_computed", pa.int32()),
        pa.field("tokens_reused", pa.int32()),
        pa.field("error", pa.string()),
    ]
)
"""One row per attempt at a trial. Positions and option indices count from 0; log-probabilities are natural."""

VOLATILE_COLUMNS = ("attempt", "worker", "seconds")
"""Columns that may differ between two runs that measured the same."""

ITEM_SCHEMA = pa.schema(
    [
        pa.field("item", pa.string(), nullable=False),
        pa.field("question", pa.string()),
        pa.field("options", pa.list_(pa.string())),
        pa.field("answer", pa.int16()),
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("category", pa.string()),
        pa.field("hint", pa.string()),
        pa.field("images", pa.list_(pa.string())),
        pa.field("n_orders", pa.int16()),
        pa.field("notes", pa.list_(pa.string())),
        pa.field("source", pa.string()),
    ]
)
"""One row per item, in dataset order. `images` holds hashes; `n_orders` counts the admissible circular orders."""

PLAN_SCHEMA = pa.schema(
    [
        pa.field("trial", pa.string(), nullable=False),
        pa.field("item", pa.string(), nullable=False),
        pa.field("design", pa.string(), nullable=False),
        pa.field("draw", pa.int32(), nullable=False),
        pa.field("interface", pa.string(), nullable=False),
    ]
)
"""One row per trial and reason for it: a trial that two designs share has two rows and one record.

`design` is `grid`, `reference` or `randomised`; `draw` counts the randomised draws of an item from 0 (else 0)."""

SEGMENT_SCHEMA = pa.schema(
    [pa.field("segment", pa.string(), nullable=False), pa.field("text", pa.string(), nullable=False)]
)


def segment_hash(text: str) -> str:
    """Returns the name of a piece of prompt text: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
    dataset: dict[str, Any] = Field(default_factory=dict)
    """Name, file, columns, hash over all items, counts, items that were left out and why."""
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
    counts: dict[str, int] = Field(default_factory=dict)
    """planned, done, failed."""
    packages: dict[str, str] = Field(default_factory=dict)
    command: list[str] = Field(default_factory=list)
    started: str | None = None
    """UTC, ISO 8601."""
    finished: str | None = None
    seconds: float | None = None
    """Wall-clock time spent in all sessions."""


def write_text(path: Path, text: str) -> None:
    """Writes text so that a reader sees the old file or the new one, never a part of either."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as handle:
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RecordError(f"{path} cannot be written ({error.strerror})") from error


def write_manifest(run: Path, manifest: Manifest) -> None:
    """Writes `manifest.json` atomically."""
    write_text(run / "manifest.json", manifest.model_dump_json(indent=1) + "\n")


def read_manifest(run: str | Path) -> Manifest:
    """Reads `manifest.json`.

    Raises:
        RecordError: There is none, or it is not one of ours.
        SchemaMismatch: It was written under another schema version.
    """
    path = Path(run) / "manifest.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RecordError(f"{run} is no run directory: it has no manifest.json") from error
    except (OSError, ValueError) as error:
        raise RecordError(f"{path} cannot be read: {error}") from error
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA_VERSION:
        raise SchemaMismatch(f"{path} has schema version {version!r}; this vqaudit reads version {SCHEMA_VERSION}")
    return Manifest.model_validate(raw)


def write_table(path: Path, rows: Sequence[Mapping[str, Any]] | pa.Table, schema: pa.Schema) -> None:
    """Writes one Parquet file whole, by an atomic rename."""
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(list(rows), schema=schema)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as handle:
            pq.write_table(table, handle, compression="zstd")
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RecordError(f"{path} cannot be written ({error.strerror or error})") from error


class PartWriter:
    """Appends trial records as whole parts named worker-sequence.

    A part that is being written has a name that no reader looks at, so a kill leaves whole parts only.

    Args:
        run: The run directory.
        worker: Name of the writer, unique among those that write at one time.
    """

    def __init__(self, run: Path, *, worker: str) -> None:
        self._folder = run / "trials"
        self._worker = worker
        self._folder.mkdir(parents=True, exist_ok=True)
        for leftover in self._folder.glob(f".{worker}-*.tmp"):
            leftover.unlink(missing_ok=True)
        taken = [int(path.stem.rpartition("-")[2]) for path in self._folder.glob(f"{worker}-*.parquet")]
        self._next = max(taken, default=-1) + 1

    def write(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Writes the records as one part; does nothing where there are none."""
        if not records:
            return
        path = self._folder / f"{self._worker}-{self._next:06d}.parquet"
        write_table(path, records, TRIAL_SCHEMA)
        self._next += 1


def visible(trials: pl.DataFrame) -> pl.DataFrame:
    """Keeps one record per trial: its newest attempt that did not fail, else its newest.

    Rows come back sorted by trial, so that the result does not depend on the order of the parts.
    """
    return (
        trials.with_columns(_failed=pl.col("outcome") == "failed")
        .sort(["trial", "_failed", "attempt"], descending=[False, False, True], maintain_order=True)
        .unique(subset="trial", keep="first", maintain_order=True)
        .drop("_failed")
    )


def read_table(path: Path, schema: pa.Schema) -> pl.DataFrame:
    """Reads one Parquet file of a run; an absent file has no rows.

    Raises:
        RecordError: The file is not readable or has other columns.
    """
    try:
        table = pq.read_table(path, schema=schema)
    except FileNotFoundError:
        table = schema.empty_table()
    except (OSError, pa.ArrowInvalid) as error:
        raise RecordError(f"{path} is not a readable part of a run: {error}") from error
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def read_trials(run: Path) -> pl.DataFrame:
    """Returns every record of a run, superseded attempts included.

    Raises:
        RecordError: A part cannot be read.
    """
    parts = sorted(path for path in (run / "trials").glob("*.parquet") if not path.name.startswith("."))
    if not parts:
        return read_table(run / "trials" / "none", TRIAL_SCHEMA)
    return pl.concat([read_table(path, TRIAL_SCHEMA) for path in parts], rechunk=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunTables:
    """A run directory, read. What every analysis and the report start from."""

    path: Path
    manifest: Manifest
    items: pl.DataFrame
    plan: pl.DataFrame
    trials: pl.DataFrame
    """Visible records only: one row per trial."""
    attempts: int
    """Records on disk, superseded attempts included."""

    @classmethod
    def load(cls, run: str | Path) -> RunTables:
        """Reads a run directory; also one that is still being written.

        Raises:
            RecordError: The directory or a part of it cannot be read.
        """
        path = Path(run)
        manifest = read_manifest(path)
        trials = read_trials(path)
        return cls(
            path=path,
            manifest=manifest,
            items=read_table(path / "items.parquet", ITEM_SCHEMA),
            plan=read_table(path / "plan.parquet", PLAN_SCHEMA),
            trials=visible(trials),
            attempts=trials.height,
        )

    def segments(self) -> dict[str, str]:
        """Returns hash -> text of every piece of prompt."""
        table = read_table(self.path / "segments.parquet", SEGMENT_SCHEMA)
        return dict(table.iter_rows())


def records_digest(trials: pl.DataFrame) -> str:
    """Returns the SHA-256 over visible records, sorted by trial, without the columns that may differ.

    Two runs with the same digest measured the same, whatever was killed and resumed in between.
    """
    digest = hashlib.sha256()
    kept = [name for name in TRIAL_SCHEMA.names if name not in VOLATILE_COLUMNS]
    for row in visible(trials).select(kept).iter_rows():
        digest.update(json.dumps(row, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def missing_trials(planned: Iterable[str], trials: pl.DataFrame) -> set[str]:
    """Returns the planned trials that have no record, or only failed ones: what a resumed run asks."""
    done = set(trials.filter(pl.col("outcome") != "failed")["trial"].to_list())
    return {trial for trial in planned if trial not in done}
