"""The shape of a rule: what it looks for, how bad that is, what to do, and the check itself.

Knows descriptions and findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vqaudit.lint.description import Description
from vqaudit.lint.finding import Finding, Place, Severity

__all__ = ["Hit", "Rule"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """What a check saw."""

    place: Place
    evidence: str
    severity: Severity | None = None
    """Where it is not the rule's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One question about a description."""

    name: str
    severity: Severity
    asks: str
    """What it looks for, as one sentence."""
    advice: str
    check: Callable[[Description], Iterator[Hit]]

    def findings(self, description: Description) -> Iterator[Finding]:
        """Yields what the rule finds in a description."""
        for hit in self.check(description):
            yield Finding(
                rule=self.name,
                severity=hit.severity or self.severity,
                task=description.name,
                place=hit.place,
                evidence=hit.evidence,
                advice=self.advice,
                variant=description.variant,
            )
