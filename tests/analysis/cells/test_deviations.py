"""Factor levels: deviations from a model's own mean, with and without badly covered cells."""

import numpy as np
import pytest

from vqaudit.analysis.cells.deviations import covered, level_deviations, level_means, value_range
from vqaudit.errors import AnalysisError

NAN = np.nan
TWO = {"option_ids": ("upper", "lower"), "delimiter": ("dot", "colon")}


def test_a_level_deviates_from_the_mean_of_its_model_on_its_data_set(make_table) -> None:
    # upper 0.9 0.7, lower 0.3 0.1: mean 0.5, upper 0.8, lower 0.2, dot 0.6, colon 0.4
    table = make_table([[[0.9, 0.7, 0.3, 0.1]]], factors=TWO)
    np.testing.assert_allclose(level_deviations(table, "option_ids"), [[[0.3, -0.3]]])
    np.testing.assert_allclose(level_deviations(table, "delimiter"), [[[0.1, -0.1]]])


def test_deviations_of_a_complete_table_sum_to_zero(random_table) -> None:
    for factor in random_table.factors:
        np.testing.assert_allclose(level_deviations(random_table, factor).sum(axis=2), 0, atol=1e-14)


def test_coverage_neutral_deviations_are_from_the_mean_of_the_cells_that_stay(make_table) -> None:
    table = make_table([[[0.9, 0.7, 0.3, 0.1]]], coverage=[[[1.0, 0.75, 1.0, 0.74]]], factors=TWO)
    kept = covered(table)
    # 0.9, 0.7 and 0.3 stay: mean 1.9 / 3
    np.testing.assert_allclose(level_deviations(kept, "option_ids"), [[[0.8 - 1.9 / 3, 0.3 - 1.9 / 3]]])
    assert kept.cells == 3


def test_a_level_without_cells_has_no_deviation_and_no_coverage(make_table) -> None:
    table = make_table([[[0.9, 0.7, 0.0, 0.0]]], coverage=[[[1.0, 1.0, 0.0, NAN]]], factors=TWO)
    deviations = level_deviations(covered(table), "option_ids")
    np.testing.assert_allclose(deviations, [[[0.0, NAN]]], atol=1e-15)
    assert table.coverage is not None
    np.testing.assert_allclose(level_means(table.coverage, table, "option_ids"), [[[1.0, 0.0]]])
    assert value_range(deviations) == pytest.approx((0.0, 0.0), abs=1e-15)
    assert value_range(np.array([NAN])) is None


def test_what_cannot_be_told_is_said(make_table) -> None:
    with pytest.raises(AnalysisError, match="no column for coverage"):
        covered(make_table([[[0.5]]]))
    with pytest.raises(AnalysisError, match="not 75"):
        covered(make_table([[[0.5]]], coverage=[[[1.0]]]), 75)
