"""Small logs of every harness, in their shapes and our words."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from vqaudit.logs import LogSpec, read_log, write_run
from vqaudit.records import RunTables

SHARED = Path(__file__).resolve().parents[3] / "shared"
DATA = SHARED / "data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="no shared/data beside the checkout")


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    """Writes JSON lines."""

    def write(rows: Sequence[dict[str, Any]], name: str = "log.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def document(tmp_path: Path) -> Callable[..., Path]:
    """Writes one JSON value."""

    def write(value: Any, name: str = "log.json") -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., RunTables]:
    """Reads a log and writes it as a run."""

    def make(path: Path, spec: LogSpec | None = None, name: str = "run") -> RunTables:
        write_run(read_log(path, spec), tmp_path / name, source=path.name)
        return RunTables.load(tmp_path / name)

    return make


def readings(tables: RunTables) -> dict[str, str | None]:
    """Item -> ID that we read, of a run with one trial per item."""
    read = pl.col("option_ids").list.get(pl.col("position").cast(pl.Int64), null_on_oob=True)
    return dict(tables.trials.select("item", read).iter_rows())
