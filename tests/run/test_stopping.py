"""SIGTERM ends a run at once, or when the batch in hand is finished."""

import os
import signal
from pathlib import Path

import pytest

from vqaudit.asking.designs import Grid
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, make_plan
from vqaudit.engines.scripted import ScriptedEngine
from vqaudit.items.item import Item
from vqaudit.records import own_run, read_trials
from vqaudit.run import AskSpec
from vqaudit.run.driver import ask_plan
from vqaudit.run.executors import Here
from vqaudit.run.stopping import Stop, Terminated


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_it_ends_at_once_where_nothing_is_in_hand() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), Stop().listening():
        terminate()
    assert signal.getsignal(signal.SIGTERM) == before


def test_the_first_waits_for_an_occasion_and_the_second_does_not() -> None:
    stop = Stop()
    with stop.listening(), stop.patient():
        terminate()
        assert stop.asked
        with pytest.raises(Terminated):
            stop.check()
        with pytest.raises(Terminated):
            terminate()


def test_a_run_finishes_the_batch_in_hand_and_writes_it(tmp_path: Path) -> None:
    items = [Item(id="i", question="Which?", options=("a", "b"), answer=0)]
    plan = make_plan(items, [Arm(interface=find_interface("direct"), design=Grid())])
    asked: list[str] = []

    def script(request) -> str:
        asked.append(request.trial)
        if len(asked) == 13:
            terminate()
        return "A"

    stop = Stop()
    with stop.listening(), pytest.raises(Terminated), own_run(tmp_path) as owner:
        ask_plan(plan, Here(ScriptedEngine(script, batch=10)), owner=owner, spec=AskSpec(), stop=stop)
    assert len(asked) == 20
    assert read_trials(tmp_path).height == 20
