"""Designs that interfaces are compared under: seeded permutations of contents, and whose A it is."""

from collections import Counter
from itertools import product
from math import factorial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.asking.collisions import CONSONANTS, collision_formats
from vqaudit.asking.designs import Permuted, WhoseA, draws
from vqaudit.asking.formats import find_format
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, make_plan
from vqaudit.errors import PlanError
from vqaudit.items.item import Item

REFERENCE = find_format("upper/dot/line_break")


def test_five_permutations_of_every_item_that_are_uniform_over_all() -> None:
    cells = list(draws(Permuted(formats=(REFERENCE,)), [3] * 1200, [True] * 1200))
    assert len(cells) == 5 * 1200
    assert {cell.draw for cell in cells} == set(range(5))
    counts = Counter(cell.order for cell in cells)
    assert len(counts) == factorial(3)
    expected = len(cells) / factorial(3)
    chi2 = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi2 < 20.5  # 99.9 % quantile of chi-squared with 5 degrees of freedom


@settings(max_examples=30)
@given(st.lists(st.integers(2, 6), min_size=2, max_size=30), st.integers(0, 99))
def test_appending_items_or_permutations_changes_none(counts: list[int], seed: int) -> None:
    few, more = (Permuted(formats=(REFERENCE,), draws=number, seed=seed) for number in (2, 4))
    whole = list(draws(more, counts, [True] * len(counts)))
    assert [cell for cell in whole if cell.draw < 2] == list(draws(few, counts, [True] * len(counts)))
    half = len(counts) // 2
    assert list(draws(more, counts[:half], [True] * half)) == whole[: 4 * half]
    assert all(sorted(cell.order) == list(range(counts[cell.item])) for cell in whole)


def test_two_seeds_that_draw_the_same_order_share_a_trial_and_have_two_reasons() -> None:
    items = [Item(id=f"q{n}", question="?", options=("a", "b"), answer=0) for n in range(4)]
    arm = Arm(interface=find_interface("bare-scores"), design=Permuted(formats=(REFERENCE,)))
    plan = make_plan(items, [arm])
    assert len(plan.reasons) == 20
    assert len(plan) <= 8


def test_items_that_must_not_be_permuted_keep_their_order() -> None:
    designs = (Permuted(formats=(REFERENCE,)), WhoseA(formats=(REFERENCE,)))
    for design in designs:
        cells = list(draws(design, [4] * 3, [False] * 3))
        assert {cell.order for cell in cells} == {(0, 1, 2, 3)}
        assert {cell.id_order for cell in cells} <= {None, (0, 1, 2, 3)}


def test_less_than_one_permutation_is_refused() -> None:
    with pytest.raises(PlanError, match="at least 1"):
        Permuted(formats=(REFERENCE,), draws=0)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_position_symbol_and_content_are_orthogonal(count: int) -> None:
    cells = list(draws(WhoseA(formats=(REFERENCE,)), [count], [True]))
    assert len(cells) == count**2
    triples = [(place, cell.id_order[place], cell.order[place]) for cell in cells for place in range(count)]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        pairs = Counter((triple[one], triple[other]) for triple in triples)
        assert pairs == dict.fromkeys(product(range(count), repeat=2), count)


def test_words_and_no_words_in_the_same_delimiters() -> None:
    formats = collision_formats(find_format("lower/bracket/comma"))
    assert {(f.delimiter.name, f.separator.name) for f in formats} == {("bracket", "comma")}
    first = {f.id_set.name: f.id_set.ids[0] for f in formats}
    assert first == {"upper": "A", "roman": "I", "lower": "a", "number": "1", "consonants": "B"}
    assert not set("AEIOUY") & set(CONSONANTS.ids)
