"""Writes items for probing the demo model: `python demo/splits.py --out demo/runs/probing`.

Knows scenes and the item file. Knows no model. Probes are fitted and selected on scenes of the split "development",
which no training row has; the test items show "held out" scenes, as the packaged items do. No scene is in two files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from pathlib import Path

from PIL import Image

import scenes

SIZES = {"train": 3000, "validation": 500, "test": 600}
SPLITS: dict[str, scenes.Split] = {"train": "development", "validation": "development", "test": "held_out"}
OPTION_WEIGHTS = {4: 76, 2: 8, 3: 8, 5: 8}
"""As among the packaged items."""
SEED = 30_000


def belongs(scene: scenes.Scene, name: str) -> bool:
    """Whether a development scene is for validation (one in six, by a hash) or for fitting; others are for testing."""
    if name == "test":
        return True
    for_validation = hashlib.blake2b(scenes.caption(scene).encode(), digest_size=4).digest()[1] % 6 == 0
    return for_validation == (name == "validation")


def write_split(folder: Path, name: str, size: int, *, seed: int) -> None:
    """Writes `NAME.jsonl` with its pictures."""
    rng = random.Random(f"{seed} {name}")
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    while len(rows) < size:
        scene = scenes.sample_scene(rng, SPLITS[name])
        question = scenes.pick_question(scene, rng)
        if question is None or not belongs(scene, name):
            continue
        options = rng.choices(list(OPTION_WEIGHTS), list(OPTION_WEIGHTS.values()))[0]
        choice = scenes.offer(question, scene, rng, options)
        item = f"{name}-{len(rows) + 1:04d}"
        Image.fromarray(scenes.draw(scene, rng)).save(images / f"{item}.png")
        rows.append(_row(item, choice, scene))
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _row(item: str, choice: scenes.Choice, scene: scenes.Scene) -> dict[str, object]:
    return {
        "id": item,
        "image": f"images/{item}.png",
        "question": choice.question.text,
        "options": list(choice.options),
        "answer": "ABCDE"[choice.answer_index],
        "category": choice.question.category,
        "group": scenes.caption(scene),
    }


def write_splits(folder: Path, *, sizes: dict[str, int], seed: int = SEED) -> None:
    """Writes the three files; the same seed and sizes give the same bytes."""
    for name, size in sizes.items():
        write_split(folder, name, size, seed=seed)


def main() -> None:
    """Writes train, validation and test items into a folder."""
    parser = argparse.ArgumentParser(description="Write items for probing the demo model.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=SEED)
    for name, size in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=size, help=f"items of the {name} split")
    arguments = parser.parse_args()
    sizes = {name: getattr(arguments, name) for name in SIZES}
    write_splits(arguments.out, sizes=sizes, seed=arguments.seed)
    print(f"{', '.join(f'{size} {name}' for name, size in sizes.items())} items in {arguments.out}")


if __name__ == "__main__":
    main()
