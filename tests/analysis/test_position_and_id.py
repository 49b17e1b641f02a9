from __future__ import annotations

import numpy as np
import pytest

from vqaudit.analysis.mitigation import material_of
from vqaudit.analysis.position_and_id import position_and_id
from vqaudit.asking.orders import scrambled_id_orders
from vqaudit.errors import AnalysisError

FORMAT = ("upper", "dot", "line_break")


@pytest.fixture
def scrambled_run(builder, orders):
    def make(choose, *, n_items=24, n_options=4, scrambled=True):
        """`choose(item, order, id_order)` returns the position chosen."""
        run = builder()
        others = scrambled_id_orders(n_options)
        for number in range(n_items):
            item = run.add_item(f"q{number:03d}", n_options=n_options, answer=number % n_options)
            for place, order in enumerate(orders(n_options)):
                natural = tuple(range(n_options))
                for ids in (natural, others[(number + place) % len(others)])[: 2 if scrambled else 1]:
                    position = choose(number, order, ids)
                    run.add_trial(
                        item,
                        fmt=FORMAT,
                        order=order,
                        chosen=None if position is None else order[position],
                        designs=[("scrambled-ids", 0)],
                        id_order=list(ids),
                        option_ids=["ABCDE"[index] for index in ids],
                    )
        return material_of(run.write(reference_format="/".join(FORMAT)))

    return make


def values(rows):
    return [row.preference.value for row in rows]


def test_a_model_that_always_takes_the_first_position_prefers_no_id(scrambled_run):
    table = position_and_id(scrambled_run(lambda n, order, ids: 0)).tables[0]
    assert values(table.positions) == pytest.approx([0.75, -0.25, -0.25, -0.25])
    assert values(table.ids) == pytest.approx([0, 0, 0, 0], abs=1e-12)


def test_a_model_that_always_takes_the_first_id_prefers_no_position(scrambled_run):
    table = position_and_id(scrambled_run(lambda n, order, ids: ids.index(0))).tables[0]
    assert [row.name for row in table.ids] == ["A", "B", "C", "D"]
    assert values(table.ids) == pytest.approx([0.75, -0.25, -0.25, -0.25])
    assert values(table.positions) == pytest.approx([0, 0, 0, 0], abs=1e-12)


def test_a_model_that_knows_prefers_neither(scrambled_run):
    found = position_and_id(scrambled_run(lambda n, order, ids: list(order).index(n % 4)))
    assert values(found.tables[0].positions) == pytest.approx([0] * 4, abs=1e-12)
    assert values(found.tables[0].ids) == pytest.approx([0] * 4, abs=1e-12)
    assert found.natural_minus_scrambled.value == 0
    low, high = found.tables[0].ids[0].preference.low, found.tables[0].ids[0].preference.high
    assert low < 0 < high


def law(rng, position, own):
    """Chooses by content + position + ID, on the scale of probability."""

    def choose(number, order, ids):
        content = np.full(4, 0.2) + 0.2 * (np.array(order) == number % 4)
        chances = content + position[np.arange(4)] + own[list(ids)]
        return int(rng.choice(4, p=chances / chances.sum()))

    return choose


def test_preferences_that_add_up_are_told_apart(scrambled_run, rng):
    position, own = np.array([0.1, 0.0, -0.04, -0.06]), np.array([-0.05, 0.08, 0.0, -0.03])
    found = position_and_id(scrambled_run(law(rng, position, own), n_items=400))
    table = found.tables[0]
    for row, truth in zip(table.positions + table.ids, [*position, *own], strict=True):
        error = row.preference.standard_error
        assert abs(row.preference.value - truth) < 4 * error
    assert table.position_p_value < 0.001
    assert table.id_p_value < 0.001
    assert table.additivity_p_value > 0.001


def test_what_does_not_add_up_is_said(scrambled_run):
    # with natural IDs the model knows, with scrambled ones it takes A
    def choose(number, order, ids):
        return list(order).index(number % 4) if list(ids) == [0, 1, 2, 3] and number % 5 else ids.index(0)

    found = position_and_id(scrambled_run(choose, n_items=60))
    assert found.tables[0].additivity_p_value < 0.001
    assert found.natural_minus_scrambled.value > 0.4
    assert "otherwise" in found.sentence
    assert "lower where IDs stand out of order" in found.sentence


def test_two_options_are_told_apart_and_leave_nothing_to_test(scrambled_run):
    found = position_and_id(scrambled_run(lambda n, order, ids: ids.index(1), n_options=2))
    assert values(found.tables[0].ids) == pytest.approx([-0.5, 0.5])
    assert values(found.tables[0].positions) == pytest.approx([0, 0], abs=1e-12)
    assert found.tables[0].additivity_p_value is None
    assert "cannot be tested" in found.sentence


def test_natural_orders_alone_do_not_identify_it(scrambled_run, grid_run):
    for material in (
        scrambled_run(lambda n, order, ids: 0, scrambled=False),
        material_of(grid_run(lambda n, fmt, order: 0, n_items=2, formats=[FORMAT]).write()),
    ):
        with pytest.raises(AnalysisError, match="natural position"):
            position_and_id(material)


def test_trials_without_a_choice_stay_in_the_denominator(scrambled_run):
    found = position_and_id(scrambled_run(lambda n, order, ids: 0 if n % 2 else None, n_items=28))
    assert values(found.tables[0].positions) == pytest.approx([0.375, -0.125, -0.125, -0.125])
