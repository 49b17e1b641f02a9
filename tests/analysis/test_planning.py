from __future__ import annotations

import math

import pytest
from scipy import stats

from vqaudit.analysis.planning import BETWEEN, WITHIN, items_floor, plan_precision
from vqaudit.errors import AnalysisError

Z = stats.norm.ppf(0.975)


def test_floors_are_those_of_the_design_page():
    assert items_floor(200) == pytest.approx(0.05, abs=0.002)
    assert items_floor(1145) == pytest.approx(0.02, abs=0.001)


@pytest.mark.parametrize("half", [0.02, 0.03, 0.05, 0.1])
@pytest.mark.parametrize("items", [100, 1145, 20_000])
def test_the_draws_are_the_fewest_that_suffice(half, items):
    found = plan_precision(half, items=items, clusters=items, grid=192)
    draws = found.draws_this_dataset
    if 2 < draws < 192:
        assert Z * math.sqrt(WITHIN / (items * draws)) <= half < Z * math.sqrt(WITHIN / (items * (draws - 1)))
    like_these = found.draws_items_like_these
    if like_these is None:
        assert Z * math.sqrt(BETWEEN / items + WITHIN / (items * 192)) > half
    else:
        assert Z * math.sqrt(BETWEEN / items + WITHIN / (items * like_these)) <= half + 1e-9


def test_clusters_raise_the_floor_alone():
    alone, grouped = (plan_precision(0.05, items=800, clusters=c, grid=192) for c in (800, 100))
    assert grouped.floor > alone.floor
    assert grouped.draws_items_like_these is None
    assert grouped.draws_this_dataset == alone.draws_this_dataset
    assert "out of reach with 100 independent items" in grouped.sentences[1]


def test_one_draw_suffices_only_where_both_variances_do():
    assert plan_precision(0.1, items=97, clusters=97, grid=192).draws_this_dataset == 1
    assert plan_precision(0.1, items=95, clusters=95, grid=192).draws_this_dataset == 2


@pytest.mark.parametrize("half", [0.0, -1.0, 0.5, 3.0])
def test_a_half_width_is_a_share(half):
    with pytest.raises(AnalysisError, match="half-width"):
        plan_precision(half, items=10, clusters=10, grid=192)
