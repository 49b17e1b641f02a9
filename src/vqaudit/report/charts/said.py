"""Titles that say what a picture of formats or levels finds, and captions that say over what.

Knows rows of a summary. Draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vqaudit.analysis.breakdown import FormatRow, Group
from vqaudit.analysis.estimates import Estimate
from vqaudit.report.digits import count, pct

__all__ = ["accuracy_title", "coverage_title", "levels_title", "most_items", "over", "replies_title"]

LARGEST = 40
"""Rows of one panel at most: more could not be read."""
_NEARLY_ALL = 0.99


def over(figures: Iterable[Estimate | None]) -> str:
    """Returns over how many items and trials figures are, the smallest and the largest of them.

    Example:
        >>> over([Estimate(value=0.5, n=200, trials=768), Estimate(value=0.4, n=200, trials=760)])
        'n = 200 items, 760 to 768 trials each'
    """
    known = [figure for figure in figures if figure is not None]
    if not known:
        return "no data"
    items = _range([figure.n for figure in known])
    trials = _range([figure.trials for figure in known])
    return f"n = {items} items, {trials} trials" + (" each" if len(known) > 1 else "")


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def accuracy_title(formats: Sequence[FormatRow]) -> str:
    """Returns where the formats' accuracies lie."""
    known = [row for row in formats if row.accuracy.value is not None]
    if not known:
        return "No format has a known accuracy"
    low = min(known, key=lambda row: row.accuracy.value or 0.0)
    high = max(known, key=lambda row: row.accuracy.value or 0.0)
    return (
        f"Accuracy by format lies between {pct(low.accuracy.value)} ({low.format}) and {pct(high.accuracy.value)} "
        f"({high.format})"
    )


def coverage_title(formats: Sequence[FormatRow]) -> str:
    """Returns in which format the fewest replies are an ID."""
    known = [row for row in formats if row.coverage is not None and row.coverage.exact.value is not None]
    low = min(known, key=lambda row: row.coverage.exact.value if row.coverage else 1.0)  # type: ignore[return-value, arg-type]
    least = low.coverage.exact.value if low.coverage else None
    if least is not None and least > _NEARLY_ALL:
        return "In every format nearly all replies are exactly an ID"
    return f"Replies are exactly an ID in as few as {pct(least)} of trials ({low.format})"


def levels_title(groups: Mapping[str, Sequence[Group]]) -> str:
    """Returns which kind of level spreads accuracy the most."""
    spread = []
    for kind, parts in groups.items():
        known = [part for part in parts if part.accuracy.value is not None]
        if len(known) > 1:
            low = min(known, key=lambda part: part.accuracy.value or 0.0)
            high = max(known, key=lambda part: part.accuracy.value or 0.0)
            spread.append(((high.accuracy.value or 0.0) - (low.accuracy.value or 0.0), kind, low, high))
    if not spread:
        return "Accuracy by level"
    _, kind, low, high = max(spread, key=lambda row: (row[0], row[1]))
    return (
        f"By {kind}, accuracy lies between {pct(low.accuracy.value)} ({_name(low)}) and {pct(high.accuracy.value)} "
        f"({_name(high)})"
    )


def replies_title(shown: Sequence[tuple[str, Group]]) -> str:
    """Returns at which level the fewest replies are an ID."""
    known = [(kind, part, part.coverage.exact.value) for kind, part in shown if part.coverage is not None]
    kind, low, least = min(known, key=lambda row: 1.0 if row[2] is None else row[2])
    if least is not None and least > _NEARLY_ALL:
        return "At every level nearly all replies are exactly an ID"
    return f"Fewest replies are an ID with {kind} {_name(low)}: {pct(least)}"


def most_items(groups: Mapping[str, Sequence[Group]]) -> dict[str, Sequence[Group]]:
    """Returns of each kind the levels that fit a picture: those with most items, in their own order."""
    kept = {}
    for kind, parts in groups.items():
        order = sorted(range(len(parts)), key=lambda place: (-parts[place].accuracy.n, place))[:LARGEST]
        kept[kind] = [parts[place] for place in sorted(order)]
    return kept


def _name(part: Group) -> str:
    return "(none)" if part.name is None else part.name
