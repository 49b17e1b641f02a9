"""Runs with states whose truth is known: written as records are, without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from vqaudit.records import ITEM_SCHEMA, Manifest, PartWriter, write_manifest, write_table
from vqaudit.records.states import ReadoutTable, write_readout

WIDTH, LAYERS = 12, 3
IDS = ("A", "B", "C", "D")
TOKENS = {"A": (10, 20), "B": (11,), "C": (12,), "D": (13,)}
FORMAT = {"id_set": "upper", "delimiter": "dot", "separator": "line_break"}


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def readout_table(depth: str = "all") -> ReadoutTable:
    """The first four coordinates of a state are the logits of A to D; the second spelling of A never counts."""
    rows = np.zeros((5, WIDTH), dtype=np.float32)
    rows[:4, :4] = np.eye(4)
    return ReadoutTable(
        depth=depth,
        layers=LAYERS,
        width=WIDTH,
        id_sets={"upper": TOKENS},
        token_ids=np.array([10, 11, 12, 13, 20]),
        rows=rows,
        biases=np.array([0, 0, 0, 0, -50], dtype=np.float32),
    )


def trial_rows(rng: np.random.Generator, item: str, answer: int, count: int, strength: float) -> list[dict]:
    """Under bare-scores the right ID's logit is high; under cot-prefix A's is, and the answer stands elsewhere."""
    rows = []
    for condition in ("bare-scores", "cot-prefix"):
        values = rng.normal(size=(LAYERS + 1, WIDTH)).astype(np.float32)
        if condition == "bare-scores":
            values[-1, answer] += strength
        else:
            values[-1, 0] += 9.0
            values[-1, 4 + answer] += strength
        values[:-1, :] *= np.array([1, 10, 0.1])[:, None]
        logits = values[-1, :count]
        chosen = int(logits.argmax())
        order = list(range(count))
        rows.append(
            {
                "trial": f"{condition}-{item}",
                "item": item,
                **FORMAT,
                "order": order,
                "id_order": order,
                "interface": condition,
                "event": "id-scores",
                "option_ids": IDS[:count],
                "outcome": "chosen",
                "position": chosen,
                "chosen": chosen,
                "attempt": 0,
                "worker": "w0",
                "states": {
                    "values": values,
                    "lens_id_logprobs": [[-1.0 - i for i in range(count)]] * (LAYERS + 1),
                    "lens_id_ranks": [[2 + i for i in range(count)]] * (LAYERS + 1),
                    "lens_id_mass": [0.25 * layer for layer in range(LAYERS + 1)],
                    "lens_watch_mass": [0.5] * (LAYERS + 1),
                },
            }
        )
    return rows


def write_run(path: Path, items: int, *, seed: int, strength: float = 3.0, name: str = "q", group: int = 1) -> Path:
    rng = np.random.default_rng(seed)
    counts = rng.choice([2, 3, 4], size=items)
    answers = [int(rng.integers(count)) for count in counts]
    write_table(
        path / "items.parquet",
        [
            {
                "item": f"{name}{k}",
                "question": f"{name} {k}?",
                "options": [f"o{i}" for i in range(count)],
                "answer": answer,
                "cluster": f"g{k // group}",
                "images": [],
                "n_orders": int(count),
                "notes": [],
            }
            for k, (count, answer) in enumerate(zip(counts, answers, strict=True))
        ],
        ITEM_SCHEMA,
    )
    write_readout(path, readout_table())
    writer = PartWriter(path, worker="w0")
    for k, (count, answer) in enumerate(zip(counts, answers, strict=True)):
        if k % 50 == 0:
            rows: list[dict] = []
        rows += trial_rows(rng, f"{name}{k}", answer, int(count), strength)
        if k % 50 == 49 or k == items - 1:
            writer.write(rows)
    manifest = Manifest(
        vqaudit_version="0", reader_version="1", status="complete", model="m", engine={"identity": {"weights": "w"}}
    )
    write_manifest(path, manifest)
    return path


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Path]:
    return write_run


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Training, validation and test runs of one model."""
    folder = tmp_path_factory.mktemp("internals")
    sizes = {"train": 600, "validation": 150, "test": 300}
    return {n: write_run(folder / n, size, seed=k, name=n) for k, (n, size) in enumerate(sizes.items())}
