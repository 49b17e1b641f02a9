"""What runs are called where several are shown together.

Knows manifests. Knows no figure.
"""

from __future__ import annotations

from collections.abc import Sequence

from vqaudit.records import RunTables
from vqaudit.report.untrusted import bare_name

__all__ = ["run_names"]


def run_names(runs: Sequence[RunTables]) -> list[str]:
    """Returns a name for each run: its model's, with folder or number where that does not tell runs apart."""
    models = [bare_name(tables.manifest.model) for tables in runs]
    named = [
        model if models.count(model) == 1 else f"{model} ({tables.path.name})"
        for model, tables in zip(models, runs, strict=True)
    ]
    return [name if named.count(name) == 1 else f"{name} #{place + 1}" for place, name in enumerate(named)]
