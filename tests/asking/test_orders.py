"""Orders are permutations, and every permutation can be undone."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.asking.orders import (
    apply_order,
    check_order,
    circular_orders,
    counterbalanced_orders,
    inverse,
    natural,
    seeded_orders,
)
from vqaudit.errors import VariantError

counts = st.integers(min_value=2, max_value=26)
orders = counts.flatmap(lambda n: st.permutations(range(n)).map(tuple))


@given(orders)
def test_a_permutation_followed_by_its_inverse_is_the_identity(order: tuple[int, ...]) -> None:
    shown = apply_order(order, natural(len(order)))
    assert apply_order(inverse(order), shown) == natural(len(order))
    assert inverse(inverse(order)) == order


@given(counts)
def test_circular_orders_put_every_option_at_every_position_once(count: int) -> None:
    rotations = circular_orders(count)
    assert rotations[0] == natural(count)
    assert len(set(rotations)) == count
    for option in range(count):
        assert sorted(order.index(option) for order in rotations) == list(range(count))


def test_rotation_moves_the_first_option_to_the_right_as_mmbench_does() -> None:
    # MMBench: where the answer is A in the original row, it is B in the first rotated copy.
    assert [order.index(0) for order in circular_orders(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize("count", range(2, 9))
def test_counterbalanced_orders_balance_positions_and_neighbours(count: int) -> None:
    square = counterbalanced_orders(count)
    assert len(square) == (count if count % 2 == 0 else 2 * count)
    places = Counter((position, option) for order in square for position, option in enumerate(order))
    assert len(places) == count * count
    assert len(set(places.values())) == 1
    neighbours = Counter((a, b) for order in square for a, b in itertools.pairwise(order))
    assert len(neighbours) == count * (count - 1)
    assert len(set(neighbours.values())) == 1


@given(counts, st.integers(min_value=0, max_value=2**31))
def test_seeded_orders_are_different_permutations_and_repeat(count: int, seed: int) -> None:
    number = 2 if count == 2 else 5
    drawn = seeded_orders(count, number, seed=seed)
    assert len(set(drawn)) == number
    assert all(check_order(order, count) == order for order in drawn)
    assert drawn == seeded_orders(count, number, seed=seed)


def test_more_orders_than_exist_are_refused() -> None:
    with pytest.raises(VariantError, match="there are 6"):
        seeded_orders(3, 7, seed=0)


@pytest.mark.parametrize("order", [(0, 0), (0, 2), (1,), (0, 1, 2)])
def test_what_is_no_order_is_refused(order: tuple[int, ...]) -> None:
    with pytest.raises(VariantError):
        check_order(order, 2)
