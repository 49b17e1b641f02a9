"""The waist of the hourglass: what a run directory holds, and the only code that writes or reads it.

Knows tables. Knows no engine, no prompt and no statistic. A run directory::

    manifest.json           who was asked what, how and when (Manifest)
    plan.parquet            which trials were planned, and for which designs (PLAN_SCHEMA)
    items.parquet           the items without their pictures (ITEM_SCHEMA)
    segments.parquet        hash -> text; a trial's prompt is the concatenation of its segments
    trials/*.parquet        append-only parts (TRIAL_SCHEMA), each written whole by an atomic rename
"""

from vqaudit.records.files import read_table, write_table, write_text
from vqaudit.records.manifest import Manifest, read_manifest, write_manifest
from vqaudit.records.schemas import (
    ITEM_SCHEMA,
    PLAN_SCHEMA,
    SCHEMA_VERSION,
    SEGMENT_SCHEMA,
    TRIAL_SCHEMA,
    VOLATILE_COLUMNS,
    describe_columns,
)
from vqaudit.records.trials import (
    PartWriter,
    RunTables,
    missing_trials,
    read_trials,
    records_digest,
    segment_hash,
    visible,
)

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
    "describe_columns",
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
