"""The work that vqaudit and a peer both do: what vqaudit asked and what it was answered, as one Parquet file.

A peer's script reads the prompts from it in an environment of its own, so nothing here imports a peer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import polars as pl

import vqaudit as va
from vqaudit.engines.base import Engine
from vqaudit.records import RunTables

__all__ = ["Work", "do_work"]

NEW_TOKENS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """What was asked, and how long vqaudit took."""

    prompts: Path
    """`trial`, `text` (with `<image>` in front), `image` (PNG bytes), `reply`, `margin`: one row a trial."""
    trials: int
    seconds: float
    """From items to records on disk; the model is loaded before."""


def do_work(engine: Engine, dataset: va.Dataset, folder: Path) -> Work:
    """Lets vqaudit ask the full grid in circular orders, and writes down what it asked."""
    begun = time.perf_counter()
    run = va.audit(
        engine, dataset, out=folder / "run", design="grid", interface="direct", budget=NEW_TOKENS, progress=False
    )
    seconds = time.perf_counter() - begun
    tables = run.tables()
    pictures = {item.id: _png(item) for item in dataset.items}
    rows = [
        {
            "trial": trial["trial"],
            "text": "<image>" + "".join(texts),
            "image": pictures[trial["item"]],
            "reply": trial["reply"],
            "margin": _margin(trial["top_tokens"]),
        }
        for trial, texts in _with_texts(tables)
    ]
    path = folder / "prompts.parquet"
    pl.DataFrame(rows).write_parquet(path)
    return Work(prompts=path, trials=len(rows), seconds=seconds)


def _with_texts(tables: RunTables) -> list[tuple[dict, list[str]]]:
    texts = tables.segments()
    return [(trial, [texts[hash] for hash in trial["segments"]]) for trial in tables.trials.to_dicts()]


def _margin(top: list[dict]) -> float:
    """How much more probable, in nats, the first token is than the second."""
    return top[0]["logprob"] - top[1]["logprob"]


def _png(item: va.Item) -> bytes:
    from vqaudit.items.images import open_image

    buffer = BytesIO()
    open_image(item.images[0]).pixels.save(buffer, format="PNG")
    return buffer.getvalue()
