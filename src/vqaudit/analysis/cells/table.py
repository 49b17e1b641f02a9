"""Accuracies of models on data sets under formats, as one dense table of cells.

Knows cells. Knows no file and no formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.intervals import Floats

__all__ = ["CellTable"]


@dataclass(frozen=True, kw_only=True)
class CellTable:
    """One accuracy per data set, model and format; NaN where the table holds none.

    Example:
        >>> table = CellTable(
        ...     source="own.csv",
        ...     datasets=("d",),
        ...     models=("m", "n"),
        ...     factors={"delimiter": ("dot", "colon")},
        ...     formats=(("dot",), ("colon",)),
        ...     accuracy=np.array([[[0.5, 0.7], [0.4, np.nan]]]),
        ...     coverage=None,
        ... )
        >>> table.cells, table.expected, table.is_complete, table.format_names
        (3, 4, False, ('dot', 'colon'))
    """

    source: str
    """The file's name, for messages."""
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    factors: Mapping[str, tuple[str, ...]]
    """Factor -> its levels, both in the order of the file."""
    formats: tuple[tuple[str, ...], ...]
    """The combinations of levels that the file holds; levels in the order of `factors`."""
    accuracy: Floats
    """Data sets x models x formats, in [0, 1]; NaN = missing."""
    coverage: Floats | None
    """Alike; None where the file has no such column."""
    notes: tuple[str, ...] = ()
    """What the reader of the file wants said."""

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Which cells have an accuracy."""
        return ~np.isnan(self.accuracy)

    @property
    def cells(self) -> int:
        """How many cells have an accuracy."""
        return int(self.present.sum())

    @property
    def expected(self) -> int:
        """How many cells the full cross of data sets, models and levels has."""
        return len(self.datasets) * len(self.models) * self.expected_formats

    @property
    def expected_formats(self) -> int:
        """How many formats the full cross of levels has."""
        return prod(len(levels) for levels in self.factors.values())

    @property
    def is_complete(self) -> bool:
        """Whether no cell of the full cross is missing."""
        return self.cells == self.expected

    @cached_property
    def format_names(self) -> tuple[str, ...]:
        """Formats as they are printed: levels with slashes between them."""
        return tuple("/".join(format) for format in self.formats)

    def has_level(self, factor: str, level: str) -> NDArray[np.bool_]:
        """Returns, by format, whether it has this level of this factor."""
        place = list(self.factors).index(factor)
        return np.array([format[place] == level for format in self.formats])

    def only(self, keep: NDArray[np.bool_]) -> CellTable:
        """Returns the table with every other cell missing.

        Args:
            keep: Shaped as `accuracy`.
        """
        return CellTable(
            source=self.source,
            datasets=self.datasets,
            models=self.models,
            factors=self.factors,
            formats=self.formats,
            accuracy=np.where(keep, self.accuracy, np.nan),
            coverage=None if self.coverage is None else np.where(keep, self.coverage, np.nan),
            notes=self.notes,
        )
