"""Writes the packaged held-out items: `python demo/items.py`.

Knows scenes and the item file. Knows no model.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from PIL import Image

import scenes

SEED = 20_000
DATA = Path(__file__).resolve().parents[1] / "src" / "vqaudit" / "demo_data"
QUOTAS = {4: 152, 2: 16, 3: 16, 5: 16}
"""How many items have how many options."""
CATEGORY_CYCLE: tuple[scenes.Category, ...] = (
    "colour", "shape", "count", "place", "relation",
    "colour", "shape", "place", "relation",
)  # fmt: skip


class Slot(NamedTuple):
    """What an item shall be before its scene is drawn."""

    options: int
    objects: int
    category: scenes.Category
    place: int
    """Where the right option stands."""


def slots(options: int, total: int) -> Iterator[Slot]:
    """Yields the slots of one option count: objects in the weights of the scenes, answers at all positions in turn.

    One object allows no relation, and no place or relation has five answers to choose from.
    """
    counts = [n for n, weight in enumerate(scenes.OBJECT_WEIGHTS, start=1) for _ in range(weight)]
    cycles: dict[bool, int] = {False: 0, True: 0}
    for i in range(total):
        objects = counts[i * 7 % len(counts)]
        alone = objects == 1
        barred = {"place", "relation"} if options == 5 else {"relation"} if alone else set()
        allowed = [category for category in CATEGORY_CYCLE if category not in barred]
        category = allowed[cycles[alone] % len(allowed)]
        cycles[alone] += 1
        yield Slot(options=options, objects=objects, category=category, place=i % options)


def fill(slot: Slot, rng: random.Random, taken: set[tuple[object, ...]]) -> tuple[scenes.Scene, scenes.Choice]:
    """Draws held-out scenes until one allows a question and options for the slot that no earlier item has."""
    weights = [float(n == slot.objects) for n in (1, 2, 3, 4)]
    while True:
        scene = scenes.sample_scene(rng, "held_out", weights)
        question = scenes.pick_question(scene, rng, slot.category)
        if question is None:
            continue
        choice = scenes.offer(question, scene, rng, slot.options, slot.place)
        key = (scene, question.text, *sorted(choice.options))
        if key not in taken:
            taken.add(key)
            return scene, choice


def write_items(folder: Path, seed: int = SEED) -> int:
    """Writes `items.jsonl` and `images/`, and returns the number of items."""
    rng = random.Random(seed)
    shutil.rmtree(folder / "images", ignore_errors=True)
    (folder / "images").mkdir(parents=True)
    every = [slot for options, total in QUOTAS.items() for slot in slots(options, total)]
    rng.shuffle(every)
    taken: set[tuple[object, ...]] = set()
    rows = []
    for number, slot in enumerate(every, start=1):
        scene, choice = fill(slot, rng, taken)
        item_id = f"demo-{number:04d}"
        Image.fromarray(scenes.draw(scene, rng)).save(folder / "images" / f"{item_id}.png", optimize=True)
        rows.append(_row(item_id, choice, len(scene)))
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "items.jsonl").write_text(text, encoding="utf-8")
    return len(rows)


def _row(item_id: str, choice: scenes.Choice, objects: int) -> dict[str, object]:
    return {
        "id": item_id,
        "image": f"images/{item_id}.png",
        "question": choice.question.text,
        "options": list(choice.options),
        "answer": "ABCDE"[choice.answer_index],
        "category": choice.question.category,
        "objects": objects,
    }


def main() -> None:
    """Writes the items into the package, or elsewhere with `--out`."""
    parser = argparse.ArgumentParser(description="Write the demo's held-out items.")
    parser.add_argument("--out", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    print(f"{write_items(arguments.out, arguments.seed)} items in {arguments.out}")


if __name__ == "__main__":
    main()
