"""What moves the score: the levels of every factor, the widest first, in sentences.

Knows effects. Computes nothing but which level is lowest and which highest.
"""

from __future__ import annotations

from dataclasses import dataclass

from vqaudit.analysis.effects import Effects
from vqaudit.analysis.estimates import Estimate
from vqaudit.report.digits import bounds, points, probability, signed_points
from vqaudit.report.labels import factor_label

__all__ = ["Mover", "level_label", "movers"]

_SURE = 0.05
"""Joint p below which a factor is said to move the score; the level of all intervals."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mover:
    """One factor and its two extreme levels."""

    factor: str
    """As shown: `ID set`."""
    low: str
    low_deviation: Estimate
    high: str
    high_deviation: Estimate
    p_value: float | None
    """Of no difference between any levels."""

    @property
    def distance(self) -> float:
        """Accuracy at the highest level minus at the lowest, all else equal, in [0, 1]."""
        return (self.high_deviation.value or 0.0) - (self.low_deviation.value or 0.0)

    @property
    def told(self) -> bool:
        """Whether the levels differ by more than chance explains."""
        return self.p_value is not None and self.p_value < _SURE

    @property
    def sentence(self) -> str:
        """What it says to a reader in a hurry."""
        if not self.told:
            return f"The {self.factor} makes no difference that these items can tell"
        return f"The {self.factor} moves the score by {points(self.distance)}, {self.low} to {self.high}"

    @property
    def cells(self) -> tuple[str, ...]:
        """Factor, lowest level, highest level, distance and p as shown in a table."""
        ends = [
            f"{name} {signed_points(figure.value)} {bounds(figure, signed=True)}".rstrip()
            for name, figure in ((self.low, self.low_deviation), (self.high, self.high_deviation))
        ]
        return self.factor, *ends, points(self.distance), probability(self.p_value)


def level_label(factor: str, level: str) -> str:
    """Returns how a level is called; positions count from 0 and the first says so.

    Example:
        >>> level_label("answer_position", "0"), level_label("delimiter", "dot")
        ('0 (first)', 'dot')
    """
    return f"{level} (first)" if factor == "answer_position" and level == "0" else level


def movers(effects: Effects | None) -> list[Mover]:
    """Returns the factors, those whose levels lie farthest apart first."""
    found = []
    for name, factor in ({} if effects is None else effects.factors).items():
        known = [level for level in factor.levels if level.deviation.value is not None]
        if len(known) < 2:
            continue
        low = min(known, key=lambda level: level.deviation.value or 0.0)
        high = max(known, key=lambda level: level.deviation.value or 0.0)
        found.append(
            Mover(
                factor=factor_label(name),
                low=level_label(name, low.level),
                low_deviation=low.deviation,
                high=level_label(name, high.level),
                high_deviation=high.deviation,
                p_value=factor.p_value,
            )
        )
    return sorted(found, key=lambda mover: (-mover.distance, mover.factor))
