from __future__ import annotations

import numpy as np
import pytest

from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.spread import FormatTable, cluster_halves, format_spread, format_table


def _table(means, *, per_cell=4, clusters=None):
    items, formats = means.shape
    codes = np.arange(items, dtype=np.uint32)
    return FormatTable(
        formats=tuple(f"f{number:02d}" for number in range(formats)),
        means=means,
        clusters=codes if clusters is None else clusters,
        items=codes,
        counts=np.full(formats, per_cell * items),
    )


def _draw(rng, *, items, effects, per_cell=4):
    """Items of every ease; the truth of a format is its mean over items like these."""
    ease = rng.uniform(0.25, 0.75, (items, 1))
    return rng.binomial(per_cell, ease + np.asarray(effects)) / per_cell


def test_the_table_holds_the_mean_over_orders(grid_run, formats):
    run = grid_run(
        lambda n, fmt, order: n % 4 if order[0] <= n and fmt == formats[0] else None, n_items=3, formats=formats[:2]
    )
    run.trials[-1]["outcome"] = "failed"
    frame = analysis_frame(run.write())
    table = format_table(frame.filter(~frame["failed"]))
    assert table.formats == tuple(sorted("/".join(fmt) for fmt in formats[:2]))
    first = table.formats.index("/".join(formats[0]))
    assert table.means[:, first] == pytest.approx([0.25, 0.5, 0.75])
    assert table.means[:, 1 - first] == pytest.approx([0, 0, 0])
    assert list(table.counts) == ([12, 11] if first == 0 else [11, 12])
    assert table.accuracies()[first] == pytest.approx(0.5)


def test_a_cell_that_nobody_answered_is_no_zero():
    means = np.array([[0.5, np.nan], [1.0, 0.0], [0.0, 1.0]])
    assert _table(means).accuracies() == pytest.approx([0.5, 0.5])


def test_best_worst_and_their_distance():
    means = np.tile([0.2, 0.9, 0.5], (30, 1))
    spread = format_spread(_table(means), seed=0)
    assert (spread.best, spread.worst) == ("f01", "f00")
    assert spread.estimate.value == pytest.approx(0.7)
    assert 0.4 < spread.estimate.low <= 0.7 <= spread.estimate.high
    assert (spread.estimate.n, spread.estimate.trials) == (30, 30 * 3 * 4)


def test_left_out_formats_are_neither_best_nor_worst():
    means = np.tile([0.2, 0.9, 0.5], (30, 1))
    table = _table(means).without({"f00"})
    spread = format_spread(table, seed=0)
    assert (spread.best, spread.worst) == ("f01", "f02")
    assert table.trials == 240


def test_the_first_by_name_of_those_that_tie():
    spread = format_spread(_table(np.full((10, 3), 0.5)), seed=0)
    assert (spread.best, spread.worst, spread.estimate.value, spread.estimate.low) == ("f00", "f00", 0.0, 0.0)
    assert spread.estimate.high > 0


@pytest.mark.parametrize(("shape", "words"), [((10, 1), "fewer than two formats"), ((0, 0), "fewer than two formats")])
def test_one_format_has_no_spread(shape, words):
    spread = format_spread(_table(np.full(shape, 0.5)), seed=0)
    assert (spread.best, spread.estimate.value) == (None, None)
    assert words in (spread.estimate.reason or "")


def test_three_items_have_a_spread_and_no_interval():
    spread = format_spread(_table(np.array([[0.0, 1.0]] * 3)), seed=0)
    assert (spread.estimate.value, spread.estimate.low) == (1.0, None)
    assert "at least 4" in (spread.estimate.reason or "")


def test_the_same_seed_gives_the_same_bounds(rng):
    table = _table(_draw(rng, items=40, effects=rng.normal(0, 0.05, 48)))
    first, again = format_spread(table, seed=3), format_spread(table, seed=3)
    assert first == again
    others = [format_spread(table, seed=seed).estimate.low for seed in range(8)]
    assert np.ptp(others) < 0.06


def test_halves_are_even_and_cut_no_cluster(rng):
    clusters = np.repeat(np.arange(7), [1, 5, 2, 9, 3, 1, 4]).astype(np.uint32)
    half = cluster_halves(clusters, rng)
    sides = [set(clusters[half]), set(clusters[~half])]
    assert not sides[0] & sides[1]
    assert sorted(map(len, sides)) == [3, 4]


@pytest.mark.parametrize(("items", "per_cell"), [(20, 4), (100, 1), (100, 4)])
def test_where_formats_do_not_differ_the_lower_bound_is_zero(items, per_cell, rng):
    repeats = 200
    spreads = [
        format_spread(
            _table(_draw(rng, items=items, effects=np.zeros(48), per_cell=per_cell), per_cell=per_cell), seed=seed
        ).estimate
        for seed in range(repeats)
    ]
    assert sum(spread.low > 0 for spread in spreads) / repeats <= 0.05
    # the plug-in sees a spread all the same, which is why it is not trusted
    assert min(spread.value for spread in spreads) > 0.02


@pytest.mark.parametrize("items", [30, 150])
def test_a_strong_effect_is_seen_and_its_truth_is_covered(items, rng):
    effects = np.concatenate([np.full(12, -0.2), rng.uniform(-0.05, 0.05, 35), [0.2]])
    truth = effects.max() - effects.min()
    spreads = [
        format_spread(_table(_draw(rng, items=items, effects=effects)), seed=seed).estimate for seed in range(120)
    ]
    covered = np.mean([spread.low <= truth <= spread.high for spread in spreads])
    assert covered >= 0.95
    assert np.mean([spread.low > 0 for spread in spreads]) > 0.9
    if items == 150:
        assert np.mean([spread.low for spread in spreads]) > 0.25


def test_items_of_one_group_stand_or_fall_together(rng):
    # ten groups of ten copies tell no more than ten items
    few = _draw(rng, items=10, effects=np.zeros(48))
    copies = _table(np.repeat(few, 10, axis=0), clusters=np.repeat(np.arange(10), 10).astype(np.uint32))
    alone = format_spread(_table(few), seed=0).estimate
    together = format_spread(copies, seed=0).estimate
    assert together.n == 10
    assert together.low == alone.low == 0
    assert together.high == pytest.approx(alone.high, abs=0.05)
