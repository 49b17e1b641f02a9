"""PromptEval's own code beside `prompteval.py` (written from its paper) and vqaudit's plain mean, on the same cells.

The tables are simulated worlds with paper 1's cells (`design_worlds.py`): seven models, one random rotation of every
item as the item's outcome under a format, so that the truth is the table's own mean.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from design_worlds import FORMATS, Floats, World, draw_design, full_table, make_world, read_cells
from numpy.typing import NDArray
from peers.clock import Clock, ask_peer
from prompteval import fit

import vqaudit

CELLS = Path(vqaudit.__file__).parent / "paper_data" / "format_grid.csv"


def measure(python: str, folder: Path, *, dataset: str, repeats: int, checkout: Path) -> dict[str, Any]:
    """Returns errors of the three in percentage points, at the price of asking every item once.

    Args:
        python: Of an environment with numpy, scikit-learn and tqdm.
        folder: For files that pass between the two.
        dataset: One of paper 1's.
        repeats: Draws of which item is asked under which format; each is used on every model.
        checkout: A copy of PromptEval's repository.
    """
    cells, _ = read_cells(CELLS)
    world = make_world(dataset, *cells[dataset], seed=1)
    rng = np.random.default_rng(1)
    right = full_table(world, rng, shared=False)
    turn = rng.integers(0, world.options)
    tables = right[:, np.arange(world.items), :, turn].transpose(1, 2, 0)
    formats, _ = draw_design(world.options, draws=1, repeats=repeats, rng=rng)
    seen = np.stack([np.arange(FORMATS)[:, None] == row[None, :, 0] for row in formats])
    np.savez(folder / "questions.npz", tables=tables, seen=seen)
    peer = ask_peer(python, "run_prompteval.py", folder / "peer.json", checkout, folder / "questions.npz")
    values = np.stack([table[formats[:, :, 0], np.arange(world.items)] for table in tables]).astype(float)
    clock = Clock()
    with clock:
        ours = np.stack([fit(part, formats[:, :, 0]) for part in values])
    truth = tables.mean(axis=2)
    shape = (len(tables), repeats, FORMATS)
    theirs, own = (np.array(peer[name]).reshape(shape) for name in ("formats", "own_sample"))
    return {
        "versions": peer["versions"],
        "dataset": dataset,
        "items": world.items,
        "estimates": len(tables) * repeats,
        "peer": _errors(theirs, truth),
        "written_from_paper": _errors(ours, truth),
        "plain_mean": {"grid_mae_pp": _pp(np.abs(values.mean(axis=2) - truth.mean(axis=1)[:, None]))},
        "more_passes": {
            "passes": peer["passes"],
            "peer_own_sample": _errors(own, truth),
            "plain_mean": {"grid_mae_pp": _plain(world, tables, draws=peer["passes"], repeats=repeats)},
        },
        "apart": {
            "grid_pp": _pp(np.abs(theirs.mean(axis=2) - ours.mean(axis=2))),
            "formats_pp": _pp(np.abs(theirs - ours)),
            "correlation_of_formats": float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in _pairs(theirs, ours)])),
        },
        "seconds": {
            "peer": peer["seconds"],
            "peer_drawing_its_samples": peer["seconds_of_drawing"],
            "written_from_paper": clock.seconds,
        },
    }


def _plain(world: World, tables: NDArray[np.bool_], *, draws: int, repeats: int) -> float:
    """Returns the mean error of vqaudit's estimate, the mean over trials, where every item has several draws."""
    rng = np.random.default_rng(2)
    formats, _ = draw_design(world.options, draws=draws, repeats=repeats, rng=rng)
    means = np.stack([table[formats, np.arange(world.items)[:, None]].mean(axis=(1, 2)) for table in tables])
    return _pp(np.abs(means - tables.mean(axis=(1, 2))[:, None]))


def _errors(found: Floats, truth: Floats) -> dict[str, float]:
    spread = np.ptp(found, axis=2) - np.ptp(truth, axis=1)[:, None]
    return {
        "grid_mae_pp": _pp(np.abs(found.mean(axis=2) - truth.mean(axis=1)[:, None])),
        "format_mae_pp": _pp(np.abs(found - truth[:, None, :])),
        "spread_mae_pp": _pp(np.abs(spread)),
        "spread_bias_pp": _pp(spread),
    }


def _pairs(a: Floats, b: Floats) -> zip[tuple[Floats, Floats]]:
    return zip(a.reshape(-1, FORMATS), b.reshape(-1, FORMATS), strict=True)


def _pp(values: Floats) -> float:
    return float(100 * values.mean())
