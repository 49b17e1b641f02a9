"""The grid accuracy of one dataset as it stands: how far another draw of the design could move it.

Knows the figures of `draw_table`. Knows no formula.
"""

from __future__ import annotations

from vqaudit.analysis.draw_table import Both
from vqaudit.analysis.figures import Figure, Row

__all__ = ["EXACT", "ThisDataset", "this_dataset"]

EXACT = (
    "the whole grid was asked: for these items and formats the figure is exact, and no draw could have moved it; "
    "grid_accuracy has the interval for items like these"
)


class ThisDataset(Row):
    """The grid accuracy with the interval of another draw of formats and orders over the same items."""

    grid_accuracy: Figure
    """Its value is the headline's; its interval says where the full grid of this dataset would be."""
    conservative: bool
    """Whether the interval counts what items differ in as if the draw had chosen them."""
    sentence: str


def this_dataset(both: Both) -> ThisDataset | None:
    """Returns the figure with what its interval rests on, or None where there is no interval."""
    estimate = both.this_dataset
    if estimate.value is None or estimate.low is None:
        return None
    sentence = (
        "conservative: one draw per item, or too few, does not tell how an item varies; draw twice to narrow it"
        if both.conservative
        else "how an item varies is estimated from its own draws"
    )
    return ThisDataset(grid_accuracy=estimate, conservative=both.conservative, sentence=sentence)
