"""The simulated worlds of benchmarks/ are what they say, and draw as the product does."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parents[1]
CELLS = HERE.parent / "shared" / "papers" / "format_grid.csv"


@pytest.fixture
def worlds(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE / "benchmarks"))
    import design_worlds

    yield design_worlds
    for name in ("design_worlds", "prompteval", "check_designs_cell"):
        sys.modules.pop(name, None)


def test_the_paper_s_numbers_of_items_and_rows(worlds):
    # Paper 1, Table 5
    sizes = {name: (sum(c.values()), sum(k * n for k, n in c.items())) for name, c in worlds.OPTIONS.items()}
    assert sizes == {
        "A-OKVQA": (1145, 4580),
        "HR-Bench-4K": (200, 800),
        "MMBench-DEV": (1292, 4876),
        "MME-RealWorld-Lite": (1919, 9595),
        "V*Bench": (192, 596),
    }


def test_blocks_hold_every_format_and_rotation_once_as_the_product_draws(worlds):
    formats, rotations = worlds.draw_design(np.full(96, 4), draws=2, repeats=3, rng=np.random.default_rng(0))
    for repeat in range(3):
        for draw in range(2):
            for start in (0, 48):
                assert sorted(formats[repeat, start : start + 48, draw]) == list(range(48))
            assert set(Counter(rotations[repeat, :, draw]).values()) == {24}


@pytest.mark.skipif(not CELLS.exists(), reason="the paper's cells lie beside the repository, in shared/")
def test_a_full_table_has_the_paper_s_cells(worlds):
    cells, names = worlds.read_cells(CELLS)
    assert len(names) == 48
    world = worlds.make_world("V*Bench", *cells["V*Bench"], seed=1)
    table = worlds.full_table(world, np.random.default_rng(1), shared=True)
    assert np.abs(worlds.grid_truth(world, table) - world.cells).max() < 0.005


@pytest.mark.skipif(not CELLS.exists(), reason="the paper's cells lie beside the repository, in shared/")
def test_the_closed_form_is_the_variance_of_redraws(worlds):
    import check_designs_cell

    cells, _ = worlds.read_cells(CELLS)
    world = worlds.make_world("HR-Bench-4K", *cells["HR-Bench-4K"], seed=1)
    rng, means = np.random.default_rng(2), []
    for _ in range(4):
        table = worlds.full_table(world, rng, shared=False)
        formats, rotations = worlds.draw_design(world.options, draws=1, repeats=300, rng=rng)
        found = np.stack([worlds.outcomes_of_table(part, formats, rotations).mean(axis=(1, 2)) for part in table])
        means.append(found - found.mean(axis=1, keepdims=True))
    simulated = np.concatenate(means, axis=1).var(axis=1)
    assert simulated.mean() == pytest.approx(check_designs_cell.one_pass_variance(world).mean(), rel=0.08)


def test_prompteval_recovers_formats_that_differ(worlds):
    import prompteval

    rng = np.random.default_rng(3)
    truth = np.linspace(0.1, 0.9, 48)
    formats = np.argsort(rng.random((20, 20, 48)), axis=-1).reshape(20, -1)
    values = (rng.random(formats.shape) < truth[formats]).astype(float)
    found = prompteval.fit(values, formats)
    assert np.corrcoef(found.mean(axis=0), truth)[0, 1] > 0.98
    assert found.mean() == pytest.approx(0.5, abs=0.02)
