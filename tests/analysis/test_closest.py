from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from vqaudit.analysis.closest import closest_formats


def test_correlations_are_those_of_scipy(rng):
    values = rng.random((6, 40, 5))
    found = closest_formats(values, clusters=np.arange(40, dtype=np.uint32), seed=1)
    grid = values.mean(axis=(1, 2))
    expected = [stats.spearmanr(values[:, :, f].mean(axis=1), grid).statistic for f in range(5)]
    assert found.spearman == pytest.approx(expected)
    assert found.shares.sum() == pytest.approx(1)


def test_a_format_that_ranks_as_the_grid_is_found_again(rng):
    ability = np.array([0.1, 0.4, 0.6, 0.9])[:, None, None]
    values = np.concatenate([ability + 0 * rng.random((4, 300, 1)), rng.random((4, 300, 2))], axis=2)
    found = closest_formats(values, clusters=np.arange(300, dtype=np.uint32), seed=1)
    assert found.spearman.argmax() == 0
    assert found.shares[0] > 0.9


def test_runs_that_tie_in_a_format_have_no_correlation_there():
    values = np.array([[[0.5, 0.1]], [[0.5, 0.2]]])
    assert closest_formats(values, clusters=np.zeros(1, dtype=np.uint32), seed=0).spearman[0] == 0.0


def test_cells_without_an_answer_are_left_out_and_not_counted_as_wrong(rng):
    values = rng.random((5, 60, 4))
    values[rng.random(values.shape) < 0.3] = np.nan
    found = closest_formats(values, clusters=np.arange(60, dtype=np.uint32), seed=1)
    means = np.nanmean(values, axis=1)
    grid = means.mean(axis=1)
    expected = [stats.spearmanr(means[:, f], grid).statistic for f in range(4)]
    assert found.spearman == pytest.approx(expected)
    assert found.shares.sum() == pytest.approx(1)


def test_a_resample_that_holds_no_answer_of_a_format_tells_nothing_of_it():
    # one of two clusters holds all answers of the second format: drawn twice or never in half of the resamples
    values = np.array([[[0.9, 0.9], [0.9, np.nan]], [[0.1, 0.1], [0.1, np.nan]]])
    found = closest_formats(values, clusters=np.arange(2, dtype=np.uint32), seed=3)
    assert found.spearman == pytest.approx([1.0, 1.0])
    assert found.shares.sum() == pytest.approx(1)
    assert found.shares[0] > found.shares[1] > 0
