"""The run in a few sentences for readers who do not know the words: the score, what moves it, the interface.

Knows a summary. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vqaudit.analysis.interfaces import InterfaceRow
from vqaudit.analysis.schema import Summary
from vqaudit.report.digits import difference, interval, pct, points
from vqaudit.report.movers import movers
from vqaudit.report.story import as_sentence, meaning

__all__ = ["Brief", "Verdict", "brief"]

_LOW_COVERAGE = 0.95
"""Below, more than one reply in twenty is no ID."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The verdict on one interface, or why there is none."""

    word: str
    """`aligned`, `mismatched`, `undecided`, or `not compared`."""
    sentence: str
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Brief:
    """What stands at the top of a page."""

    score: tuple[str, ...]
    """What the headline means."""
    moves: tuple[str, ...]
    """What moves it, the widest first."""
    verdicts: tuple[Verdict, ...]


def brief(summary: Summary) -> Brief:
    """Returns the top of a page."""
    return Brief(
        score=tuple(meaning(summary)),
        moves=tuple(_moves(summary)),
        verdicts=tuple(_verdicts(summary)),
    )


def _moves(summary: Summary) -> Iterator[str]:
    for mover in movers(summary.effects):
        if mover.told:
            yield f"{mover.sentence} (all else equal)."
    if (exact := summary.coverage) is not None and exact.value is not None and exact.value < _LOW_COVERAGE:
        yield (
            f"{pct(1 - exact.value)} of replies are no option ID; they count as wrong, whatever the model may have "
            "known."
        )
    excess = summary.selection.first_position.excess
    if excess.low is not None and excess.low > 0:
        yield f"The first position is chosen more often than it is right: {difference(excess)}."
    if summary.noise_floor is not None:
        yield as_sentence(summary.noise_floor.sentence)


def _verdicts(summary: Summary) -> Iterator[Verdict]:
    compared = {name: row for name, row in summary.interfaces.items() if row.gap is not None}
    if not compared:
        names = ", ".join(summary.interfaces) or "none"
        yield Verdict(
            word="not compared",
            sentence=f"One way of asking was used ({names}): whether it scores what the model was asked for cannot be "
            "told without a second one, such as free generation.",
        )
    for name, row in compared.items():
        yield Verdict(word=row.verdict or "undecided", sentence=row.sentence or _plain(name, row), advice=row.advice)


def _plain(name: str, row: InterfaceRow) -> str:
    gap = row.gap
    if gap is None or gap.value is None:
        return f"{name} reads {interval(row.accuracy)}; it cannot be compared with another interface."
    return f"{name} reads {interval(row.accuracy)}, {points(abs(gap.value))} from {row.best_aligned}."
