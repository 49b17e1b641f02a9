"""Direct beside CoT-prefix over several models and datasets: paper 2, Table 1.

Knows runs, of whatever items. Nothing is compared between runs: each row is one run's own paired comparison.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl
from pydantic import Field

from vqaudit.analysis.figures import Figure, Row, known
from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.grouped import paired_means
from vqaudit.analysis.interfaces.comparison import Interfaces, compare_interfaces
from vqaudit.analysis.interfaces.flips import flips
from vqaudit.analysis.interfaces.verdict import Verdict
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables

__all__ = ["AcrossRow", "AcrossRuns", "across_runs"]

DIRECT, PREFIX = "bare-scores", "cot-prefix"
_FIGURES = (
    *("direct", "prefix", "drop", "direct_first_rate", "prefix_first_rate", "answer_first_rate", "lost_to_first"),
    *("id_mass", "verdict"),
)


class AcrossRow(Row):
    """One run: a model on a dataset."""

    run: str
    """Name of the directory."""
    model: str
    dataset: str | None
    items: int
    direct: Figure | None
    """Accuracy of the first interface."""
    prefix: Figure | None
    """Accuracy of the second."""
    drop: Figure | None
    """First minus second, paired by item, in [-1, 1]."""
    direct_first_rate: Figure | None
    prefix_first_rate: Figure | None
    answer_first_rate: Figure | None
    lost_to_first: Figure | None
    """Share of the answers lost from first to second that land on position 0, of those whose right option stands
    elsewhere; see `flips.Flips`."""
    id_mass: Figure | None
    """Of the second."""
    verdict: Verdict | None
    """On the second, within its run."""
    reason: str | None = None
    """Why the run tells nothing."""


class AcrossRuns(Row):
    """Several runs, one row each."""

    version: int = 1
    direct: str
    prefix: str
    rows: list[AcrossRow]
    sentences: list[str] = Field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON values."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """Returns JSON without NaN."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def across_runs(runs: Sequence[RunTables], *, direct: str = DIRECT, prefix: str = PREFIX, seed: int = 0) -> AcrossRuns:
    """Returns one row per run, in the given order; a run without both interfaces says so and stays.

    Args:
        runs: One or more, over any items.
        direct: The interface that a drop is counted from.
        prefix: The interface that is compared with it.
        seed: Of the halving that finds favourite positions.

    Raises:
        AnalysisError: No run is given, or none has both interfaces.
    """
    rows = [_row(run, direct, prefix, seed) for run in runs]
    if not any(row.drop is not None for row in rows):
        raise AnalysisError(
            f"none of {len(rows)} runs has both {direct} and {prefix}; run them with -i {direct} -i {prefix}"
        )
    return AcrossRuns(direct=direct, prefix=prefix, rows=rows, sentences=_sentences(rows, prefix))


def _row(tables: RunTables, direct: str, prefix: str, seed: int) -> AcrossRow:
    frame = analysis_frame(tables)
    both = frame.filter(pl.col("interface").cast(pl.String).is_in([direct, prefix]))
    found = compare_interfaces(both, interfaces=tables.manifest.interfaces, seed=seed) if both.height else None
    missing = [name for name in (direct, prefix) if found is None or name not in found.rows]
    figures: dict[str, Any] = dict.fromkeys(_FIGURES) | {"items": 0}
    if found is None or missing:
        figures["reason"] = f"it has no trials of {' and '.join(missing)}"
    else:
        whole = compare_interfaces(frame, interfaces=tables.manifest.interfaces, seed=seed)
        figures |= _figures(found, direct, prefix) | {"verdict": whole.rows[prefix].verdict}
    name = tables.manifest.dataset.get("name")
    dataset = None if name is None else str(name)
    return AcrossRow(run=tables.path.name, model=tables.manifest.model, dataset=dataset, **figures)


def _figures(found: Interfaces, direct: str, prefix: str) -> dict[str, Any]:
    first, second = found.rows[direct], found.rows[prefix]
    moved = flips(found.parts[direct], found.parts[prefix])
    return {
        "items": found.ground.items,
        "direct": known(first.accuracy),
        "prefix": known(second.accuracy),
        "drop": known(paired_means(found.parts[direct], found.parts[prefix], "right")),
        "direct_first_rate": known(first.first_position_rate),
        "prefix_first_rate": known(second.first_position_rate),
        "answer_first_rate": known(second.answer_first_rate),
        "lost_to_first": None if moved is None else moved.lost_to_first,
        "id_mass": second.id_mass,
    }


def _sentences(rows: Sequence[AcrossRow], prefix: str) -> list[str]:
    told = [row for row in rows if row.drop is not None and row.drop.low is not None and row.drop.high is not None]
    falls = [row for row in told if (row.drop.low or 0.0) > 0]  # type: ignore[union-attr]
    rises = [row for row in told if (row.drop.high or 0.0) < 0]  # type: ignore[union-attr]
    said = f"{prefix} lies below in {len(falls)} of {len(told)} runs, above in {len(rises)}"
    mismatched = [row.run for row in rows if row.verdict == "mismatched"]
    return [said + (f"; mismatched: {', '.join(mismatched)}" if mismatched else "; mismatched in none")]
