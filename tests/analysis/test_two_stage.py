from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from vqaudit.analysis.recommended import recommend
from vqaudit.analysis.screening import extremes, format_scores
from vqaudit.analysis.spread import FormatTable
from vqaudit.analysis.two_stage import confirmed_spread

LEVELS = np.array([[a, b, c] for a in range(4) for b in range(4) for c in range(3)])


def test_scores_without_noise_are_the_cells(rng):
    cells = rng.random(48)
    found = format_scores(cells * 1e6, np.full(48, 1e6), LEVELS)
    assert found == pytest.approx(cells, abs=1e-3)


def test_scores_of_an_additive_model_are_its_regression(rng):
    cells = 0.5 + np.array([-0.3, 0, 0.1, 0.2])[LEVELS[:, 0]] + np.array([0.05, 0, -0.05])[LEVELS[:, 2]]
    counts = np.full(48, 4.0)
    sums = rng.binomial(4, cells).astype(float)
    error = np.abs(format_scores(sums, counts, LEVELS) - cells).mean()
    assert error < 0.5 * np.abs(sums / counts - cells).mean()


def test_scores_take_repeats_and_cells_without_outcomes(rng):
    sums, counts = rng.integers(0, 5, (3, 48)).astype(float), np.full((3, 48), 5.0)
    sums[:, 7] = counts[:, 7] = 0
    together = format_scores(sums, counts, LEVELS)
    assert np.isfinite(together).all()
    assert together[1] == pytest.approx(format_scores(sums[1], counts[1], LEVELS))


def test_a_format_that_was_never_drawn_moves_no_other_score(rng):
    # 47 formats with outcomes, once among themselves and once beside a format whose levels they all have
    counts = np.full(47, 4.0)
    sums = rng.binomial(4, rng.uniform(0.2, 0.8, 47)).astype(float)
    alone = format_scores(sums, counts, LEVELS[:47])
    beside = format_scores(np.append(sums, 0.0), np.append(counts, 0.0), LEVELS)
    assert beside[:47] == pytest.approx(alone, abs=1e-12)


def test_extremes_are_disjoint_ends():
    low, high = extremes(np.arange(48.0), worst=5, best=3)
    assert low.tolist() == [0, 1, 2, 3, 4]
    assert high.tolist() == [47, 46, 45]


def trials(values: np.ndarray, names: list[str]) -> pl.DataFrame:
    """Items x formats of yes-or-no outcomes as rows of a frame."""
    items, formats = np.indices(values.shape).reshape(2, -1)
    return pl.DataFrame(
        {
            "item_code": items.astype(np.uint32),
            "cluster_code": items.astype(np.uint32),
            "format": [names[f] for f in formats],
            "right": values.reshape(-1).astype(bool),
        }
    )


def test_the_interval_holds_whichever_formats_are_the_extremes(rng):
    # five formats that do not differ: picking the lowest of them fools the value, not the interval
    low_names, high_names = list("abcde"), list("vwx")
    hits, shown = 0, []
    for _ in range(200):
        worst = rng.random((150, 5)) < 0.5
        best = rng.random((150, 3)) < 0.5
        spread, lowest, highest = confirmed_spread(trials(worst, low_names), trials(best, high_names))
        hits += spread.estimate.low <= 0.0 and lowest.low <= 0.5 <= lowest.high and highest.low <= 0.5 <= highest.high
        shown.append(spread.estimate.value)
        assert spread.worst in low_names
        assert spread.best in high_names
    assert np.mean(shown) > 0.04
    assert hits >= stats.binom.ppf(0.001, 200, 0.90)


def test_a_real_spread_is_told(rng):
    worst = rng.random((200, 2)) < np.array([0.2, 0.4])
    best = rng.random((200, 2)) < np.array([0.7, 0.9])
    spread, lowest, highest = confirmed_spread(trials(worst, ["a", "b"]), trials(best, ["y", "z"]))
    assert (spread.worst, spread.best) == ("a", "z")
    assert spread.estimate.low < 0.7 < spread.estimate.high
    assert spread.estimate.value == pytest.approx(best[:, 1].mean() - worst[:, 0].mean())
    assert lowest.value == pytest.approx(worst[:, 0].mean())
    assert highest.low < 0.9 < highest.high + 0.05


def test_a_stage_without_trials_tells_nothing():
    nothing = trials(np.zeros((0, 1)), ["a"])
    spread, _, _ = confirmed_spread(nothing, nothing)
    assert spread.estimate.value is None
    assert "second stage" in spread.estimate.reason


def cells(means: np.ndarray) -> FormatTable:
    items = np.arange(len(means), dtype=np.uint32)
    names = tuple(f"f{column}" for column in range(means.shape[1]))
    counts = np.full(means.shape[1], len(means))
    return FormatTable(formats=names, means=means, clusters=items, items=items, counts=counts)


def test_the_recommended_format_is_the_highest_and_its_equals_are_named(rng):
    means = (rng.random((300, 1)) < np.array([0.9, 0.9, 0.5, 0.1])).astype(float)
    means[:, 1] = means[:, 0]
    means[0, 1] = 1 - means[0, 0]
    found = recommend(cells(means), whole_grid=True)
    assert set(found.as_good) == {"f0", "f1"}
    assert found.highest in found.as_good
    assert found.representative == "f2"
    assert found.distance.value == pytest.approx(means[:, 2].mean() - means.mean())


def test_formats_that_do_not_differ_are_all_as_good(rng):
    found = recommend(cells((rng.random((60, 5)) < 0.5).astype(float)), whole_grid=False)
    assert len(found.as_good) == 5
    assert found.representative is None
    assert recommend(cells(np.ones((60, 1))), whole_grid=True) is None
