"""How precise a randomised design can become: draws that a half-width takes, and the floor that the items set.

Knows counts and planning values. Knows no record: what a run showed is told by its summary.
"""

from __future__ import annotations

import math

from vqaudit.analysis.figures import Row
from vqaudit.analysis.intervals import normal_quantile
from vqaudit.errors import AnalysisError

__all__ = ["BETWEEN", "WITHIN", "Precision", "items_floor", "plan_precision"]

BETWEEN = 0.125
"""Planning value for the variance of items' own accuracies: half of an even item's 1/4."""
WITHIN = 0.125
"""Planning value for the variance of an item's outcomes around its own accuracy and its format's: the other half."""


class Precision(Row):
    """What a wanted half-width of the 95 % interval of the grid accuracy takes."""

    half_width: float
    """Wanted, in [0, 1]."""
    clusters: int
    """Independent items."""
    floor: float
    """Half-width for items like these that no number of draws can pass."""
    draws_items_like_these: int | None
    """Draws per item; None where the floor is in the way."""
    draws_this_dataset: int
    """Draws per item for the interval that another draw over these very items would move in."""
    sentences: list[str]


def items_floor(clusters: int, *, between: float = BETWEEN, level: float = 0.95) -> float:
    """Returns the half-width that remains for items like these when every variant of every item is asked.

    `z * sqrt(between / clusters)`: sampling of items alone.

    Args:
        clusters: Independent items.
        between: Variance of the items' own accuracies; 1/8 is what half of an even item's variance makes.
        level: Confidence level.

    Example:
        >>> round(items_floor(200), 3), round(items_floor(1145), 3)
        (0.049, 0.02)
    """
    return normal_quantile(level) * math.sqrt(between / clusters)


def plan_precision(half_width: float, *, items: int, clusters: int, grid: int) -> Precision:
    """Returns how many draws per item a half-width takes, for both questions, before anything is known.

    *This dataset*: `z^2 * WITHIN / (items * half_width^2)` draws, at least two (one tells only the sum of both
    variances, so that it suffices where `z * sqrt((BETWEEN + WITHIN) / items)` does). *Items like these*: the draws
    at which `BETWEEN / clusters + WITHIN / (items * draws)` is small enough; none where the floor is above.

    Args:
        half_width: Wanted, in (0, 0.5).
        items: Items.
        clusters: Independent items.
        grid: Variants per item in the whole grid, on average: so many draws are the grid itself.

    Raises:
        AnalysisError: The half-width is none, or there are no items.

    Example:
        >>> found = plan_precision(0.01, items=1145, clusters=1145, grid=192)
        >>> found.draws_this_dataset, found.draws_items_like_these
        (5, None)
    """
    if not 0 < half_width < 0.5:
        raise AnalysisError(f"a half-width of {half_width!r} is none; give a share between 0 and 0.5, such as 0.01")
    if items < 1 or clusters < 1:
        raise AnalysisError("there are no items whose accuracy could be told")
    wanted = (half_width / normal_quantile(0.95)) ** 2
    here = 1 if (BETWEEN + WITHIN) / items <= wanted else max(2, math.ceil(WITHIN / (items * wanted) - 1e-9))
    left = wanted - BETWEEN / clusters
    like_these = None if left <= 0 else max(1, math.ceil(WITHIN / (items * left) - 1e-9))
    floor = items_floor(clusters)
    return Precision(
        half_width=half_width,
        clusters=clusters,
        floor=floor,
        draws_items_like_these=None if like_these is None or like_these > grid else like_these,
        draws_this_dataset=min(here, grid),
        sentences=_sentences(half_width, floor, (here, like_these), (clusters, grid)),
    )


def _sentences(half: float, floor: float, draws: tuple[int, int | None], sizes: tuple[int, int]) -> list[str]:
    here, like_these = draws
    clusters, grid = sizes
    aim = f"± {100 * half:.2g} pp"
    first = (
        f"about {here} draw{'s' if here > 1 else ''} per item"
        if here < grid
        else f"the whole grid ({grid} variants per item)"
    )
    if like_these is None or like_these > grid:
        second = f"out of reach with {clusters} independent items, whose own floor is about ± {100 * floor:.1f} pp"
    else:
        second = f"about {like_these} draw{'s' if like_these > 1 else ''} per item (floor ± {100 * floor:.1f} pp)"
    return [
        f"{aim} on this dataset as it stands: {first}",
        f"{aim} for items like these: {second}",
        "planned for an accuracy near 50 % of which half the variance is the items' own; easier items need less",
    ]
