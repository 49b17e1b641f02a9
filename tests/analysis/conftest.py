"""Builds run directories through the waist, from a table of what a pretended model would do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vqaudit.records import (
    ITEM_SCHEMA,
    PLAN_SCHEMA,
    Manifest,
    PartWriter,
    RunTables,
    write_manifest,
    write_table,
)

ID_SETS = {"upper": "ABCDEFGH", "lower": "abcdefgh", "number": "12345678", "roman": ("I", "II", "III", "IV", "V")}
FORMATS = tuple(product(ID_SETS, ("colon", "dot", "bracket", "double_brackets"), ("line_break", "comma", "semicolon")))


def rotations(count: int) -> list[list[int]]:
    return [[(start + place) % count for place in range(count)] for start in range(count)]


@dataclass
class RunBuilder:
    """Collects items, plan and trials, and writes them as a run directory."""

    path: Path
    model: str = "pretended"
    items: list[dict[str, Any]] = field(default_factory=list)
    plan: list[dict[str, Any]] = field(default_factory=list)
    trials: list[dict[str, Any]] = field(default_factory=list)

    def add_item(self, name: str, *, n_options: int = 4, answer: int | None = 0, **more: Any) -> str:
        options = [f"{name} option {index}" for index in range(n_options)]
        row = {"item": name, "question": f"{name}?", "options": options, "answer": answer, "cluster": name}
        self.items.append({**row, "n_orders": n_options, "notes": [], **more})
        return name

    def add_trial(
        self,
        item: str,
        *,
        name: str | None = None,
        fmt: tuple[str, str, str] | None = FORMATS[0],
        order: Sequence[int] | None = (0, 1, 2, 3),
        interface: str = "direct",
        event: str = "reply",
        designs: Iterable[tuple[str, int]] = (("grid", 0),),
        chosen: int | None = None,
        record: bool = True,
        **more: Any,
    ) -> str:
        """Adds one planned trial and, unless `record` is false, its record: `chosen` is an option index."""
        trial = name or f"{len(self.plan):07d}"
        for design, draw in designs:
            self.plan.append({"trial": trial, "item": item, "design": design, "draw": draw, "interface": interface})
        if not record:
            return trial
        row: dict[str, Any] = {"trial": trial, "item": item, "interface": interface, "event": event, "attempt": 0}
        row["outcome"] = "unreadable" if chosen is None else "chosen"
        if fmt is not None:
            row |= dict(zip(("id_set", "delimiter", "separator"), fmt, strict=True))
        if order is not None:
            row |= {"order": list(order), "id_order": list(range(len(order)))}
        if chosen is not None:
            row["chosen"] = chosen
            row["position"] = list(order).index(chosen) if order is not None else None
        if event == "reply":
            lenient = {"outcome": row["outcome"], "position": row.get("position"), "chosen": chosen}
            row |= {f"lenient_{key}": value for key, value in lenient.items()}
        self.trials.append(row | more)
        return trial

    def write(self, **manifest: Any) -> RunTables:
        write_table(self.path / "items.parquet", self.items, ITEM_SCHEMA)
        write_table(self.path / "plan.parquet", self.plan, PLAN_SCHEMA)
        writer = PartWriter(self.path, worker="w")
        half = len(self.trials) // 2
        # two parts, the later one first, so that nothing rests on their order
        writer.write(self.trials[half:])
        writer.write(self.trials[:half])
        known = {"vqaudit_version": "0", "reader_version": "0", "model": self.model, "status": "complete"}
        write_manifest(self.path, Manifest(**known | manifest))
        return RunTables.load(self.path)


@pytest.fixture
def builder(tmp_path: Path) -> Callable[..., RunBuilder]:
    """Returns a maker of empty runs, each in its own directory."""
    made = 0

    def make(model: str = "pretended") -> RunBuilder:
        nonlocal made
        made += 1
        return RunBuilder(tmp_path / f"run-{made}", model=model)

    return make


@pytest.fixture
def grid_run(builder: Callable[..., RunBuilder]) -> Callable[..., RunBuilder]:
    """Returns a maker of full grids from a truth table."""

    def make(
        choose: Callable[[int, tuple[str, str, str], list[int]], int | None],
        *,
        n_items: int = 10,
        n_options: int = 4,
        formats: Sequence[tuple[str, str, str]] = FORMATS,
        model: str = "pretended",
    ) -> RunBuilder:
        """`choose(item number, format, order)` returns the chosen option index, None = unreadable."""
        run = builder(model)
        for number in range(n_items):
            item = run.add_item(f"q{number:04d}", n_options=n_options, answer=number % n_options)
            for fmt, order in product(formats, rotations(n_options)):
                run.add_trial(item, fmt=fmt, order=order, chosen=choose(number, fmt, order))
        return run

    return make


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)


@pytest.fixture
def formats() -> tuple[tuple[str, str, str], ...]:
    return FORMATS


@pytest.fixture
def orders() -> Callable[[int], list[list[int]]]:
    return rotations
