"""The table of endings: what each reads by every event that was scored after it, and how often the first position.

Knows what a summary tells of interfaces. Computes nothing.
"""

from __future__ import annotations

from vqaudit.analysis.schema import Summary
from vqaudit.report.digits import UNKNOWN, difference, interval

__all__ = ["HEADER", "ending_rows"]

HEADER = ("ending", "asks for", "scored", "accuracy", "first position", "chose nothing", "ID mass", "below no ending")


def ending_rows(summary: Summary) -> list[tuple[str, ...]]:
    """Returns one row per ending and event (paper 2, Table 2), a probe of the same state last; none without details."""
    found = summary.interface_details
    rows: list[tuple[str, ...]] = []
    for ending in [] if found is None else found.endings:
        below = difference(ending.scores_below_bare)
        for event, read in ending.events.items():
            figures = (read.accuracy, read.first_position_rate, read.unanswered, read.id_mass)
            scored = event == "id-scores"
            rows.append(
                (ending.ending, ending.asks or UNKNOWN, event, *map(interval, figures), below if scored else UNKNOWN)
            )
        if ending.probe is not None:
            rows.append(
                (
                    ending.ending,
                    ending.asks or UNKNOWN,
                    "probe of the state",
                    interval(ending.probe),
                    interval(ending.probe_first_rate),
                    *([UNKNOWN] * 3),
                )
            )
    return rows
