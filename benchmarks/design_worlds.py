"""Simulated benchmarks with the paper's cells, and designs drawn over them many times at once.

The item model: item i is right under format f and rotation r where
`sqrt(ITEM_SHARE) * difficulty_i + sqrt(1 - ITEM_SHARE) * noise_ifr` is below a threshold, all normal. The threshold
is set so that the accuracy over all items and rotations of a format is the paper's cell. Rotations differ by a
seeded shift of the threshold (position effects). Formats differ between models as the paper's cells do (model x
format effects). Difficulty is one for all models (`shared`) or one for each (`independent`).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

FORMATS = 48
ITEM_SHARE = float(np.sin(np.pi / 4))
"""Correlation of an item's latent scores: half of the variance of an even item's outcomes is the item's own
(sin(pi / 4), by Sheppard's formula for the orthant), which makes floors of about 5 pp at 200 items."""
POSITION_SD = 0.3
"""Standard deviation of the position effects, on the latent scale."""
OPTIONS = {
    "A-OKVQA": {4: 1145},
    "HR-Bench-4K": {4: 200},
    "MMBench-DEV": {4: 1116, 3: 60, 2: 116},
    "MME-RealWorld-Lite": {5: 1919},
    "V*Bench": {4: 106, 2: 86},
}
"""Items by number of options: paper 1, Table 5 (items and rows; the split of MMBench is one that fits both)."""
MODELS = ("Gemma-3", "LLaVA-1.5", "LLaVA-OV", "Phi-3.5", "Phi-4", "Qwen-2-VL", "Qwen-2.5-VL")


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """One dataset and seven models."""

    name: str
    options: Ints
    """Of each item."""
    cells: Floats
    """Models x formats: accuracy."""
    thresholds: Floats
    """Models x formats x rotations, by number of options up to the largest."""
    levels: Ints
    """Formats x factors: number of the level (ID set, delimiter, separator)."""

    @property
    def items(self) -> int:
        """How many items."""
        return self.options.size

    def truth(self) -> Floats:
        """Grid accuracy of each model."""
        return self.cells.mean(axis=1)


def read_cells(path: Path) -> tuple[dict[str, tuple[Floats, Ints]], list[tuple[str, ...]]]:
    """Returns dataset -> (models x formats of accuracies in [0, 1], the formats' levels), and the formats' names."""
    with path.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    factors = ("option_ids", "delimiter", "separator")
    names = {factor: sorted({row[factor] for row in rows}) for factor in factors}
    formats = sorted({tuple(row[factor] for factor in factors) for row in rows})
    levels = np.array([[names[f].index(v) for f, v in zip(factors, key, strict=True)] for key in formats])
    found = {}
    for dataset in OPTIONS:
        table = np.full((len(MODELS), FORMATS), np.nan)
        for row in rows:
            if row["dataset"] == dataset:
                column = formats.index(tuple(row[factor] for factor in factors))
                table[MODELS.index(row["model"]), column] = float(row["accuracy_pct"]) / 100
        if np.isnan(table).any():
            raise SystemExit(f"{path} has no {FORMATS} cells for every model on {dataset}")
        found[dataset] = table, levels
    return found, formats


def make_world(name: str, cells: Floats, levels: Ints, *, seed: int) -> World:
    """Returns the world of one dataset: thresholds solved by bisection, items of few options mixed among the rest."""
    rng = np.random.default_rng([seed, list(OPTIONS).index(name)])
    options = np.concatenate([np.full(count, size) for size, count in OPTIONS[name].items()])
    shifts = rng.normal(0, POSITION_SD, size=(len(cells), max(OPTIONS[name])))
    shares = np.array([((options > place) / options).mean() for place in range(options.max())])
    low, high = np.full(cells.shape, -9.0), np.full(cells.shape, 9.0)
    for _ in range(60):
        middle = (low + high) / 2
        reached = (ndtr(middle[..., None] + shifts[:, None, :]) * shares).sum(axis=-1)
        low, high = np.where(reached < cells, middle, low), np.where(reached < cells, high, middle)
    thresholds = low[..., None] + shifts[:, None, :]
    return World(name=name, options=rng.permutation(options), cells=cells, thresholds=thresholds, levels=levels)


def difficulties(world: World, rng: np.random.Generator, *, shared: bool, repeats: int = 1) -> Floats:
    """Returns repeats x models x items of standard normal difficulties."""
    models = len(world.cells)
    drawn = rng.normal(size=(repeats, 1 if shared else models, world.items))
    return np.broadcast_to(drawn, (repeats, models, world.items))


def full_table(world: World, rng: np.random.Generator, *, shared: bool) -> NDArray[np.bool_]:
    """Returns models x items x formats x rotations of outcomes whose cell means are the paper's, to the item.

    Of every format, rotation and number of options, as many items as the threshold wants are right: those with the
    lowest scores.
    """
    size = (len(world.cells), world.items, FORMATS, world.options.max())
    hard = difficulties(world, rng, shared=shared)[0][:, :, None, None]
    scores = np.sqrt(ITEM_SHARE) * hard + np.sqrt(1 - ITEM_SHARE) * rng.normal(size=size)
    right = np.zeros(size, dtype=bool)
    for count in np.unique(world.options):
        places = np.flatnonzero(world.options == count)
        part = scores[:, places][..., :count]
        wanted = np.rint(ndtr(world.thresholds[..., :count]) * places.size).astype(int)
        cut = np.take_along_axis(np.sort(part, axis=1), np.maximum(wanted - 1, 0)[:, None], axis=1)
        right[:, places, :, :count] = (part <= cut) & (wanted > 0)[:, None]
    return right


def grid_truth(world: World, table: NDArray[np.bool_]) -> Floats:
    """Returns models x formats: mean over items of the mean over rotations."""
    return (table.sum(axis=3, dtype=float) / world.options[:, None]).mean(axis=1)


def draw_design(options: Ints, *, draws: int, repeats: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Returns formats and rotations, each repeats x items x draws, as `asking.designs.Randomised` draws them.

    Within the items of one number of options, in order: a permutation of the formats for every block of 48 and
    draw, and of the rotations for every block of as many items as there are options.
    """
    formats = np.zeros((repeats, options.size, draws), dtype=np.intp)
    rotations = np.zeros_like(formats)
    for count in np.unique(options):
        places = np.flatnonzero(options == count)
        formats[:, places] = _blocks(places.size, FORMATS, draws, repeats, rng)
        rotations[:, places] = _blocks(places.size, int(count), draws, repeats, rng)
    return formats, rotations


def _blocks(items: int, size: int, draws: int, repeats: int, rng: np.random.Generator) -> Ints:
    blocks = -(-items // size)
    order = np.argsort(rng.random((repeats, draws, blocks, size), dtype=np.float32), axis=-1)
    return order.reshape(repeats, draws, -1)[..., :items].transpose(0, 2, 1)


def outcomes_of_table(table: NDArray[np.bool_], formats: Ints, rotations: Ints) -> Floats:
    """Returns one model's outcomes of a design over fixed items."""
    items = np.arange(table.shape[0])[:, None]
    return table[items, formats, rotations].astype(np.float64)


def outcomes_of_sample(
    thresholds: Floats, hard: Floats, formats: Ints, rotations: Ints, rng: np.random.Generator
) -> Floats:
    """Returns one model's outcomes where every repeat samples its own items."""
    scores = np.sqrt(ITEM_SHARE) * hard[..., None] + np.sqrt(1 - ITEM_SHARE) * rng.normal(size=formats.shape)
    return (scores < thresholds[formats, rotations]).astype(np.float64)
