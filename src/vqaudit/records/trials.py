"""Trial records: every attempt is kept, and one of them is visible per trial.

Knows attempts. Knows no engine, no prompt and no statistic.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa

from vqaudit.records.files import read_table
from vqaudit.records.manifest import Manifest, read_manifest
from vqaudit.records.parts import REPEATS, read_trials
from vqaudit.records.schemas import ITEM_SCHEMA, PLAN_SCHEMA, SEGMENT_SCHEMA, TRIAL_SCHEMA, VOLATILE_COLUMNS

__all__ = [
    "RunTables",
    "missing_trials",
    "records_digest",
    "segment_hash",
    "visible",
]


def segment_hash(text: str) -> str:
    """Returns the name of a piece of prompt text: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
    def load(cls, run: str | Path, *, schema: pa.Schema = TRIAL_SCHEMA) -> RunTables:
        """Reads a run directory; also one that is still being written.

        Args:
            run: The run directory.
            schema: Columns of the trials that are read: all, or what `trial_columns` leaves of them.

        Raises:
            RecordError: The directory or a part of it cannot be read.
        """
        path = Path(run)
        manifest = read_manifest(path)
        trials = read_trials(path, schema=schema)
        return cls(
            path=path,
            manifest=manifest,
            items=read_table(path / "items.parquet", ITEM_SCHEMA),
            plan=read_table(path / "plan.parquet", PLAN_SCHEMA),
            trials=visible(trials),
            attempts=trials.height,
        )

    def repeats(self) -> pl.DataFrame:
        """Returns the second answers of trials that were asked twice, visible records only; no rows where none was."""
        return visible(read_trials(self.path / REPEATS))

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
