"""The union of designs: nothing twice, items together, names that say nothing."""

import pytest

from vqaudit.asking.designs import Grid, Randomised, Reference
from vqaudit.asking.formats import Format, IDSet, find_format
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, make_plan
from vqaudit.errors import PlanError, VariantError
from vqaudit.items.item import ImageSource, Item

REFERENCE = find_format("upper/dot/line_break")
DIRECT = find_interface("direct")


def items(number: int, n_options: int = 4, images: int = 0) -> list[Item]:
    return [
        Item(
            id=f"i{k}",
            question=f"Question {k}?",
            options=tuple(f"option {j}" for j in range(n_options)),
            answer=k % n_options,
            images=tuple(ImageSource(data=f"{k}-{j}".encode()) for j in range(images)),
        )
        for k in range(number)
    ]


def test_designs_unite_and_duplicates_merge() -> None:
    arms = [Arm(interface=DIRECT, design=Grid()), Arm(interface=DIRECT, design=Randomised(draws=2))]
    plan = make_plan(items(10), arms)
    assert len(plan) == 10 * 192
    assert len({trial.id for trial in plan.trials}) == len(plan)
    drawn = [reason for reason in plan.reasons if reason.design == "randomised"]
    assert {(reason.item, reason.draw) for reason in drawn} == {(f"i{k}", d) for k in range(10) for d in (0, 1)}
    assert {reason.trial for reason in plan.reasons} == {trial.id for trial in plan.trials}


def test_trials_of_an_item_stand_together() -> None:
    arms = [
        Arm(interface=DIRECT, design=Randomised(draws=3)),
        Arm(interface=find_interface("free-cot"), design=Reference(format=REFERENCE)),
    ]
    order = [trial.item for trial in make_plan(items(7), arms).trials]
    assert order == sorted(order)


def test_cloze_is_asked_once_per_item() -> None:
    plan = make_plan(items(6), [Arm(interface=find_interface("cloze"), design=Grid())])
    assert len(plan) == 6
    assert all(trial.variant.format is None for trial in plan.trials)


def test_names_of_trials_do_not_change_with_the_plan_and_say_nothing_of_the_answer() -> None:
    arms = [Arm(interface=DIRECT, design=Reference(format=REFERENCE))]
    small, large = make_plan(items(2), arms), make_plan(items(5), arms)
    assert {t.id for t in small.trials} < {t.id for t in large.trials}
    moved = [Item(id=i.id, question=i.question, options=i.options, answer=(i.answer + 1) % 4) for i in items(2)]
    assert [t.id for t in make_plan(moved, arms).trials] == [t.id for t in small.trials]


def test_windows_hold_whole_items_and_all_trials_once() -> None:
    plan = make_plan(items(40, images=2), [Arm(interface=DIRECT, design=Reference(format=REFERENCE))])
    windows = list(plan.windows(trials=50, images=16))
    assert [trial for window in windows for trial in window] == list(plan.trials)
    for window in windows:
        assert len(window) <= 50
        assert len({trial.item for trial in window}) <= 8
    owners = [{trial.item for trial in window} for window in windows]
    assert all(a.isdisjoint(b) for a in owners for b in owners if a is not b)


def test_an_item_larger_than_a_window_has_one_of_its_own() -> None:
    plan = make_plan(items(3), [Arm(interface=DIRECT, design=Grid())])
    assert [len(window) for window in plan.windows(trials=100)] == [192, 192, 192]


def test_nothing_to_ask_is_an_error() -> None:
    with pytest.raises(PlanError, match="no items"):
        make_plan([], [Arm(interface=DIRECT, design=Grid())])
    with pytest.raises(PlanError, match="no interface"):
        make_plan(items(1), [])


def test_a_set_of_ids_that_is_too_short_is_refused_before_anything_is_asked() -> None:
    short = Format(
        id_set=IDSet(name="xy", ids=("x", "y"), kind="letter"),
        delimiter=REFERENCE.delimiter,
        separator=REFERENCE.separator,
    )
    with pytest.raises(VariantError, match="has 2 IDs"):
        make_plan(items(1), [Arm(interface=DIRECT, design=Reference(format=short))])
