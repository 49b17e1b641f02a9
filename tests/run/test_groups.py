"""Groups are the plan's own windows, and what is left of one is asked under a higher number."""

from hypothesis import given
from hypothesis import strategies as st

from vqaudit.asking.designs import Grid, Reference
from vqaudit.asking.formats import find_format
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, Plan, make_plan
from vqaudit.asking.prompts import render
from vqaudit.items.item import Item
from vqaudit.run import AskSpec
from vqaudit.run.groups import Waiting, cut_groups
from vqaudit.run.requests import make_request

SPEC = AskSpec(max_tokens=100)


def plan(number: int = 12, interface: str = "direct", design=None) -> Plan:
    items = [
        Item(id=f"i{k}", question=f"Question {k}?", options=("a", "b", "c", "d")[: 2 + k % 3], answer=0)
        for k in range(number)
    ]
    return make_plan(items, [Arm(interface=find_interface(interface), design=design or Grid())])


def test_groups_are_windows_with_something_to_ask() -> None:
    whole = plan()
    every = {trial.id for trial in whole.trials}
    groups = list(cut_groups(whole, every, SPEC))
    assert [group.trials for group in groups] == list(whole.windows())
    last = groups[-1].trials[-1].id
    (left,) = cut_groups(whole, {last}, SPEC)
    assert left.trials == groups[-1].trials
    assert left.pending == {last}


def test_what_writes_more_weighs_more() -> None:
    design = Reference(format=find_format("upper/dot/line_break"))
    weights = {}
    for name in ("direct", "free-cot", "cloze"):
        whole = plan(3, name, design)
        (group,) = cut_groups(whole, {trial.id for trial in whole.trials}, SPEC)
        weights[name] = group.weight / len(whole)
    assert weights["free-cot"] > weights["cloze"] > weights["direct"]


def test_a_part_of_a_plan_is_asked_word_for_word_alike() -> None:
    whole = plan(7)
    for window in whole.windows(trials=200):
        part = whole.part(window)
        for trial, alone in zip(window, part.trials, strict=True):
            assert trial.id == alone.id
            item, own = whole.items[trial.item], part.items[alone.item]
            asked = make_request(whole, trial, render(item, trial.variant), (), SPEC)
            assert asked == make_request(part, alone, render(own, alone.variant), (), SPEC)


@given(st.integers(0, 5), st.integers(0, 5), st.dictionaries(st.sampled_from("ab"), st.integers(0, 9)))
def test_every_try_has_a_higher_number_than_whatever_came_before(tries, attempts_from, attempts) -> None:
    whole = plan(1)
    names = [trial.id for trial in whole.trials[:3]]
    known = {names["ab".index(key)]: number for key, number in attempts.items()}
    waiting = Waiting(number=0, trials=whole.trials[:3], pending=frozenset(names), weight=1)
    given_before: dict[str, int] = dict(known)
    for _ in range(tries + 1):
        group = waiting.group(whole, known, attempts_from=attempts_from)
        for name in names:
            number = group.attempts.get(name, group.attempts_from)
            assert number >= attempts_from
            assert number > given_before.get(name, -1)
            given_before[name] = number
        waiting = waiting.again(waiting.pending, frozenset())


def test_only_the_same_trials_in_hand_again_and_again_are_suspected() -> None:
    whole = plan(1)
    names = frozenset(trial.id for trial in whole.trials[:4])
    one, two = frozenset(sorted(names)[:2]), frozenset(sorted(names)[2:])
    waiting = Waiting(number=0, trials=whole.trials[:4], pending=names, weight=1)
    strikes = []
    for hand in (frozenset(), one, one, two, one, one, one):
        waiting = waiting.again(names, hand)
        strikes.append(waiting.strikes)
    assert strikes == [0, 1, 2, 1, 1, 2, 3]
    assert waiting.tries == 7
    assert waiting.group(whole, {}, attempts_from=0).careful
