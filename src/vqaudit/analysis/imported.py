"""What only an imported log has: its own scoring, questions in several orders, and the reasons for what it lacks.

Knows which keys of a summary they fill. Computes none itself: the modules beside it do.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from vqaudit.analysis.as_logged import SILENT, as_logged
from vqaudit.analysis.circular import ONE_ORDER, circular_accuracies
from vqaudit.analysis.designs import IMPORTED, MOST_LOST, MainTrials
from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import known
from vqaudit.analysis.grouped import trial_mean
from vqaudit.records import RunTables

__all__ = ["IMPORTED_KEYS", "imported_figures"]

IMPORTED_KEYS = ("plain_accuracy", "circular_accuracy", "strict_circular_accuracy", "circular", "as_logged")
"""Keys of a summary that only imported runs fill."""
_NOT_IMPORTED = "told of imported logs only; of a run of ours see grid_accuracy, row_accuracy and strict_circular"
_NO_REPLIES = "the log holds scores and no replies"
_ONE_PIECE = "a log's replies are whole: what more tokens would have made of them is not known"


def imported_figures(
    tables: RunTables | None, frame: pl.DataFrame, main: MainTrials, reasons: dict[str, str]
) -> dict[str, Any]:
    """Returns the keys of a summary that an imported run fills, and coverage as a log tells it.

    Args:
        tables: The run; None where it is not imported and its records are too many to be read.
        frame: Its analysis frame.
        main: The trials that its figures are taken over.
        reasons: Gets the reason of every key that stays None, and loses those that are filled.
    """
    if tables is None or main.design != IMPORTED:
        reasons.update(dict.fromkeys(IMPORTED_KEYS, _NOT_IMPORTED))
        return {}
    complaint = _complaint(main)
    found = circular_accuracies(main.done, tables.trials.select("trial", "order"))
    figures = {
        "plain_accuracy": found.plain,
        "circular_accuracy": found.rows,
        "strict_circular_accuracy": found.strict,
        "strict_circular": found.strict,
    }
    if complaint is not None:
        figures = dict.fromkeys(figures, Estimate.unknown(complaint))
    beside = as_logged(tables, frame)
    missing = {"circular": None if found.groups else ONE_ORDER, "as_logged": None if beside else SILENT}
    missing |= {key: figure.reason for key, figure in figures.items() if figure.value is None}
    covered = _coverage(tables, main.done)
    missing |= {"coverage": covered.reason if covered.value is None else None, "coverage_parts": _ONE_PIECE}
    for key in (*figures, *missing):
        reasons.pop(key, None)
    reasons.update({key: why for key, why in missing.items() if why is not None})
    return {
        **{key: known(figure) for key, figure in figures.items()},
        "circular": found.groups,
        "as_logged": beside,
        "coverage": known(covered),
        "coverage_parts": None,
        "log_notes": [str(note) for note in tables.manifest.dataset.get("warnings") or ()],
    }


def _complaint(main: MainTrials) -> str | None:
    lost = main.completeness
    if lost.lost <= MOST_LOST:
        return None
    return f"{lost.failed} of {lost.planned} logged samples failed, more than {100 * MOST_LOST:.0f} %"


def _coverage(tables: RunTables, done: pl.DataFrame) -> Estimate:
    """Share of the log's replies that are exactly a shown ID, outer white space aside."""
    stripped = pl.col("reply").str.strip_chars()
    exact = pl.col("option_ids").list.contains(stripped)
    replies = tables.trials.filter(pl.col("event") == "generation").select("trial", _exact=exact.fill_null(False))
    asked = done.join(replies, on="trial", how="inner", maintain_order="left")
    return trial_mean(asked, "_exact") if asked.height else Estimate.unknown(_NO_REPLIES)
