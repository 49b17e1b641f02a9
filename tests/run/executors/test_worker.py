"""What runs in a worker process, without the process."""

import json
import os
from pathlib import Path

import pytest

from vqaudit.asking.designs import Grid
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, Plan, make_plan
from vqaudit.engines.base import IDScores
from vqaudit.engines.scripted import ScriptedEngine
from vqaudit.errors import EngineError, UnsupportedEvent
from vqaudit.items.item import Item
from vqaudit.records import own_run, read_trials
from vqaudit.run import AskSpec
from vqaudit.run.executors.front import front_engine
from vqaudit.run.executors.slots import Slot, left_behind
from vqaudit.run.executors.worker import Answered, Hello, Job, Trouble, Worker, hand_file
from vqaudit.run.groups import Waiting, cut_groups
from vqaudit.run.repeats import repeats_wanted

SPEC = AskSpec()


@pytest.fixture
def plan() -> Plan:
    items = [Item(id="i", question="Which?", options=("a", "b"), answer=0)]
    return make_plan(items, [Arm(interface=find_interface("direct"), design=Grid())])


@pytest.fixture
def run(tmp_path: Path):
    with own_run(tmp_path / "run"):
        yield tmp_path / "run"


def waiting(plan: Plan) -> Waiting:
    (group,) = cut_groups(plan, {trial.id for trial in plan.trials}, SPEC)
    return group


def worker(run: Path, make, session: int = 0) -> Worker:
    return Worker(Job(name="s0w0r0", out=str(run), folder=os.getcwd(), session=session), make)


def first(request) -> str:
    return request.option_ids[0]


def test_it_says_who_it_is_and_writes_what_it_asks_under_its_name(plan: Plan, run: Path) -> None:
    mine = worker(run, lambda: ScriptedEngine(first, batch=7))
    hello = mine.load()
    assert isinstance(hello, Hello)
    assert (hello.engine, hello.pid) == ("scripted", os.getpid())
    done = mine.ask(waiting(plan).group(plan, {}, attempts_from=3), SPEC, str(run))
    assert done == Answered(asked=len(plan), failed=0)
    found = read_trials(run)
    assert found.height == len(plan)
    assert set(found["worker"]) == {"s0w0r0"}
    assert set(found["attempt"]) == {3}
    assert not hand_file(run, "s0w0r0").exists()


def test_second_answers_go_where_it_is_told_and_its_counts_are_of_its_whole_life(plan: Plan, run: Path) -> None:
    mine = worker(run, lambda: ScriptedEngine(first))
    mine.load()
    group = waiting(plan).group(plan, {}, attempts_from=0)
    for place, folder in enumerate((run, run / "repeats", run / "repeats", run), start=1):
        done = mine.ask(group, SPEC, str(folder))
        assert done == mine.sign() == Answered(asked=place * len(plan), failed=0)
    assert read_trials(run).height == read_trials(run / "repeats").height == 2 * len(plan)
    names = [sorted(path.name for path in (folder / "trials").iterdir()) for folder in (run, run / "repeats")]
    assert names == [["s0w0r0-000000.parquet", "s0w0r0-000001.parquet"]] * 2


class Unsteady(ScriptedEngine):
    unsteady = True


@pytest.mark.parametrize(("kind", "wanted"), [(ScriptedEngine, 0), (Unsteady, 100)])
def test_an_engine_elsewhere_that_may_answer_otherwise_is_asked_twice_unasked(run: Path, kind, wanted: int) -> None:
    hello = worker(run, lambda: kind(first)).load()
    assert isinstance(hello, Hello)
    assert repeats_wanted(front_engine(hello, lambda *call: None), None) == wanted


def test_errors_travel_as_words(plan: Plan, run: Path, monkeypatch) -> None:
    def make():
        raise EngineError("no such model")

    assert worker(run, make).load() == Trouble(kind="EngineError", message="no such model")
    monkeypatch.setattr("vqaudit.run.executors.worker._SEEN_WITHIN", 0.0)
    other = worker(run, lambda: ScriptedEngine(first), session=9).load()
    assert isinstance(other, Trouble)
    assert "does not see the run directory" in other.message

    def broken(request):
        raise AssertionError

    mine = worker(run, lambda: Broken(broken))
    mine.load()
    done = mine.ask(waiting(plan).group(plan, {}, attempts_from=0), SPEC, str(run))
    assert done.trouble == Trouble(kind="EngineError", message="the device is lost")


class Broken(ScriptedEngine):
    def answer(self, batch):
        raise EngineError("the device is lost")


def test_what_is_left_behind_is_what_is_not_on_the_disk(plan: Plan, run: Path) -> None:
    class Dying(ScriptedEngine):
        calls = 0

        def answer(self, batch):
            self.calls += 1
            if self.calls == 4:
                raise SystemExit  # as near to a death as one process can have
            return super().answer(batch)

    group = waiting(plan)
    for round in range(1, 4):
        name = f"s0w0r{round}"
        mine = Worker(Job(name=name, out=str(run), folder=os.getcwd(), session=0), lambda: Dying(first, batch=10))
        mine.load()
        with pytest.raises(SystemExit):
            mine.ask(group.group(plan, {}, attempts_from=0), SPEC, str(run))
        left = left_behind(run, name, group)
        assert len(group.pending) - len(left.pending) == 30
        assert left.tries == round
        assert not hand_file(run, name).exists()
        # Only from the second try on are batches noted before they are asked.
        assert len(left.suspects) == (0 if round == 1 else min(10, len(left.pending)))
        group = left
    assert group.strikes == 1
    assert read_trials(run)["trial"].is_unique().all()


def test_a_careful_worker_notes_what_it_has_in_hand(plan: Plan, run: Path) -> None:
    noted: list[list[str]] = []

    class Watched(ScriptedEngine):
        def answer(self, batch):
            noted.append(json.loads(hand_file(run, "s0w0r0").read_text(encoding="utf-8")))
            assert noted[-1] == [request.trial for request in batch]
            return super().answer(batch)

    mine = worker(run, lambda: Watched(first, batch=20))
    mine.load()
    again = waiting(plan).again(waiting(plan).pending, frozenset())
    mine.ask(again.group(plan, {}, attempts_from=0), SPEC, str(run))
    assert [len(batch) for batch in noted] == [20] * (len(plan) // 20) + [len(plan) % 20] * bool(len(plan) % 20)


def test_told_to_stop_it_finishes_its_batch(plan: Plan, run: Path) -> None:
    mine = worker(run, lambda: Stopping(first, batch=10))
    Stopping.stop = mine.stop
    mine.load()
    done = mine.ask(waiting(plan).group(plan, {}, attempts_from=0), SPEC, str(run))
    assert done.stopped
    assert read_trials(run).height == done.asked == 10


class Stopping(ScriptedEngine):
    stop = staticmethod(lambda: None)

    def answer(self, batch):
        type(self).stop()
        return super().answer(batch)


def test_an_engine_elsewhere_is_described_and_asked_from_here(run: Path) -> None:
    mine = worker(run, lambda: ScriptedEngine(first))
    hello = mine.load()
    assert isinstance(hello, Hello)

    def call(method, *arguments):
        found = mine.engine_call(method, *arguments)
        if isinstance(found, Trouble):
            raise UnsupportedEvent(found.message)
        return found

    engine = front_engine(hello, call)
    assert (engine.name, engine.batch_sensitive) == ("scripted", False)
    assert engine.describe() == {"kind": "scripted", "name": "scripted"}
    assert engine.describe_ids(("A", "B")) == {}
    with pytest.raises(UnsupportedEvent, match="no probabilities"):
        engine.check([IDScores()])
    assert not hasattr(engine, "readout")


def test_a_slot_counts_what_is_new_and_names_every_life() -> None:
    slot = Slot(number=2, session=7)
    slot.settle(object())
    assert (slot.name, slot.free) == ("s7w2r0", False)
    slot.hello = Hello(
        host="h",
        pid=5,
        engine="e",
        batch_sensitive=False,
        keeps_states=False,
        unsteady=False,
        description={"identity": None},
    )
    assert slot.free
    assert slot.hear(Answered(asked=10, failed=1)) == (10, 1)
    assert slot.hear(Answered(asked=15, failed=1)) == (5, 0)
    state = slot.state()
    assert (state.name, state.state, state.trials, state.host, state.pid) == ("s7w2r0", "idle", 15, "h", 5)
    slot.lives += 1
    slot.settle(object())
    assert (slot.name, slot.counted, slot.state().state) == ("s7w2r1", (0, 0), "starting")
