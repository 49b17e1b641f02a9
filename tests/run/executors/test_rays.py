"""Workers on Ray write what one process writes, whatever happens to them."""

import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import vqaudit as va
from vqaudit.auditing import Execution
from vqaudit.engines.base import Outcome, Request
from vqaudit.engines.scripted import ScriptedEngine
from vqaudit.errors import EngineError, EngineUnavailable, RunConflict, UnsupportedEvent
from vqaudit.records import PartWriter, RunTables, own_run, read_session, read_trials, records_digest, visible
from vqaudit.run.executors import ExecutorSpec, open_executor
from vqaudit.run.stopping import Stop, Terminated

ray = pytest.importorskip("ray", reason="the extra scale is not installed")
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])

ITEMS = 16  # 3,072 trials in four groups
DATA = runpy.run_path(str(Path(__file__).parents[2] / "faults" / "simulated.py"))["dataset"](ITEMS)
REPEATS = 1_200
TWO = ExecutorSpec(kind="ray", workers=2, hang_seconds=60.0)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 * 2**20)
    yield
    ray.shutdown()


def reply(request: Request) -> str:
    return request.option_ids[int(request.trial[:2], 16) % len(request.option_ids)]


class Accident(ScriptedEngine):
    """Something happens in its process when a trial comes up: once, or every time where `flag` is None."""

    def __init__(self, what: str, trial: str, flag: Path | None) -> None:
        super().__init__(reply, batch=64)
        self.what, self.trial, self.flag = what, trial, flag

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        if self.trial in {request.trial for request in batch} and self._first():
            if self.what == "death":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.what == "broken":
                raise EngineError("the device is lost")
            time.sleep(600)
        return super().answer(batch)

    def _first(self) -> bool:
        if self.flag is None:
            return True
        try:
            self.flag.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def audit(engine, out: Path, *, executor: ExecutorSpec = TWO, stop: Stop | None = None, **settings) -> RunTables:
    execution = Execution(executor=executor, stop=stop or Stop())
    settings = {"design": "grid"} | settings
    return va.audit(engine, DATA, out=out, progress=False, execution=execution, **settings).tables()


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> RunTables:
    """The same run in one process, some of its trials asked twice."""
    out = tmp_path_factory.mktemp("whole")
    return audit(ScriptedEngine(reply, batch=64), out, executor=ExecutorSpec(), noise_floor=REPEATS)


def in_the_middle(whole: RunTables) -> str:
    return whole.plan["trial"][whole.plan.height // 2 + 7]


def test_workers_write_what_one_process_writes(whole: RunTables, tmp_path: Path) -> None:
    found = audit(lambda: ScriptedEngine(reply, batch=64), tmp_path, noise_floor=REPEATS)
    assert records_digest(found.trials) == records_digest(whole.trials)
    assert found.attempts == whole.trials.height == 192 * ITEMS
    assert set(found.trials["worker"]) == {"s0w0r0", "s0w1r0"}
    assert found.repeats().height == whole.repeats().height == REPEATS
    assert records_digest(found.repeats()) == records_digest(whole.repeats())
    assert set(found.repeats()["worker"]) == {"s0w0r0", "s0w1r0"}
    second = read_session(tmp_path / "repeats")
    assert second is not None
    assert (second.executor, second.asked, second.failed) == ("ray", REPEATS, 0)
    session = read_session(tmp_path)
    assert session is not None
    assert (session.executor, session.asked, session.deaths) == ("ray", 192 * ITEMS, 0)
    assert session.ended is not None
    assert session.pid not in {worker.pid for worker in session.workers}
    again = audit(lambda: ScriptedEngine(reply, batch=64), tmp_path, noise_floor=REPEATS)
    assert again.attempts == found.attempts
    assert again.repeats().height == REPEATS


SLOW = pytest.mark.slow


@pytest.mark.parametrize("what", ["death", pytest.param("hang", marks=SLOW), pytest.param("broken", marks=SLOW)])
def test_a_lost_worker_is_replaced_and_its_group_asked_again(whole: RunTables, tmp_path: Path, what: str) -> None:
    engine = Accident(what, in_the_middle(whole), tmp_path / "flag")
    patience = TWO.model_copy(update={"hang_seconds": 8.0}) if what == "hang" else TWO
    found = audit(engine, tmp_path / "run", executor=patience)
    assert (tmp_path / "flag").exists()
    assert records_digest(found.trials) == records_digest(whole.trials)
    session = read_session(tmp_path / "run")
    assert session is not None
    assert session.deaths == 1
    assert session.asked == whole.trials.height
    assert sorted(worker.replaced for worker in session.workers) == [0, 1]
    assert found.trials["attempt"].max() == 1


@pytest.mark.slow
def test_what_a_dead_worker_still_writes_changes_nothing(whole: RunTables, tmp_path: Path) -> None:
    trial = in_the_middle(whole)
    audit(Accident("death", trial, tmp_path / "flag"), tmp_path / "run")
    mended = visible(read_trials(tmp_path / "run")).filter(pl.col("trial") == trial).row(0, named=True)
    assert mended["attempt"] == 1
    dead = {"s0w0r0", "s0w1r0"} - {mended["worker"]}
    for worker in sorted(dead):
        late = mended | {"attempt": 0, "worker": worker, "reply": "late", "outcome": "chosen"}
        PartWriter(tmp_path / "run", worker=worker).write([late])
    assert records_digest(read_trials(tmp_path / "run")) == records_digest(whole.trials)


class SecondTime(Accident):
    """The process dies when the trial comes up again after it was answered."""

    def _first(self) -> bool:
        assert self.flag is not None
        before = self.flag.with_name("answered")
        if before.exists():
            return super()._first()
        before.touch()
        return False


@pytest.mark.slow
def test_a_worker_lost_over_second_answers_is_replaced(whole: RunTables, tmp_path: Path) -> None:
    trial = whole.repeats()["trial"][7]
    engine = SecondTime("death", trial, tmp_path / "flag")
    found = audit(engine, tmp_path / "run", noise_floor=REPEATS)
    assert records_digest(found.trials) == records_digest(whole.trials)
    assert records_digest(found.repeats()) == records_digest(whole.repeats())
    second = read_session(tmp_path / "run" / "repeats")
    assert second is not None
    assert (second.deaths, second.asked) == (1, REPEATS)
    assert second.next_attempts_from == 2


@pytest.mark.slow
def test_the_next_session_numbers_its_attempts_above_whatever_was_given(whole: RunTables, tmp_path: Path) -> None:
    audit(Accident("death", in_the_middle(whole), tmp_path / "flag"), tmp_path / "run")
    with own_run(tmp_path / "run") as owner:
        assert owner.state.attempts_from == 2


@pytest.mark.slow
def test_trials_that_kill_every_worker_fail_and_the_others_are_answered(whole: RunTables, tmp_path: Path) -> None:
    trial = in_the_middle(whole)
    found = audit(Accident("death", trial, None), tmp_path / "run")
    failed = found.trials.filter(pl.col("outcome") == "failed")
    assert trial in set(failed["trial"])
    assert failed.height == 64
    assert failed["error"].unique().to_list() == ["3 workers in a row were lost while this trial was in hand"]
    assert found.trials.height == whole.trials.height
    mended = audit(lambda: ScriptedEngine(reply, batch=64), tmp_path / "run")
    assert records_digest(mended.trials) == records_digest(whole.trials)


@pytest.mark.slow
def test_a_broken_engine_ends_the_run_with_its_own_words(whole: RunTables, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="the device is lost"):
        audit(Accident("broken", in_the_middle(whole), None), tmp_path / "run")
    assert read_trials(tmp_path / "run").height > 0
    assert va.open_run(tmp_path / "run").tables().manifest.status == "failed"


@pytest.mark.slow
def test_an_engine_that_nobody_can_make_ends_the_run_before_anything_is_written(tmp_path: Path) -> None:
    def make():
        raise EngineError("there is no model 'nothing'")

    with pytest.raises(EngineError, match="3 workers in a row could not start: there is no model 'nothing'"):
        audit(make, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_what_an_engine_cannot_score_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedEvent, match="scripted engine has no probabilities"):
        audit(lambda: ScriptedEngine(reply), tmp_path / "run", interface="cot-prefix")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_told_to_stop_workers_finish_and_write_the_batch_in_hand(whole: RunTables, tmp_path: Path) -> None:
    class Slow(ScriptedEngine):
        def answer(self, batch):
            time.sleep(0.3)
            return super().answer(batch)

    stop = Stop()

    def when_it_works() -> None:
        while not list((tmp_path / "run" / "trials").glob("s0*.parquet")):
            time.sleep(0.05)
        stop.ask()

    waiter = threading.Thread(target=when_it_works)
    waiter.start()
    with pytest.raises(Terminated):
        audit(lambda: Slow(reply, batch=64), tmp_path / "run", stop=stop)
    waiter.join()
    found = read_trials(tmp_path / "run")
    assert 0 < found.height < whole.trials.height
    assert found.height % 64 == 0
    assert va.open_run(tmp_path / "run").tables().manifest.status == "interrupted"
    audit(lambda: ScriptedEngine(reply, batch=64), tmp_path / "run")
    assert records_digest(read_trials(tmp_path / "run")) == records_digest(whole.trials)


def test_more_gpus_than_there_are_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="--gpus-per-worker 7 cannot be met: the cluster has 0 GPUs"):
        audit(lambda: ScriptedEngine(reply), tmp_path, executor=ExecutorSpec(kind="ray", gpus_per_worker=7))


def test_a_second_driver_is_refused_while_workers_write(tmp_path: Path) -> None:
    with own_run(tmp_path / "run"), pytest.raises(RunConflict, match="being written"):
        audit(lambda: ScriptedEngine(reply), tmp_path / "run")


def test_without_ray_the_pip_line_is_said(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "vqaudit.run.executors.rays", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with own_run(tmp_path) as owner, pytest.raises(EngineUnavailable, match=r"pip install 'vqaudit\[scale\]'"):
        open_executor(TWO, ScriptedEngine(reply), owner=owner)
