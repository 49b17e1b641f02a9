"""Paper 1's tables, as the package carries them."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from vqaudit.analysis.cells import paper1_cells, paper1_methods
from vqaudit.analysis.cells.printed import is_paper1

SHARED = Path(__file__).resolve().parents[4] / "shared" / "papers"


def test_the_cells_are_the_papers() -> None:
    cells = paper1_cells()
    assert is_paper1(cells), "the fingerprint of all 1,680 cells"
    assert (len(cells.datasets), len(cells.models), len(cells.formats)) == (5, 7, 48)
    assert cells.coverage is not None
    for values in (cells.accuracy, cells.coverage):
        assert np.isfinite(values).all()
        assert 0.0 <= values.min() <= values.max() <= 1.0


def test_the_methods_are_the_papers() -> None:
    methods = paper1_methods()
    assert sorted(methods.accuracy) == ["A-OKVQA", "HR-Bench-4K", "V*Bench"]
    assert {"vanilla", "pia", "pride", "cp_ln"} <= set(methods.methods)
    assert "pia" not in methods.accuracy["V*Bench"], "PIA takes one number of options"
    assert methods.printed_rank["A-OKVQA"]["vanilla"]["Gemma-3"] == 3


@pytest.mark.parametrize("name", ["format_grid.csv", "mitigation_table.csv"])
def test_the_package_carries_them_unchanged(name: str) -> None:
    if not SHARED.exists():
        pytest.skip("paper 1's tables do not lie beside this repository")
    packaged = files("vqaudit").joinpath("paper_data", name).read_text(encoding="utf-8")
    assert packaged == (SHARED / name).read_text(encoding="utf-8")
