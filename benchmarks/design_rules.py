"""Designs that look before they draw on, over many repeats: two-stage and sequential."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from design_worlds import FORMATS, MODELS, Floats, World, draw_design, grid_truth, outcomes_of_table
from numpy.typing import NDArray

from vqaudit.analysis.drawn import (
    Drawn,
    difference_interval,
    mean_interval,
    weigh,
    within_item_variance,
    within_stratum_variance,
)
from vqaudit.analysis.screening import extremes, format_scores
from vqaudit.analysis.sequential import MARGIN, look_schedule
from vqaudit.analysis.two_stage import SCREENING_DRAWS

Table = NDArray[np.bool_]
MOST = 16
"""Most draws per item of a sequential design."""
CHUNK = 100


def two_stage(world: World, table: Table, *, repeats: int, rng: np.random.Generator) -> dict[str, Any]:
    """Returns the row of a screen and fresh draws of the extreme formats: the error of the estimated spread."""
    formats, rotations = draw_design(world.options, draws=SCREENING_DRAWS, repeats=repeats, rng=rng)
    cells = (formats.reshape(repeats, -1) + FORMATS * np.arange(repeats)[:, None]).reshape(-1)
    counts = np.bincount(cells, minlength=repeats * FORMATS).reshape(repeats, FORMATS).astype(float)
    truth, errors, passes = grid_truth(world, table), [], 0.0
    for model, part in enumerate(table):
        right = outcomes_of_table(part, formats, rotations).reshape(-1)
        sums = np.bincount(cells, right, repeats * FORMATS).reshape(repeats, FORMATS)
        low, high = extremes(format_scores(sums, counts, world.levels))
        asked = [_confirm(world, part, chosen, rng) for chosen in (low, high)]
        estimate = asked[1].max(axis=1) - asked[0].min(axis=1)
        errors.append(estimate - (truth[model].max() - truth[model].min()))
        passes = SCREENING_DRAWS + low.shape[1] + high.shape[1]
    return {
        "design": "two-stage",
        "draws": SCREENING_DRAWS,
        "passes": passes,
        "repeats": repeats,
        "spread_mae_pp": float(100 * np.abs(errors).mean()),
        "spread_bias_pp": float(100 * np.mean(errors)),
        "spread_mae_by_model_pp": {name: float(100 * np.abs(e).mean()) for name, e in zip(MODELS, errors, strict=True)},
    }


def _confirm(world: World, part: Table, chosen: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    """Repeats x formats: accuracy over all items, each in one fresh rotation."""
    items = np.arange(world.items)
    found = np.zeros(chosen.shape)
    for place in range(chosen.shape[1]):
        rotation = rng.integers(0, 1 << 30, size=(len(chosen), world.items)) % world.options
        found[:, place] = part[items, chosen[:, place, None], rotation].mean(axis=1)
    return found


def sequential_width(world: World, table: Table, *, repeats: int, rng: np.random.Generator) -> dict[str, Any]:
    """Returns the row of drawing until the half-width on this dataset is 2 pp: coverage where it stopped, draws."""
    target, truth = 0.02, grid_truth(world, table).mean(axis=1)
    hits, drawn_to, halves = [], [], []
    for start in range(0, repeats, CHUNK):
        size = min(CHUNK, repeats - start)
        formats, rotations = draw_design(world.options, draws=MOST, repeats=size, rng=rng)
        for model in SEQUENTIAL_MODELS:
            values = outcomes_of_table(table[model], formats, rotations)
            hit, used, half = np.zeros(size, bool), np.zeros(size), np.zeros(size)
            waiting = np.arange(size)
            for draws in range(1, MOST + 1):
                low, high = _bounds(values[waiting, :, :draws], formats[waiting, :, :draws])
                stop = ((high - low) / 2 <= target) | (draws == MOST)
                inside = (low <= truth[model] + 1e-12) & (truth[model] - 1e-12 <= high)
                hit[waiting[stop]], used[waiting[stop]] = inside[stop], draws
                half[waiting[stop]] = ((high - low) / 2)[stop]
                waiting = waiting[~stop]
                if not waiting.size:
                    break
            hits.append(hit)
            drawn_to.append(used)
            halves.append(half)
    every = np.concatenate(hits)
    by_model = [np.concatenate(hits[m :: len(SEQUENTIAL_MODELS)]) for m in range(len(SEQUENTIAL_MODELS))]
    return {
        "design": "sequential",
        "target": f"half-width={target}",
        "draws": float(np.concatenate(drawn_to).mean()),
        "passes": float(np.concatenate(drawn_to).mean()),
        "saved": 1 - float(np.concatenate(drawn_to).mean() / (FORMATS * world.options.mean())),
        "question": "this dataset",
        "repeats": repeats,
        "interval_coverage": float(every.mean()),
        "mean_half_width_pp": float(100 * np.concatenate(halves).mean()),
        "reached": float((np.concatenate(halves) <= target).mean()),
        "_hits": [int(h.sum()) for h in by_model],
    }


SEQUENTIAL_MODELS = (1, 4, 6)


def _bounds(values: Floats, formats: NDArray[np.intp]) -> tuple[Floats, Floats]:
    drawn = Drawn(values, formats, FORMATS, np.arange(values.shape[1]))
    variance = within_item_variance if values.shape[-1] > 1 else within_stratum_variance
    interval = mean_interval(variance(drawn, weigh(values, by_item=True)))
    return interval.low, interval.high


def sequential_ranking(world: World, table: Table, *, repeats: int, rng: np.random.Generator) -> dict[str, Any]:
    """Returns the row of drawing until every two models are told apart or equal to within 1 pp: false statements."""
    truth = grid_truth(world, table).mean(axis=1)
    pairs, looks = list(combinations(range(len(MODELS)), 2)), look_schedule(MOST)
    level = 1 - 0.05 / (len(pairs) * len(looks))
    wrong, passes, open_at_end = [], [], []
    for start in range(0, repeats, CHUNK):
        size = min(CHUNK, repeats - start)
        formats, rotations = draw_design(world.options, draws=MOST, repeats=size, rng=rng)
        outcomes = [outcomes_of_table(part, formats, rotations) for part in table]
        settled, false = np.zeros((size, len(pairs)), bool), np.zeros(size, bool)
        used = np.zeros((size, len(MODELS)))
        for draws in looks:
            active = np.zeros((size, len(MODELS)), bool)
            for place, (a, b) in enumerate(pairs):
                active[:, a] |= ~settled[:, place]
                active[:, b] |= ~settled[:, place]
            used[active] = draws
            for place, (a, b) in enumerate(pairs):
                waiting = np.flatnonzero(~settled[:, place])
                if not waiting.size:
                    continue
                values = (outcomes[a] - outcomes[b])[waiting, :, :draws]
                told, bad = _told(values, formats[waiting, :, :draws], truth[a] - truth[b], level)
                false[waiting] |= told & bad
                settled[waiting, place] |= told
        wrong.append(false)
        passes.append(used.mean(axis=1))
        open_at_end.append((~settled).sum(axis=1))
    return {
        "design": "sequential",
        "target": "ranking",
        "draws": float(np.concatenate(passes).mean()),
        "passes": float(np.concatenate(passes).mean()),
        "saved": 1 - float(np.concatenate(passes).mean() / (FORMATS * world.options.mean())),
        "question": "this dataset",
        "repeats": repeats,
        "interval_coverage": 1 - float(np.concatenate(wrong).mean()),
        "pairs_left_open": float(np.concatenate(open_at_end).mean()),
        "_hits": [int((~np.concatenate(wrong)).sum())],
    }


def _told(
    values: Floats, formats: NDArray[np.intp], truth: float, level: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether a pair is settled, and whether what it says is false."""
    drawn = Drawn(values, formats, FORMATS, np.arange(values.shape[1]))
    variance = within_item_variance if values.shape[-1] > 1 else within_stratum_variance
    interval = difference_interval(variance(drawn, weigh(values, by_item=True)), level=level)
    better, worse = interval.low > 0, interval.high < 0
    equal = ~better & ~worse & (interval.low >= -MARGIN) & (interval.high <= MARGIN)
    bad = (better & (truth <= 0)) | (worse & (truth >= 0)) | (equal & (abs(truth) > MARGIN))
    return better | worse | equal, bad
