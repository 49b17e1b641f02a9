"""Kills a run with SIGKILL again and again, its driver and its workers, and holds its records against an unbroken run's.

    python tests/faults/kill.py --seed 1 --kills 100 --driver-kills 12 --items 521 --executor ray --workers 2

An item is 192 trials. Prints each kill with the records before it, then the two digests; exits 1 if they differ or a
trial has no visible record or more than one. Workers are killed while the run goes on; where a driver is killed, the
same command is started again, on the same Ray cluster.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vqaudit.records import RunTables, StatusReader, read_session, records_digest

HERE = Path(__file__).parent


class Broken:
    """The run that is killed."""

    def __init__(self, out: Path, command: list[str]) -> None:
        self.out, self.command = out, command
        self.errors = (out.parent / "errors.txt").open("a", encoding="utf-8")
        self.driver: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if self.driver is None or self.driver.poll() is not None:
            if self.driver is not None and self.driver.returncode > 0:
                raise SystemExit(f"the run failed by itself: {Path(self.errors.name).read_text(encoding='utf-8')}")
            self.driver = subprocess.Popen(self.command, stderr=self.errors)

    @property
    def over(self) -> bool:
        return self.driver is not None and self.driver.poll() == 0

    def workers(self) -> list[int]:
        """Processes of workers that have their engine, of the driver that runs now."""
        session = read_session(self.out)
        if self.driver is None or session is None or session.pid != self.driver.pid:
            return []
        return [worker.pid for worker in session.workers if worker.pid is not None and worker.pid != session.pid]

    def works(self, alone: bool) -> bool:
        """Whether the driver that runs now has got to asking; unless it is to be killed alone, with workers."""
        session = read_session(self.out)
        mine = self.driver is not None and session is not None and session.pid == self.driver.pid
        return mine and (bool(self.workers()) or (alone and session is not None and session.pending > 0))

    def kill_driver(self) -> str:
        assert self.driver is not None
        self.driver.send_signal(signal.SIGKILL)
        self.driver.wait()
        return f"driver {self.driver.pid}"

    def kill_worker(self, moments: random.Random) -> str | None:
        there = self.workers()
        if not there:
            return None
        victim = moments.choice(there)
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return None
        return f"worker {victim}"


def records(out: Path, reader: StatusReader) -> int:
    return reader.read().attempts if (out / "manifest.json").exists() else 0


def kill_often(broken: Broken, args: argparse.Namespace, moments: random.Random) -> int:
    """Kills as often as was asked for; returns how often it did before the run was complete."""
    drivers = set(moments.sample(range(1, args.kills + 1), args.driver_kills))
    reader = StatusReader(broken.out)
    began = time.monotonic()
    for kill in range(1, args.kills + 1):
        broken.start()
        before = records(broken.out, reader)
        while not broken.over and not (broken.works(kill in drivers) and records(broken.out, reader) > before):
            broken.start()
            time.sleep(0.1)
        time.sleep(moments.uniform(0.0, args.longest))
        if broken.over:
            print(f"kill {kill}: the run was complete before it", flush=True)
            return kill - 1
        victim = broken.kill_driver() if kill in drivers else broken.kill_worker(moments)
        while victim is None and not broken.over:  # it was being replaced
            time.sleep(0.1)
            victim = broken.kill_worker(moments)
        now = time.monotonic() - began
        print(f"kill {kill:3}: {now:6.1f} s, {victim}; records {before} -> {records(broken.out, reader)}", flush=True)
    return args.kills


def start_cluster(workers: int) -> str:
    """Starts Ray in this process, so that it outlives the drivers that are killed; returns its address."""
    import ray

    from vqaudit.run.executors.noise import keep_out, set_surroundings

    set_surroundings(local=True)
    keep_out()
    store = 100 * 2**20
    for left in reversed(range(5)):
        try:
            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, object_store_memory=store)
            return ray.get_runtime_context().gcs_address
        except Exception:  # Ray gives its node half a minute, which a busy machine may not be able to keep
            ray.shutdown()
            if not left:
                raise
    raise AssertionError


def compare(whole: RunTables, broken: RunTables, done: int) -> bool:
    digests = records_digest(whole.trials), records_digest(broken.trials)
    lost = set(whole.plan["trial"]) - set(broken.trials["trial"])
    failed = broken.trials.filter(broken.trials["outcome"] == "failed").height
    print(f"{done} kills; visible records {broken.trials.height}, attempts on disk {broken.attempts}")
    print(f"lost {len(lost)}, failed {failed}, doubled {broken.trials.height - broken.trials['trial'].n_unique()}")
    print(f"unbroken {digests[0]}\nbroken   {digests[1]}")
    same = digests[0] == digests[1] and not lost and not failed and broken.trials["trial"].is_unique().all()
    print("equal" if same else "DIFFERENT", flush=True)
    return bool(same)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--driver-kills", type=int, default=3, help="how many of them hit the driver")
    parser.add_argument("--longest", type=float, default=1.0, help="seconds from a new record to a kill, at most")
    parser.add_argument("--items", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=0.0, help="that a batch takes besides its arithmetic")
    parser.add_argument("--executor", default="here", help="here: every kill hits the driver")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="keep both runs here")
    args = parser.parse_args()
    args.driver_kills = args.kills if args.executor == "here" else min(args.driver_kills, args.kills)
    return args


def main() -> int:
    args = arguments()
    folder = args.keep or Path(tempfile.mkdtemp(prefix="vqaudit-kill-"))
    folder.mkdir(parents=True, exist_ok=True)
    simulated = [sys.executable, str(HERE / "simulated.py")]
    sizes = ["--items", str(args.items)]
    if not (folder / "whole").exists():
        subprocess.run([*simulated, str(folder / "whole"), *sizes], check=True)
    whole = RunTables.load(folder / "whole")
    print(f"unbroken run in one process: {whole.trials.height} records in {whole.manifest.seconds:.1f} s", flush=True)
    started = time.monotonic()
    address = start_cluster(args.workers) if args.executor == "ray" else None
    ray = ["--executor", "ray", "--address", address, "--workers", str(args.workers)] if address else []
    broken = Broken(
        folder / "broken", [*simulated, str(folder / "broken"), *sizes, "--seconds", str(args.seconds), *ray]
    )
    done = kill_often(broken, args, random.Random(args.seed))
    broken.start()
    assert broken.driver is not None
    if broken.driver.wait() != 0:
        raise SystemExit(f"the last session failed: {(folder / 'errors.txt').read_text(encoding='utf-8')}")
    print(f"complete after {time.monotonic() - started:.1f} s, starts included", flush=True)
    same = compare(whole, RunTables.load(folder / "broken"), done)
    if args.keep is None:
        shutil.rmtree(folder)
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
