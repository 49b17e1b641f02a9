"""A simulated run directory of any size, written through the records' schemas: what `bench_page.py` shows.

Questions, options and replies are made of words, so that they compress as texts do; scores and pictures are noise, so
that they hardly compress.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from vqaudit.asking.designs import Grid
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, Plan, Trial, make_plan
from vqaudit.asking.prompts import render
from vqaudit.items.item import Item
from vqaudit.records import (
    ITEM_SCHEMA,
    PLAN_SCHEMA,
    SEGMENT_SCHEMA,
    Manifest,
    PartWriter,
    segment_hash,
    write_manifest,
    write_table,
)

WORDS = [
    *("red", "blue", "green", "bright", "small", "round", "left", "right", "above", "below"),
    *("table", "window", "cup", "lamp", "book", "plate", "clock", "key", "pen", "box"),
    *("hat", "vase", "person", "child", "street", "tree", "river", "sign", "number", "line"),
    *("chart", "bar", "value", "year", "total", "largest", "which", "shows", "object", "near"),
    *("between", "corner", "shadow", "letter", "animal", "bird", "dog", "horse", "boat", "bridge"),
    *("tower", "field", "cloud", "stone", "wheel", "handle", "surface", "colour"),
]
PART = 20_000


def make_items(number: int, rng: np.random.Generator) -> list[Item]:
    """Returns four-option questions of about 70 characters, options of about 18."""

    def words(most: int) -> str:
        return " ".join(rng.choice(WORDS, size=int(rng.integers(2, most))))

    found = []
    for k in range(number):
        options = tuple(f"{words(5)} {place}" for place in range(4))
        question = f"Which {words(20)}?"
        category = f"skill {k % 12}"
        found.append(Item(id=f"q-{k:05d}", question=question, options=options, answer=k % 4, category=category))
    return found


def write_run(path: Path, *, items: int, seed: int = 0, thumbnails: bool = True) -> int:
    """Writes a grid of 48 formats x 4 orders and returns the number of its trials."""
    rng = np.random.default_rng(seed)
    asked = make_items(items, rng)
    plan = make_plan(asked, [Arm(interface=find_interface("direct"), design=Grid())])
    texts: dict[str, str] = {}
    writer = PartWriter(path, worker="w0")
    difficulty = rng.normal(0.0, 1.0, size=items)
    for start in range(0, len(plan.trials), PART):
        trials = plan.trials[start : start + PART]
        writer.write([_record(plan, trial, difficulty[trial.item], texts, rng) for trial in trials])
    pictures = _thumbnails(path, items, rng) if thumbnails else [None] * items
    _write_tables(path, plan, pictures, texts)
    return len(plan.trials)


def _record(
    plan: Plan, trial: Trial, difficulty: float, texts: dict[str, str], rng: np.random.Generator
) -> dict[str, Any]:
    variant, item = trial.variant, plan.items[trial.item]
    assert variant.format is not None
    prompt = render(item, variant)
    names = [segment_hash(segment) for segment in prompt.segments]
    texts.update(zip(names, prompt.segments, strict=True))
    effect = 0.8 * (variant.format.separator.name == "line_break") - 0.6 * (variant.format.id_set.name == "roman")
    logits = rng.normal(0.0, 1.0, size=4)
    logits[variant.order.index(item.answer)] += 1.2 - difficulty + effect
    logits[0] += 0.3
    probabilities = np.exp(logits) / np.exp(logits).sum()
    position = int(probabilities.argmax())
    readable = rng.random() > 0.03
    reply = prompt.option_ids[position] if readable else f"I think it is the {' '.join(rng.choice(WORDS, size=4))}"
    read = {"outcome": "chosen", "position": position, "chosen": variant.order[position], "reason": "exact"}
    unread = {"outcome": "unreadable", "reason": "out of scheme"}
    scores = [
        {"option_id": name, "logprob": float(np.log(p)), "rank": k + 1}
        for k, (name, p) in enumerate(zip(prompt.option_ids, probabilities, strict=True))
    ]
    return {
        "trial": trial.id,
        "item": item.id,
        "id_set": variant.format.id_set.name,
        "delimiter": variant.format.delimiter.name,
        "separator": variant.format.separator.name,
        "order": list(variant.order),
        "id_order": list(variant.id_order),
        "interface": "direct",
        "ending": "instruction",
        "place": "user",
        "event": "reply",
        "option_ids": list(prompt.option_ids),
        "segments": names,
        "reply": reply,
        "further": " ".join(rng.choice(WORDS, size=3)),
        "id_scores": scores,
        "id_mass": 0.97,
        "attempt": 0,
        "worker": "w0",
        "seconds": 0.01,
        "tokens_computed": 100,
    } | (read if readable else unread)


def _thumbnails(path: Path, items: int, rng: np.random.Generator) -> list[str]:
    folder = path / "thumbs"
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for _ in range(items):
        coarse = rng.integers(0, 256, size=(12, 12, 3), dtype=np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(coarse).resize((192, 192), Image.Resampling.BICUBIC).save(buffer, "WEBP", quality=60)
        names.append(rng.bytes(16).hex())
        (folder / f"{names[-1]}.webp").write_bytes(buffer.getvalue())
    return names


def _write_tables(path: Path, plan: Plan, pictures: list[Any], texts: dict[str, str]) -> None:
    rows = [
        {
            "item": item.id,
            "question": item.question,
            "options": list(item.options),
            "answer": item.answer,
            "cluster": item.cluster,
            "category": item.category,
            "images": [picture] if picture else [],
            "n_orders": 4,
            "notes": [],
        }
        for item, picture in zip(plan.items, pictures, strict=True)
    ]
    write_table(path / "items.parquet", rows, ITEM_SCHEMA)
    reasons = [(r.trial, r.item, r.design, r.draw, r.interface) for r in plan.reasons]
    write_table(path / "plan.parquet", [dict(zip(PLAN_SCHEMA.names, r, strict=True)) for r in reasons], PLAN_SCHEMA)
    write_table(path / "segments.parquet", [{"segment": n, "text": t} for n, t in texts.items()], SEGMENT_SCHEMA)
    write_manifest(
        path,
        Manifest(
            vqaudit_version="0.1.0",
            reader_version="1",
            status="complete",
            model="simulated",
            dataset={"name": "simulated"},
            reference_format="upper/dot/line_break",
            seed=0,
        ),
    )
