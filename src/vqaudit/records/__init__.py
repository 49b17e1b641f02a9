"""The waist of the hourglass: what a run directory holds, and the only code that writes or reads it.

Knows tables. Knows no engine, no prompt and no statistic. A run directory::

    manifest.json           who was asked what, how and when (Manifest)
    plan.parquet            which trials were planned, and for which designs (PLAN_SCHEMA)
    items.parquet           the items without their pictures (ITEM_SCHEMA)
    segments.parquet        hash -> text; a trial's prompt is the concatenation of its segments
    trials/*.parquet        append-only parts (TRIAL_SCHEMA), each written whole by an atomic rename
    repeats/                second answers of trials that were asked twice, laid out as a run of its own
    quarantine/             damaged parts that a session took out, each with a note
    session.json            what the process that writes tells of itself; nothing is computed from it
"""

from vqaudit.records.clock import utc_now
from vqaudit.records.compaction import compact
from vqaudit.records.digest import records_digest
from vqaudit.records.files import read_table, write_table, write_text
from vqaudit.records.manifest import Manifest, read_manifest, write_manifest
from vqaudit.records.ownership import Owner, own_run
from vqaudit.records.parts import REPEATS, PartWriter, fold_trials, read_trials, worker_trials
from vqaudit.records.quarantine import QUARANTINE, Quarantined, read_sound_trials
from vqaudit.records.schemas import (
    ITEM_SCHEMA,
    PLAN_SCHEMA,
    SCHEMA_VERSION,
    SEGMENT_SCHEMA,
    TRIAL_SCHEMA,
    describe_columns,
    trial_columns,
)
from vqaudit.records.session import SessionState, WorkerState, read_session
from vqaudit.records.status import DesignProgress, RunStatus, StatusReader, read_status
from vqaudit.records.trials import (
    RunOutline,
    RunTables,
    missing_trials,
    segment_hash,
    visible,
    visible_rows,
)

__all__ = [
    "ITEM_SCHEMA",
    "PLAN_SCHEMA",
    "QUARANTINE",
    "REPEATS",
    "SCHEMA_VERSION",
    "SEGMENT_SCHEMA",
    "TRIAL_SCHEMA",
    "DesignProgress",
    "Manifest",
    "Owner",
    "PartWriter",
    "Quarantined",
    "RunOutline",
    "RunStatus",
    "RunTables",
    "SessionState",
    "StatusReader",
    "WorkerState",
    "compact",
    "describe_columns",
    "fold_trials",
    "missing_trials",
    "own_run",
    "read_manifest",
    "read_session",
    "read_sound_trials",
    "read_status",
    "read_table",
    "read_trials",
    "records_digest",
    "segment_hash",
    "trial_columns",
    "utc_now",
    "visible",
    "visible_rows",
    "worker_trials",
    "write_manifest",
    "write_table",
    "write_text",
]
