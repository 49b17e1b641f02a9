"""A run of millions of trials made of copies of a small one: other trials, other items, the same answers.

Written by the same function as every table of a run, at the speed of a disk rather than of a simulation.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from vqaudit.records import ITEM_SCHEMA, PLAN_SCHEMA, TRIAL_SCHEMA
from vqaudit.records.files import load_table, save_table
from vqaudit.records.parts import trial_parts

__all__ = ["stretch"]


def stretch(run: Path, out: Path, *, trials: int) -> int:
    """Writes a run of at least so many trials, whole copies of `run`, and returns how many they are."""
    parts = [load_table(path, TRIAL_SCHEMA) for path in trial_parts(run)]
    items = load_table(run / "items.parquet", ITEM_SCHEMA)
    plan = load_table(run / "plan.parquet", PLAN_SCHEMA)
    records = pa.concat_tables(parts)
    copies = -(-trials // records.num_rows)
    out.mkdir(parents=True)
    for copy in range(copies):
        save_table(out / "trials" / f"w0-{copy:06d}.parquet", _renamed(records, copy))
    save_table(out / "items.parquet", pa.concat_tables([_renamed(items, copy) for copy in range(copies)]))
    save_table(out / "plan.parquet", pa.concat_tables([_renamed(plan, copy) for copy in range(copies)]))
    for name in ("segments.parquet", "manifest.json"):
        shutil.copy(run / name, out / name)
    return copies * records.num_rows


def _renamed(table: pa.Table, copy: int) -> pa.Table:
    """Gives items and trials the names of a copy; a trial's last four digits become the copy's number."""
    for name in ("item", "cluster"):
        if name in table.column_names:
            table = _replaced(table, name, pc.binary_join_element_wise(table[name], pa.scalar(f"{copy}"), "/"))
    if "trial" in table.column_names:
        stem = pc.utf8_slice_codeunits(table["trial"], 0, 12)
        table = _replaced(table, "trial", pc.binary_join_element_wise(stem, pa.scalar(f"{copy:04x}"), ""))
    return table


def _replaced(table: pa.Table, name: str, values: pa.ChunkedArray) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(place, table.schema.field(name), values)
