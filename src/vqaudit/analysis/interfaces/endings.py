"""Endings beside each other: what each reads by immediate scores, by free generation, by a probe (paper 2, Table 2).

Knows rows of interfaces and what the manifest says of them. Computes nothing but differences.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import Figure, Row, known
from vqaudit.analysis.grouped import paired_means
from vqaudit.analysis.interfaces.comparison import InterfaceRow, Interfaces
from vqaudit.analysis.interfaces.described import Described

__all__ = ["EndingRow", "EventReading", "ending_table"]

ENDING_EVENTS = ("id-scores", "generation", "rationale-scores", "forced-token", "option-likelihood", "reply")
"""Events in the order in which they are told."""


class EventReading(Row):
    """One event after one ending."""

    interface: str
    accuracy: Figure
    first_position_rate: Figure | None
    unanswered: Figure
    """Share of trials that chose no option."""
    id_mass: Figure | None


class EndingRow(Row):
    """One ending at one place."""

    ending: str
    text: str | None
    asks: str | None
    """id, reasoning, text or nothing; None where it is not known, as for all strings here."""
    strength: str | None
    """How strongly it invites a rationale: none, answer, minimal, explicit."""
    place: str | None
    events: dict[str, EventReading]
    """Event -> what it reads; those that were not asked are absent."""
    scores_below_bare: Figure | None
    """Accuracy of ID scores without any ending (paper 2's Direct) minus that after this one, paired by item, in
    [-1, 1]; None where either was not asked."""
    probe: Figure | None = None
    """Accuracy of a linear probe of the state that is scored; None where none was fitted."""
    probe_first_rate: Figure | None = None


_STRENGTHS = ("none", "answer", "minimal", "explicit")


def ending_table(
    found: Interfaces,
    *,
    probes: Mapping[str, Estimate] | None = None,
    probe_first_rates: Mapping[str, Estimate] | None = None,
) -> list[EndingRow]:
    """Returns one row per ending and place with options shown, from what asks for an ID to what asks for a rationale.

    Args:
        found: The interfaces on their common ground.
        probes: Accuracy of a probe by interface, where one was fitted.
        probe_first_rates: Share of its choices at position 0.
    """
    groups: dict[tuple[str, str | None], list[Described]] = {}
    for one in found.described.values():
        if one.ending is not None and one.options_shown and one.event is not None:
            groups.setdefault((one.ending, one.place), []).append(one)
    bare = next((one.name for one in groups.get(("bare", "user"), []) if one.event == "id-scores"), None)
    rows = [_row(members, found, bare, probes or {}, probe_first_rates or {}) for members in groups.values()]
    return sorted(rows, key=lambda row: (_strength(row.strength), row.asks or "", row.ending, row.place or ""))


def _strength(name: str | None) -> int:
    return _STRENGTHS.index(name) if name in _STRENGTHS else len(_STRENGTHS)


def _row(
    members: list[Described],
    found: Interfaces,
    bare: str | None,
    probes: Mapping[str, Estimate],
    first_rates: Mapping[str, Estimate],
) -> EndingRow:
    one = members[0]
    by_event = {member.event: member.name for member in members}
    scored = by_event.get("id-scores")
    return EndingRow(
        ending=one.ending or "",
        text=one.ending_text,
        asks=one.asks,
        strength=one.strength,
        place=one.place,
        events={
            event: _reading(by_event[event], found.rows[by_event[event]])
            for event in ENDING_EVENTS
            if event in by_event
        },
        scores_below_bare=_below(found.parts, bare, scored),
        probe=probes.get(scored or ""),
        probe_first_rate=first_rates.get(scored or ""),
    )


def _reading(name: str, row: InterfaceRow) -> EventReading:
    return EventReading(
        interface=name,
        accuracy=row.accuracy,
        first_position_rate=known(row.first_position_rate),
        unanswered=row.unanswered,
        id_mass=row.id_mass,
    )


def _below(parts: Mapping[str, pl.DataFrame], bare: str | None, scored: str | None) -> Estimate | None:
    if bare is None or scored is None or bare == scored:
        return None
    return known(paired_means(parts[bare], parts[scored], "right"))
