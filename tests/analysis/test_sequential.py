from __future__ import annotations

import numpy as np
import pytest

from vqaudit.analysis.draw_table import DrawTable, drawn_difference
from vqaudit.analysis.sequential import RankingRule, Target, look_schedule, parse_target, reach_ranking, reach_width
from vqaudit.errors import AnalysisError

LEVELS = np.array([[a, b, c] for a in range(4) for b in range(4) for c in range(3)])
NAMES = (("a", "b", "c", "d"), ("p", "q", "r", "s"), ("x", "y", "z"))


def table(values: np.ndarray, formats: np.ndarray) -> DrawTable:
    items = np.arange(len(values), dtype=np.uint32)
    return DrawTable(values=values, formats=formats, levels=LEVELS, names=NAMES, items=items, clusters=items)


def drawn(rng: np.random.Generator, items: int, draws: int) -> np.ndarray:
    order = np.argsort(rng.random((draws, items // 48, 48)), axis=-1)
    return order.reshape(draws, -1).T


@pytest.mark.parametrize("text", ["half-width", "half-width=0", "half-width=0.6", "half-width=1.2.3", "ranking", ""])
def test_what_is_no_target_is_refused(text):
    with pytest.raises(AnalysisError, match="no target"):
        parse_target(text)


def test_targets_of_both_questions():
    assert parse_target("items-half-width=0.05") == Target(0.05, "items")
    assert parse_target(" half-width=0.05 ") == Target(0.05, "this-dataset")


def test_a_target_below_the_floor_is_refused_for_items_alone():
    Target(0.01, "this-dataset").check(200)
    Target(0.05, "items").check(200)
    with pytest.raises(AnalysisError, match=r"about 4\.9 pp"):
        Target(0.01, "items").check(200)


@pytest.mark.parametrize(
    ("most", "looks"), [(1, (1,)), (2, (1, 2)), (4, (1, 2, 4)), (5, (1, 2, 4, 5)), (9, (1, 2, 4, 8, 9))]
)
def test_looks_double_and_end_at_the_last_draw(most, looks):
    assert look_schedule(most) == looks


def test_a_half_width_is_reached_when_the_interval_is_narrow_enough(rng):
    formats = drawn(rng, 192, 4)
    values = rng.integers(0, 2, formats.shape).astype(float)
    wide, narrow = (reach_width(table(values, formats), Target(half, "this-dataset")) for half in (0.01, 0.06))
    assert not wide.stop
    assert narrow.stop
    assert wide.half_width == narrow.half_width
    assert "not reached" in wide.sentence


def test_a_ranking_is_settled_by_simultaneous_intervals(rng):
    formats = drawn(rng, 480, 2)
    values = [(rng.random(formats.shape) < p).astype(float) for p in (0.9, 0.5)]
    values.append(values[1].copy())
    values[2][:2] = 1 - values[2][:2]
    tables = [table(v, formats) for v in values]
    rule = RankingRule((1, 2), margin=0.05)
    found = {(v.a, v.b): v for v in reach_ranking(["hi", "lo", "twin"], tables, rule)}
    assert found["hi", "lo"].state == "better"
    assert found["lo", "twin"].state == "equal"
    share = 1 - 0.05 / (3 * 2)
    assert found["hi", "lo"].estimate.low == drawn_difference(tables[0], tables[1], level=share)[1].low
    strict = reach_ranking(["hi", "lo", "twin"], tables, RankingRule((1, 2), margin=0.0))
    assert [v.state for v in strict][2] == "open"


def test_settled_models_leave_their_share_of_the_level(rng):
    formats = drawn(rng, 96, 1)
    tables = [table((rng.random(formats.shape) < p).astype(float), formats) for p in (0.6, 0.5)]
    alone = reach_ranking(["a", "b"], tables, RankingRule((1,)))[0].estimate
    among = reach_ranking(["a", "b"], tables, RankingRule((1,)), pairs=21)[0].estimate
    assert among.high - among.low > alone.high - alone.low
