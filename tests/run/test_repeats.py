"""Trials that are asked twice: which, how many, and where their second answers stand."""

from collections import Counter
from pathlib import Path

import pytest

import vqaudit as va
from vqaudit.asking.designs import Randomised, Reference
from vqaudit.asking.formats import find_format
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, make_plan
from vqaudit.engines.scripted import ScriptedEngine
from vqaudit.items import demo_items
from vqaudit.records import RunTables, read_trials
from vqaudit.run.repeats import choose_repeats, repeats_wanted

FORMAT = find_format("upper/dot/line_break")


class Unsteady(ScriptedEngine):
    unsteady = True


def plan(items: int = 30, interfaces: tuple[str, ...] = ("direct", "forced-token")):
    arms = [Arm(interface=find_interface(name), design=Randomised(draws=2)) for name in interfaces]
    return make_plan(demo_items(limit=items).items, arms)


def test_interfaces_share_the_number_and_order_is_the_plans() -> None:
    whole = plan()
    chosen = choose_repeats(whole, 21, seed=0)
    assert len(chosen) == 21
    assert sorted(Counter(t.variant.interface.name for t in chosen).values()) == [10, 11]
    places = [whole.trials.index(trial) for trial in chosen]
    assert places == sorted(places)
    assert choose_repeats(whole, 21, seed=0) == chosen != choose_repeats(whole, 21, seed=1)


def test_a_short_interface_leaves_its_share_to_the_others() -> None:
    arms = [
        Arm(interface=find_interface("direct"), design=Randomised(draws=4)),
        Arm(interface=find_interface("forced-token"), design=Reference(format=FORMAT, orders="dataset")),
    ]
    chosen = choose_repeats(make_plan(demo_items(limit=5).items, arms), 18, seed=0)
    assert Counter(t.variant.interface.name for t in chosen) == {"direct": 13, "forced-token": 5}


def test_more_than_there_is_means_all_and_none_means_none() -> None:
    whole = plan(3)
    assert choose_repeats(whole, 10_000, seed=0) == whole.trials
    assert choose_repeats(whole, 0, seed=0) == ()


def test_a_plan_that_grows_keeps_most() -> None:
    before, after = (choose_repeats(plan(items), 20, seed=0) for items in (30, 32))
    assert len({t.id for t in before} & {t.id for t in after}) >= 15


@pytest.mark.parametrize(
    ("engine", "asked", "wanted"),
    [(ScriptedEngine, None, 0), (ScriptedEngine, 7, 7), (Unsteady, None, 100), (Unsteady, 0, 0)],
)
def test_only_engines_that_may_answer_otherwise_are_asked_twice_unasked(engine, asked, wanted) -> None:
    assert repeats_wanted(engine(lambda request: "A"), asked) == wanted


def test_second_answers_stand_apart_and_are_asked_once(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def script(request) -> str:
        asked[request.trial] += 1
        return request.option_ids[asked[request.trial] - 1]

    run = va.audit(Unsteady(script), demo_items(limit=20), out=tmp_path / "run", progress=False, noise_floor=8)
    assert Counter(asked.values()) == {1: 12, 2: 8}
    tables = RunTables.load(tmp_path / "run")
    assert (tables.trials.height, tables.attempts, tables.repeats().height) == (20, 20, 8)
    floor = run.summary(details=False).noise_floor
    assert (floor.trials, floor.changed.value) == (8, 1.0)
    before = dict(asked)
    va.audit(Unsteady(script), demo_items(limit=20), out=tmp_path / "run", progress=False, noise_floor=8)
    assert dict(asked) == before


def test_failed_second_answers_are_asked_again(tmp_path: Path) -> None:
    seen: Counter[str] = Counter()

    def script(request) -> str:
        seen[request.trial] += 1
        if seen[request.trial] == 2:
            raise RuntimeError("gone")
        return "A"

    engine = Unsteady(script)
    run = va.audit(engine, demo_items(limit=10), out=tmp_path / "run", progress=False, noise_floor=4)
    floor = run.summary(details=False).noise_floor
    assert (floor.trials, floor.failed) == (0, 4)
    run = va.audit(engine, demo_items(limit=10), out=tmp_path / "run", progress=False, noise_floor=4)
    floor = run.summary(details=False).noise_floor
    assert (floor.trials, floor.failed, floor.changed.value) == (4, 0, 0.0)
    assert read_trials(tmp_path / "run" / "repeats").height == 8


def test_without_repeats_the_summary_says_how_to_ask_for_them(tmp_path: Path) -> None:
    run = va.audit(ScriptedEngine(lambda r: "A"), demo_items(limit=4), out=tmp_path / "run", progress=False)
    summary = run.summary(details=False)
    assert summary.noise_floor is None
    assert "--noise-floor 100" in summary.reasons["noise_floor"]
    assert not (tmp_path / "run" / "repeats").exists()
