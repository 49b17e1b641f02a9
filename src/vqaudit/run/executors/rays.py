"""Workers on Ray: the only owner of ray.

Knows actors, resources and how they are lost. Ray places the actors; here the next group, longest first, goes to
whoever is free, one at a time, so that nothing piles up. An actor that dies or says nothing is replaced, and what it
left behind is asked again under a higher attempt, so that whatever it may still write stays invisible.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import ray
from ray import exceptions as gone

from vqaudit.engines.base import Engine
from vqaudit.errors import (
    EngineError,
    EngineReplyError,
    PlanError,
    RecordError,
    RunConflict,
    SchemaMismatch,
    UnsupportedEvent,
)
from vqaudit.records import Owner, WorkerState
from vqaudit.run.executors.base import Desk
from vqaudit.run.executors.front import front_engine
from vqaudit.run.executors.giving_up import give_up
from vqaudit.run.executors.noise import keep_out
from vqaudit.run.executors.slots import Slot, left_behind
from vqaudit.run.executors.spec import ExecutorSpec
from vqaudit.run.executors.worker import Answered, Hello, Job, Trouble, Worker
from vqaudit.run.groups import Waiting

__all__ = ["RayExecutor", "open_ray"]

_STORE_BYTES = 128 * 2**20
"""Groups are small and pictures are read by the workers, so the object store may be small."""
_JOINS = 3
"""Ray gives its own node half a minute, which a busy machine may not be able to keep."""
_LOOK_SECONDS = 1.0
"""Workers are asked for a sign of life so often."""
_STARTS = 3
"""So many workers in a row that cannot make their engine: the model is wrong, not the machine."""
_STRIKES = 3
"""So many workers in a row lost with the same trials in hand: the trials are at fault."""
_BROKEN = 3
"""So many engines in a row that break while nothing is answered: every other would too."""
_CTRL_C_SECONDS = 5.0
"""Grace after Ctrl-C."""
_LOST = (gone.RayActorError, gone.WorkerCrashedError, gone.NodeDiedError, gone.OutOfMemoryError)
_OF_RECORDS = (RecordError.__name__, SchemaMismatch.__name__, RunConflict.__name__)
_CPUS_PER_WORKER = 4
"""Without GPUs and without a number of workers, one worker for so many CPUs."""


def open_ray(spec: ExecutorSpec, engine: Engine | Callable[[], Engine], *, owner: Owner) -> RayExecutor:
    """Starts or joins Ray and its first workers.

    Args:
        spec: Where, how many, how patient.
        engine: What every worker makes its engine with, or an engine that is copied to each.
        owner: The right to write into the run directory.

    Raises:
        EngineError: There is no such cluster, or no worker could make its engine.
    """
    started = _join(spec)
    make = engine if callable(engine) else _Copied(engine)
    try:
        executor = RayExecutor(spec, make, owner=owner, shut_down=started)
    except BaseException:
        if started:
            ray.shutdown()
        raise
    try:
        executor.start()
    except BaseException:
        executor.close()
        raise
    return executor


class _Copied:
    """Makes an engine by handing over the copy that came with it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(self) -> Engine:
        return self._engine


def _join(spec: ExecutorSpec) -> bool:
    """Starts Ray here or joins a cluster; False where this process is in one already."""
    if ray.is_initialized():
        return False
    local: dict[str, Any] = {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
    own = local if spec.address is None else {}
    before = signal.getsignal(signal.SIGTERM)
    for left in reversed(range(_JOINS)):
        try:
            ray.init(address=spec.address or "local", log_to_driver=False, logging_level=logging.ERROR, **own)
            break
        except Exception as error:  # a node that starts too slowly is a bare Exception there
            ray.shutdown()
            if not left or spec.address is not None:
                where = spec.address or "this machine"
                raise EngineError(f"Ray cannot be reached at {where}: {_first_line(error)}") from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)  # ray puts its own there, which ends the process without a word
    return True


class RayExecutor:
    """Asks with workers on Ray. Made by `open_ray`."""

    def __init__(self, spec: ExecutorSpec, make: Callable[[], Engine], *, owner: Owner, shut_down: bool) -> None:
        self._spec = spec
        self._owner = owner
        self._shut_down = shut_down
        self._make = ray.put(make)
        needs = _needs(spec)
        remote: Any = ray.remote  # its types know no dictionary of options
        self._actor = remote(max_restarts=0, max_task_retries=0, concurrency_groups={"aside": 1}, **needs.options)(
            Worker
        )
        self._let_through = keep_out()
        self._slots = [Slot(number=number, session=owner.state.number) for number in range(needs.workers)]
        self._engine: Engine | None = None
        self._hello: Hello | None = None
        self._failed_starts = 0
        self._broken = 0
        self._looked = 0.0

    @property
    def engine(self) -> Engine:
        """The model as the first worker described it."""
        assert self._engine is not None
        return self._engine

    def start(self) -> None:
        """Starts the workers and waits for the first.

        Raises:
            EngineError: No worker could make its engine.
        """
        for slot in self._slots:
            self._settle(slot)
        while not any(slot.hello for slot in self._slots):
            self._wait(None)
        self._hello = next(slot.hello for slot in self._slots if slot.hello)
        self._engine = front_engine(self._hello, self._call)

    def ask(self, desk: Desk) -> None:
        """Asks every waiting group; see `Executor`."""
        desk.executor, desk.workers = "ray", self._states
        queue = sorted(desk.waiting, key=lambda waiting: (waiting.weight, -waiting.number))
        with desk.stop.patient():
            try:
                while queue or any(slot.waiting for slot in self._slots):
                    desk.stop.check()
                    self._hand_out(desk, queue)
                    queue += self._wait(desk)
            except KeyboardInterrupt:
                self._finish_batches(desk)
                raise

    def close(self) -> None:
        """Ends the workers, and Ray where it was started here."""
        for slot in self._slots:
            self._kill(slot)
        if self._shut_down:
            ray.shutdown()
        self._let_through()

    def _states(self) -> list[WorkerState]:
        return [slot.state() for slot in self._slots]

    def _call(self, method: str, *arguments: Any) -> Any:
        """Calls a method of any worker's engine; waits for a worker where none is there."""
        while True:
            slot = next((slot for slot in self._slots if slot.free), None)
            if slot is None:
                self._wait(None)
                continue
            try:
                found = ray.get(slot.actor.engine_call.remote(method, *arguments))
            except _LOST:
                self._replace(slot)
                continue
            return _raise_or(found)

    def _settle(self, slot: Slot) -> None:
        job = Job(name=slot.name, out=str(self._owner.run.resolve()), folder=str(Path.cwd()), session=slot.session)
        slot.settle(self._actor.remote(job, self._make))
        slot.answer = slot.actor.load.remote()

    def _kill(self, slot: Slot) -> None:
        if slot.actor is not None:
            with suppress(Exception):  # it is gone already, or Ray is
                ray.kill(slot.actor, no_restart=True)
        slot.actor = None

    def _replace(self, slot: Slot) -> None:
        self._kill(slot)
        slot.lives += 1
        self._settle(slot)

    def _hand_out(self, desk: Desk, queue: list[Waiting]) -> None:
        for slot in self._slots:
            if not queue:
                return
            if slot.free:
                waiting = queue.pop()
                group = desk.group(waiting)
                _reserve(desk.owner, max([group.attempts_from, *group.attempts.values()]))
                slot.take(waiting)
                slot.answer = slot.actor.ask.remote(group, desk.spec, str(desk.out.resolve()))

    def _wait(self, desk: Desk | None) -> list[Waiting]:
        """Waits for whatever comes first; returns the groups that lost workers left behind."""
        asked = [(slot, ref) for slot in self._slots for ref in (slot.answer, slot.sign) if ref is not None]
        ready: list[Any] = []
        if asked:
            ready, _ = ray.wait([ref for _, ref in asked], num_returns=1, timeout=_LOOK_SECONDS)
        else:
            time.sleep(_LOOK_SECONDS)
        left = [self._receive(slot, ref, desk) for slot, ref in asked if ref in ready]
        left += self._look(desk)
        return [waiting for waiting in left if waiting is not None and waiting.pending]

    def _receive(self, slot: Slot, ref: Any, desk: Desk | None) -> Waiting | None:
        try:
            found: Any = ray.get(ref)
        except _LOST as error:
            return self._lose(slot, desk, f"a worker died: {_first_line(error)}")
        if ref is slot.sign:
            slot.sign = None
            self._count(slot, found, desk)
            return None
        slot.answer = None
        if isinstance(found, Hello):
            self._welcome(slot, found)
            return None
        if isinstance(found, Trouble):
            return self._lose(slot, desk, found.message)
        self._count(slot, found, desk)
        if found.trouble is not None:
            return self._trouble(slot, desk, found.trouble)
        if not found.stopped:
            slot.waiting = None
        return None

    def _count(self, slot: Slot, answered: Answered, desk: Desk | None) -> None:
        asked, failed = slot.hear(answered)
        if asked and desk is not None:
            self._broken = 0
            desk.count(asked, failed)

    def _welcome(self, slot: Slot, hello: Hello) -> None:
        first = self._hello or hello
        known, found = ({"engine": h.engine, "identity": h.description.get("identity")} for h in (first, hello))
        if found != known:
            where = f"the worker on {hello.host} has another model than that on {first.host}"
            raise EngineError(f"{where}: {found}, not {known}")
        slot.hello = hello
        self._failed_starts = 0

    def _trouble(self, slot: Slot, desk: Desk | None, trouble: Trouble) -> Waiting | None:
        """A full disk ends the run; a lost device is left behind with its worker."""
        if trouble.kind in _OF_RECORDS:
            raise RecordError(trouble.message)
        self._broken += 1
        if self._broken >= _BROKEN or trouble.kind == EngineReplyError.__name__:
            raise EngineError(trouble.message)
        return self._lose(slot, desk, trouble.message)

    def _lose(self, slot: Slot, desk: Desk | None, why: str) -> Waiting | None:
        """Replaces a worker; returns what it left behind."""
        name, waiting, counted = slot.name, slot.waiting, slot.counted[0] - slot.before
        if slot.hello is None:
            self._failed_starts += 1
            if self._failed_starts >= _STARTS and not any(other.hello for other in self._slots):
                raise EngineError(f"{self._failed_starts} workers in a row could not start: {why}")
        self._replace(slot)
        if waiting is None or desk is None:
            return None
        desk.deaths += 1
        left = left_behind(desk.out, name, waiting)
        desk.count(len(waiting.pending) - len(left.pending) - counted, 0)
        return give_up(desk, left) if left.strikes >= _STRIKES else left

    def _look(self, desk: Desk | None) -> list[Waiting | None]:
        """Asks those who work for a sign of life and gives up on those who have given none for long."""
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return []
        self._looked = time.monotonic()
        lost = []
        for slot in self._slots:
            starting = slot.hello is None and not any(other.hello for other in self._slots)
            patience = self._spec.start_seconds if starting else self._spec.hang_seconds
            if (slot.waiting is not None or starting) and slot.silent > patience:
                lost.append(self._lose(slot, desk, f"a worker said nothing for {slot.silent:.0f} s"))
            elif slot.waiting is not None and slot.sign is None:
                slot.sign = slot.actor.sign.options(concurrency_group="aside").remote()
        return lost

    def _finish_batches(self, desk: Desk) -> None:
        """Lets every worker finish and write the batch in hand, as long as there is grace."""
        grace = self._spec.grace_seconds if desk.stop.asked else min(_CTRL_C_SECONDS, self._spec.grace_seconds)
        end = time.monotonic() + grace
        busy = {slot.answer: slot for slot in self._slots if slot.waiting is not None and slot.answer is not None}
        for slot in busy.values():
            slot.actor.stop.options(concurrency_group="aside").remote()
        while busy and time.monotonic() < end:
            ready, _ = ray.wait(list(busy), timeout=_LOOK_SECONDS)
            for ref in ready:
                slot = busy.pop(ref)
                with suppress(*_LOST):
                    answered: Any = ray.get(ref)
                    self._count(slot, answered, desk)


def _reserve(owner: Owner, attempt: int) -> None:
    """Notes on the disk, before an attempt goes out, that its number is given."""
    if attempt >= owner.state.next_attempts_from:
        owner.tell(next_attempts_from=attempt + 1)


class _Needs(NamedTuple):
    workers: int
    options: dict[str, float]


def _needs(spec: ExecutorSpec) -> _Needs:
    """How many workers, and what Ray sets aside for each."""
    there = ray.cluster_resources()
    cpus, gpus = there.get("CPU", 1.0), there.get("GPU", 0.0)
    share = spec.gpus_per_worker if spec.gpus_per_worker is not None else float(gpus > 0)
    if share > gpus:
        raise EngineError(f"--gpus-per-worker {share:g} cannot be met: the cluster has {gpus:g} GPUs")
    workers = spec.workers or max(1, int(gpus / share if share else cpus / _CPUS_PER_WORKER))
    # Whole CPUs where there are enough: Ray lets a worker's arithmetic use as many threads as it has CPUs.
    each = cpus / workers
    return _Needs(workers, {"num_cpus": float(int(each)) if each >= 1 else each, "num_gpus": share})


def _raise_or(found: Any) -> Any:
    """Returns what an engine returned, or raises the trouble that it had."""
    if isinstance(found, Trouble):
        raise {"UnsupportedEvent": UnsupportedEvent, "PlanError": PlanError}.get(found.kind, EngineError)(found.message)
    return found


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
