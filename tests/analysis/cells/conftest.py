"""Tables of cells made by hand, and paper 1's where they lie beside the repository."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vqaudit.analysis.cells import CellTable, MethodTable, read_cells, read_methods

PAPERS = Path(__file__).parents[4] / "shared" / "papers"
STANDARD = {
    "option_ids": ("upper", "lower", "number", "roman"),
    "delimiter": ("dot", "colon", "bracket", "double_brackets"),
    "separator": ("comma", "line_break", "semicolon"),
}
Make = Callable[..., CellTable]


def make(
    accuracy: Any,
    *,
    coverage: Any = None,
    factors: Mapping[str, Sequence[str]] | None = None,
    datasets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    formats: Sequence[tuple[str, ...]] | None = None,
) -> CellTable:
    """Data sets x models x formats, the formats in the order of the factors' product."""
    values = np.asarray(accuracy, dtype=float)
    levels = {"delimiter": [f"l{i}" for i in range(values.shape[2])]} if factors is None else factors
    return CellTable(
        source="own.csv",
        datasets=tuple(datasets or (f"d{i}" for i in range(values.shape[0]))),
        models=tuple(models or (f"m{i}" for i in range(values.shape[1]))),
        factors={name: tuple(names) for name, names in levels.items()},
        formats=tuple(formats or product(*levels.values())),
        accuracy=values,
        coverage=None if coverage is None else np.asarray(coverage, dtype=float),
    )


@pytest.fixture(scope="session")
def make_table() -> Make:
    return make


@pytest.fixture
def random_table() -> CellTable:
    """Three data sets, four models, the standard 48 formats."""
    return make(np.random.default_rng(7).uniform(0.2, 0.9, (3, 4, 48)), factors=STANDARD)


def shared(name: str) -> Path:
    path = PAPERS / name
    if not path.exists():
        pytest.skip(f"paper 1's {name} does not lie beside this repository")
    return path


@pytest.fixture(scope="session")
def paper_table() -> CellTable:
    return read_cells(shared("format_grid.csv"))


@pytest.fixture(scope="session")
def paper_methods() -> MethodTable:
    return read_methods(shared("mitigation_table.csv"))


@pytest.fixture(scope="session")
def reference() -> dict[str, Any]:
    return json.loads(shared("reference_values.json").read_text(encoding="utf-8"))
