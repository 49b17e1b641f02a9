"""When a randomised design has drawn enough: stopping rules as pure functions of what was drawn.

Knows draws by item. Asks nobody: whoever runs the rounds calls a rule after each.

A half-width stops at the first round whose interval is narrow enough (Chow & Robbins 1965: stopping on the width
alone keeps coverage as the number of draws grows; what it costs in small samples is measured in docs/designs.md). A
ranking stops on what the differences show, so that every look costs confidence: looks are taken at 1, 2, 4, 8, ...
draws and at the last, and each has an equal part of the 5 % (Bonferroni over looks and pairs).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from vqaudit.analysis.draw_table import DrawTable, drawn_difference, drawn_mean
from vqaudit.analysis.estimates import PairedEstimate
from vqaudit.analysis.planning import items_floor
from vqaudit.errors import AnalysisError

__all__ = [
    "Decision",
    "RankingRule",
    "Target",
    "Verdict",
    "look_schedule",
    "parse_target",
    "reach_ranking",
    "reach_width",
]

MARGIN = 0.01
"""Difference in [0, 1] below which two runs count as equal where nothing else is asked for."""


class Target(NamedTuple):
    """A half-width to be reached."""

    half_width: float
    question: Literal["this-dataset", "items"]

    def check(self, clusters: int) -> None:
        """Refuses what no number of draws can reach.

        Raises:
            AnalysisError: The items' own floor is above the target; the message names it.
        """
        floor = items_floor(clusters)
        if self.question == "items" and self.half_width < floor:
            raise AnalysisError(
                f"a half-width of {100 * self.half_width:.2g} pp for items like these is out of reach with {clusters} "
                f"independent items: their own floor is about {100 * floor:.1f} pp; take more items, a wider target, "
                "or half-width=... for this dataset as it stands"
            )


class Decision(NamedTuple):
    """Whether to stop, and what was reached."""

    stop: bool
    half_width: float | None
    """Of the question that was asked; None where there is no interval yet."""
    sentence: str


class Verdict(NamedTuple):
    """What a look says of two runs."""

    a: str
    b: str
    state: Literal["better", "worse", "equal", "open"]
    """Of a: better or worse than b, equal to within the margin, or not told yet."""
    estimate: PairedEstimate
    """With the interval that holds over all pairs and looks."""


class RankingRule(NamedTuple):
    """How a ranking is settled."""

    looks: tuple[int, ...]
    """Draws at which there is a look."""
    margin: float = MARGIN
    level: float = 0.95


_TARGET = re.compile(r"(items-)?half-width=([0-9.]+)")


def parse_target(text: str) -> Target:
    """Returns the target that a command names: `half-width=0.01`, or `items-half-width=0.05` for items like these.

    Raises:
        AnalysisError: It is none, or outside (0, 0.5).

    Example:
        >>> parse_target("half-width=0.01")
        Target(half_width=0.01, question='this-dataset')
    """
    match = _TARGET.fullmatch(text.strip())
    try:
        value = float(match.group(2)) if match else 0.0
    except ValueError:
        value = 0.0
    if match is None or not 0 < value < 0.5:
        raise AnalysisError(
            f"{text!r} is no target: give half-width=0.01 (this dataset) or items-half-width=0.05 (items like these), "
            "a share between 0 and 0.5"
        )
    return Target(value, "items" if match.group(1) else "this-dataset")


def look_schedule(most: int) -> tuple[int, ...]:
    """Returns the numbers of draws at which a ranking is looked at: 1, 2, 4, ... and the last.

    Example:
        >>> look_schedule(12)
        (1, 2, 4, 8, 12)
    """
    doubled = [1]
    while doubled[-1] * 2 < most:
        doubled.append(doubled[-1] * 2)
    return tuple(doubled) if most == 1 else (*doubled, most)


def reach_width(table: DrawTable, target: Target) -> Decision:
    """Returns whether the draws so far are enough for a half-width."""
    both = drawn_mean(table)
    estimate = both.this_dataset if target.question == "this-dataset" else both.items_like_these
    if estimate.low is None or estimate.high is None:
        return Decision(False, None, estimate.reason or "there is no interval yet")
    half = (estimate.high - estimate.low) / 2
    draws = table.values.shape[1]
    reached = half <= target.half_width
    word = "reached" if reached else "not reached"
    aim = f"{100 * target.half_width:.2g} pp"
    return Decision(reached, half, f"half-width {100 * half:.2f} pp after {draws} draws per item: {aim} {word}")


def reach_ranking(
    names: Sequence[str], tables: Sequence[DrawTable], rule: RankingRule, *, pairs: int | None = None
) -> list[Verdict]:
    """Returns what the draws so far say of every two runs, on this dataset, over all pairs and looks.

    Every interval is at `1 - (1 - level) / (pairs * looks)`: with probability `level` all of them hold at every
    look, so that one may stop at any. A pair is settled where its interval excludes 0 or lies within the margin.

    Args:
        names: One per run.
        tables: Outcomes of the same draws of the same items.
        rule: Looks, margin and level.
        pairs: How many comparisons share the level, where some models are settled and no longer here.
    """
    here = list(combinations(range(len(names)), 2))
    share = 1 - (1 - rule.level) / (max(pairs or 0, len(here)) * len(rule.looks))
    found = []
    for a, b in here:
        estimate = drawn_difference(tables[a], tables[b], level=share)[1]
        found.append(Verdict(names[a], names[b], _state(estimate, rule.margin), estimate))
    return found


def _state(estimate: PairedEstimate, margin: float) -> Literal["better", "worse", "equal", "open"]:
    low, high = estimate.low, estimate.high
    if low is None or high is None:
        return "open"
    if low > 0 or high < 0:
        return "better" if low > 0 else "worse"
    return "equal" if -margin <= low and high <= margin else "open"
