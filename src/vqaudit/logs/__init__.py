"""Logs of other harnesses, read into the same tables that a run of ours has.

Knows files, harnesses and records. Asks nobody, fetches nothing and computes no figure: `analysis` does.
"""

from vqaudit.logs.known import known_items, with_items
from vqaudit.logs.merge import merge_logs
from vqaudit.logs.readers import READERS, read_log
from vqaudit.logs.rows import KnownItem, Log, LogRow, LogSpec
from vqaudit.logs.run_tables import Imported, write_run
from vqaudit.logs.table import FIELDS

__all__ = [
    "FIELDS",
    "READERS",
    "Imported",
    "KnownItem",
    "Log",
    "LogRow",
    "LogSpec",
    "known_items",
    "merge_logs",
    "read_log",
    "with_items",
    "write_run",
]
