"""What runs are called where several are shown together.

Knows manifests. Knows no figure.
"""

from __future__ import annotations

from collections.abc import Sequence

from vqaudit.analysis.common_items import told_apart
from vqaudit.records import RunTables
from vqaudit.report.untrusted import bare_name

__all__ = ["run_names"]


def run_names(runs: Sequence[RunTables]) -> list[str]:
    """Returns a name for each run: its model's, with folder or number where that does not tell runs apart."""
    return told_apart([bare_name(tables.manifest.model) for tables in runs], runs)
