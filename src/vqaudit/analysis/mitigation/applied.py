"""What a method gave on one run: an accuracy, beside the grid's of the same items.

Knows item means. Knows no method.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from vqaudit.analysis.estimates import Estimate, PairedEstimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.grouped import estimate_items, estimate_pairs, item_means
from vqaudit.analysis.mitigation.material import Material
from vqaudit.errors import AnalysisError

__all__ = ["Applied", "MitigationRow", "PridePrior", "by_item"]


class PridePrior(Row):
    """PriDe's prior for one number of options in the reference format."""

    options: int
    calibration_items: int
    prior: list[float]
    """By ID, in the ID set's order; adds to 1."""


class MitigationRow(Row):
    """One method on one run."""

    accuracy: Figure
    """Mean over its items; for PIA the position-invariant accuracy. In [0, 1]."""
    difference: Figure | None
    """Minus the grid accuracy of the same items, in [-1, 1]; None where the run does not tell that."""
    passes: int
    """Prompts (for a cloze: options) that go through the model, those that calibrate included."""
    items: int
    """Items behind the accuracy."""
    interface: str
    note: str
    """How it was read."""


class Applied(NamedTuple):
    """A method on a run."""

    accuracy: Estimate
    difference: PairedEstimate | None
    items: int
    passes: int
    interface: str
    note: str
    priors: tuple[PridePrior, ...] = ()
    by_all: float | None = None
    """PIA with N = all trials; None for every other method."""

    def row(self) -> MitigationRow:
        """Returns what the summary keeps of it."""
        return MitigationRow(
            accuracy=self.accuracy,
            difference=self.difference,
            passes=self.passes,
            items=self.items,
            interface=self.interface,
            note=self.note,
        )


def by_item(material: Material, means: pl.DataFrame, *, passes: int, interface: str, note: str) -> Applied:
    """Returns a method that has a value by item.

    Args:
        material: The run.
        means: Item code, cluster code, mean and trials, one row per item.
        passes: Prompts that the method needs.
        interface: Through which it was asked.
        note: How it was read.

    Raises:
        AnalysisError: No item has a value.
    """
    if not means.height:
        raise AnalysisError("no item has a value by this method")
    table = means.sort("item_code")
    difference = None
    if (gold := material.gold) is not None:
        both = table.join(item_means(gold, "right"), on="item_code", suffix="_b", maintain_order="left")
        difference = estimate_pairs(both)
    return Applied(estimate_items(table), difference, table.height, passes, interface, note)
