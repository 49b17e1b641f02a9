"""Trial records: every attempt is kept, and one of them is visible per trial.

Knows attempts. Knows no engine, no prompt and no statistic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from vqaudit.records.files import read_table
from vqaudit.records.manifest import Manifest, read_manifest
from vqaudit.records.parts import REPEATS, read_trials
from vqaudit.records.schemas import ITEM_SCHEMA, PLAN_SCHEMA, SEGMENT_SCHEMA

__all__ = [
    "RunOutline",
    "RunTables",
    "missing_trials",
    "segment_hash",
    "visible",
    "visible_rows",
]


def segment_hash(text: str) -> str:
    """Returns the name of a piece of prompt text: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def visible(trials: pl.DataFrame) -> pl.DataFrame:
    """Keeps one record per trial: its newest attempt that did not fail, else its newest.

    Rows come back sorted by trial, so that the result does not depend on the order of the parts.
    """
    # Only the keys are sorted: whole rows hold long lists.
    return trials[visible_rows(trials.select("trial", "attempt", failed=pl.col("outcome") == "failed"))]


def visible_rows(keys: pl.DataFrame) -> pl.Series:
    """Returns the row numbers of the visible records, sorted by trial.

    Args:
        keys: `trial`, `attempt` and `failed` of every record.
    """
    numbers = keys["trial"].str.decode("hex", strict=False).bin.reinterpret(dtype=pl.UInt64, endianness="big")
    names = keys["trial"] if numbers.null_count() else numbers  # numbers are sorted many times sooner
    row = names.arg_sort()
    names = names[row]
    if not (names[1:] == names[:-1]).any():
        return row
    return (
        keys.with_row_index("row")
        .sort(["trial", "failed", "attempt", "row"], descending=[False, False, True, False])
        .unique(subset="trial", keep="first", maintain_order=True)["row"]
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOutline:
    """A run directory without its trials, of which there can be millions."""

    path: Path
    manifest: Manifest
    items: pl.DataFrame
    plan: pl.DataFrame
    attempts: int
    """Records on disk, superseded attempts included."""

    def repeats(self) -> pl.DataFrame:
        """Returns the second answers of trials that were asked twice, visible records only; no rows where none was."""
        return visible(read_trials(self.path / REPEATS))

    def segments(self) -> dict[str, str]:
        """Returns hash -> text of every piece of prompt."""
        table = read_table(self.path / "segments.parquet", SEGMENT_SCHEMA)
        return dict(table.iter_rows())


@dataclass(frozen=True, kw_only=True, slots=True)
class RunTables(RunOutline):
    """A run directory, read. What every analysis and the report start from."""

    trials: pl.DataFrame
    """Visible records only: one row per trial."""

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


def missing_trials(planned: Iterable[str], trials: pl.DataFrame) -> set[str]:
    """Returns the planned trials that have no record, or only failed ones: what a resumed run asks."""
    done = set(trials.filter(pl.col("outcome") != "failed")["trial"].to_list())
    return {trial for trial in planned if trial not in done}
