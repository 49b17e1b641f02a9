"""Which variants of which items are asked, and what must not move when a design grows."""

from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.asking.designs import Grid, Randomised, Reference, ScrambledIDs, draws
from vqaudit.asking.formats import FORMATS, find_format
from vqaudit.asking.orders import circular_orders, scrambled_id_orders
from vqaudit.errors import PlanError

counts = st.lists(st.integers(min_value=2, max_value=5), min_size=1, max_size=120)
REFERENCE = find_format("upper/dot/line_break")


def test_grid_asks_every_format_in_every_order() -> None:
    cells = list(draws(Grid(), [4, 2], [True, True]))
    assert len(cells) == len(set(cells)) == 48 * 4 + 48 * 2


def test_papers_grid_sizes() -> None:
    # Paper 1, Table 5: V*Bench has 192 questions of 2 to 4 options and 596 circular ones a format.
    n_options = [4] * 106 + [2] * 86
    cells = list(draws(Reference(format=REFERENCE), n_options, [True] * 192))
    assert len(cells) == 596


def test_items_that_must_not_be_permuted_keep_the_order_of_the_dataset() -> None:
    for design in (Grid(), Randomised(draws=3)):
        cells = list(draws(design, [4] * 5, [False] * 5))
        assert {cell.order for cell in cells} == {(0, 1, 2, 3)}


def test_orders_of_the_dataset_alone() -> None:
    cells = list(draws(Reference(format=REFERENCE, orders="dataset"), [4, 3], [True, True]))
    assert [cell.order for cell in cells] == [(0, 1, 2, 3), (0, 1, 2)]


@settings(max_examples=40)
@given(counts, st.integers(min_value=0, max_value=1000))
def test_appending_items_changes_no_earlier_draw(n_options: list[int], seed: int) -> None:
    design = Randomised(draws=2, seed=seed)
    whole = list(draws(design, n_options, [True] * len(n_options)))
    half = len(n_options) // 2
    assert list(draws(design, n_options[:half], [True] * half)) == whole[: 2 * half]


@settings(max_examples=40)
@given(counts, st.integers(min_value=0, max_value=1000), st.integers(min_value=1, max_value=4))
def test_going_from_k_to_k_plus_one_changes_no_earlier_draw(n_options: list[int], seed: int, k: int) -> None:
    free = [True] * len(n_options)
    more = [cell for cell in draws(Randomised(draws=k + 1, seed=seed), n_options, free) if cell.draw < k]
    assert more == list(draws(Randomised(draws=k, seed=seed), n_options, free))


def test_each_block_of_48_items_gets_every_format_once() -> None:
    cells = list(draws(Randomised(seed=3), [4] * 96, [True] * 96))
    for block in (cells[:48], cells[48:]):
        assert Counter(cell.format.name for cell in block) == Counter(f.name for f in FORMATS)
    for start in range(0, 96, 4):
        assert {cell.order for cell in cells[start : start + 4]} == set(circular_orders(4))


def test_a_draw_is_uniform_over_the_grid() -> None:
    seen: dict[int, Counter] = defaultdict(Counter)
    for seed in range(400):
        for cell in draws(Randomised(seed=seed), [4] * 3, [True] * 3):
            seen[cell.item][cell.format.name, cell.order] += 1
    for counter in seen.values():
        # 400 draws over 192 cells: a cell drawn 14 times or more has probability below 1e-6.
        assert max(counter.values()) < 14
        assert len(counter) > 140
        per_format = Counter(name for (name, _), count in counter.items() for _ in range(count))
        assert len(per_format) == 48


def test_seeds_differ() -> None:
    one, two = (list(draws(Randomised(seed=seed), [4] * 48, [True] * 48)) for seed in (0, 1))
    assert one != two


def test_no_draws_are_refused() -> None:
    with pytest.raises(PlanError, match="at least 1"):
        Randomised(draws=0)


def test_scrambled_ids_ask_every_rotation_once_in_each_kind_of_order() -> None:
    cells = list(draws(ScrambledIDs(formats=(REFERENCE,)), [4] * 14, [True] * 14))
    natural_cells = [cell for cell in cells if cell.id_order is None]
    scrambled = [cell for cell in cells if cell.id_order is not None]
    rotations = [(item, order) for item in range(14) for order in circular_orders(4)]
    assert [(cell.item, cell.order) for cell in natural_cells] == rotations
    assert [(cell.item, cell.order) for cell in scrambled] == rotations
    assert (0, 1, 2, 3) not in {cell.id_order for cell in scrambled}
    # over the set each (position, ID) pair occurs, natural orders included, at least twice, and other pairs alike
    pairs = Counter(pair for cell in scrambled for pair in enumerate(cell.id_order or ()))
    assert len(pairs) == 16
    assert {pairs[place, own] for place in range(4) for own in range(4) if place != own} == {16}


@pytest.mark.parametrize("count", [3, 4, 5, 6])
def test_each_position_and_id_meet_twice_over_the_natural_and_the_scrambled_orders(count: int) -> None:
    orders = [tuple(range(count)), *scrambled_id_orders(count)]
    assert len(set(orders)) == len(orders)
    pairs = Counter(pair for order in orders for pair in enumerate(order))
    assert len(set(pairs.values())) == 1
    assert min(pairs.values()) >= 2


def test_items_that_must_not_be_permuted_keep_their_ids() -> None:
    cells = list(draws(ScrambledIDs(formats=(REFERENCE,)), [4, 4], [False, True]))
    assert [cell for cell in cells if cell.item == 0] == [cells[0]]
    assert cells[0].id_order is None
    assert len(cells) == 1 + 8


@settings(max_examples=20)
@given(counts)
def test_appending_items_changes_no_earlier_scramble(n_options: list[int]) -> None:
    design, free = ScrambledIDs(formats=(REFERENCE,)), [True] * len(n_options)
    whole = list(draws(design, n_options, free))
    half = list(draws(design, n_options[:-1], free[:-1]))
    assert half == whole[: len(half)]
