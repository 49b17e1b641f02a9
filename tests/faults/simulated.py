"""A run of the simulated engine, as a process that can be killed.

    python tests/faults/simulated.py OUT --items 521 --executor ray --workers 2

Every item has four options and is asked under the whole grid: 192 trials an item. What the engine answers follows
from the trial's name alone, so that every worker can make it from nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import vqaudit as va
from vqaudit.auditing import Execution
from vqaudit.engines.base import Outcome, Request
from vqaudit.engines.simulated import Law, SimulatedEngine
from vqaudit.items import Columns, Dataset
from vqaudit.items.item import Item
from vqaudit.run.executors import ExecutorSpec


class World(Mapping[str, Law]):
    """The law of every trial there can be."""

    def __getitem__(self, trial: str) -> Law:
        first = 0.25 + int(trial[:4], 16) / 2**17
        rest = (1.0 - first) / 3
        return Law(positions=(first, rest, rest, rest), coverage=0.9)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class Slow(SimulatedEngine):
    """Takes its time for every batch."""

    def __init__(self, seconds: float, batch: int) -> None:
        super().__init__(World(), batch=batch)
        self.seconds = seconds

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        time.sleep(self.seconds)
        return super().answer(batch)


class Make:
    """Makes the engine, wherever it is called."""

    def __init__(self, seconds: float, batch: int) -> None:
        self.seconds, self.batch = seconds, batch

    def __call__(self) -> SimulatedEngine:
        return Slow(self.seconds, self.batch)


def dataset(items: int) -> Dataset:
    made = tuple(
        Item(id=f"i{k}", question=f"Question {k}?", options=("red", "green", "blue", "grey"), answer=k % 4)
        for k in range(items)
    )
    return Dataset(
        name="simulated",
        path=Path("simulated"),
        items=made,
        skipped=(),
        columns=Columns(),
        answers="index0",
        warnings=(),
        digest=f"{items} items",
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--interface", default="direct-scores")
    parser.add_argument("--seconds", type=float, default=0.0, help="that a batch takes besides its arithmetic")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--executor", default="here")
    parser.add_argument("--address")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--hang-seconds", type=float, default=900.0)
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    executor = ExecutorSpec(
        kind=given.executor, address=given.address, workers=given.workers, hang_seconds=given.hang_seconds
    )
    va.audit(
        Make(given.seconds, given.batch),
        dataset(given.items),
        out=given.out,
        design="grid",
        interface=given.interface,
        progress=False,
        execution=Execution(executor=executor),
    )
