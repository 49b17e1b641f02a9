"""Trial records: appended as whole parts, and one of them visible per trial.

Knows attempts. Knows no engine, no prompt and no statistic.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from vqaudit.records.files import read_table, write_table
from vqaudit.records.manifest import Manifest, read_manifest
from vqaudit.records.schemas import ITEM_SCHEMA, PLAN_SCHEMA, SEGMENT_SCHEMA, TRIAL_SCHEMA, VOLATILE_COLUMNS

__all__ = [
    "PartWriter",
    "RunTables",
    "missing_trials",
    "read_trials",
    "records_digest",
    "segment_hash",
    "visible",
]


def segment_hash(text: str) -> str:
    """Returns the name of a piece of prompt text: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
    # Only the keys are sorted: whole rows hold long lists.
    kept = (
        trials.select("trial", failed=pl.col("outcome") == "failed", attempt="attempt")
        .with_row_index("row")
        .sort(["trial", "failed", "attempt", "row"], descending=[False, False, True, False])
        .unique(subset="trial", keep="first", maintain_order=True)["row"]
    )
    return trials[kept]


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
