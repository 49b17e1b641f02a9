"""Seeded pictures of one to four coloured shapes, and what can be asked about them.

Knows scenes, drawing, questions and rationales. Knows no prompt format, no model.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw

SIZE = 48
"""Width and height of a picture in pixels; each of the four cells is half of it."""

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (220, 40, 40),
    "green": (40, 170, 60),
    "blue": (50, 80, 220),
    "yellow": (240, 220, 50),
    "purple": (140, 50, 170),
    "orange": (250, 140, 30),
    "black": (20, 20, 20),
    "pink": (250, 150, 200),
}
SHAPES = ("circle", "square", "triangle", "cross", "ring")
CELLS = ("top left", "top right", "bottom left", "bottom right")
NUMBERS = ("zero", "one", "two", "three", "four", "five")
DIRECTIONS = ("left", "right", "above", "below")

Category = Literal["colour", "shape", "count", "place", "relation"]
CATEGORIES: dict[Category, float] = {"colour": 3, "shape": 3, "count": 2, "place": 2, "relation": 1.5}
"""How often each category is asked, among those that a scene allows."""

Split = Literal["train", "development", "held_out"]
OBJECT_WEIGHTS = (3, 4, 2, 1)
"""How often a scene has one, two, three and four objects."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Thing:
    """One object of a scene."""

    cell: int
    colour: str
    shape: str

    @property
    def name(self) -> str:
        """`red circle`."""
        return f"{self.colour} {self.shape}"


Scene = tuple[Thing, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question about a scene, before its options are chosen."""

    category: Category
    text: str
    answer: str
    pool: tuple[str, ...]
    """All answers that such a question can have."""
    evidence: str
    """The sentence about the scene from which the answer follows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A question with its options."""

    question: Question
    options: tuple[str, ...]
    answer_index: int


def split_of(scene: Scene) -> Split:
    """Returns the split of a scene: eight of ten are trained on, one is for tuning and probes, one is held out.

    The split is a hash of which colour and shape stand in which cell, so a held-out combination is never drawn in
    training, under any seed.
    """
    text = ";".join(sorted(f"{thing.cell} {thing.name}" for thing in scene))
    bucket = hashlib.blake2b(text.encode(), digest_size=4).digest()[0] % 10
    return "held_out" if bucket == 9 else "development" if bucket == 8 else "train"


def sample_scene(rng: random.Random, split: Split, weights: Sequence[float] = OBJECT_WEIGHTS) -> Scene:
    """Draws a scene of a split; a third of the scenes repeat colours, to give counting something to count."""
    count = rng.choices((1, 2, 3, 4), weights)[0]
    while True:
        cells = sorted(rng.sample(range(4), count))
        palette = rng.sample(list(COLOURS), 2) if rng.random() < 0.35 else list(COLOURS)
        scene = tuple(Thing(cell=c, colour=rng.choice(palette), shape=rng.choice(SHAPES)) for c in cells)
        if split_of(scene) == split:
            return scene


def draw(scene: Scene, rng: random.Random) -> np.ndarray:
    """Draws a scene as bytes (height, width, RGB); place, size, shade and noise vary with `rng`."""
    grey = rng.randint(215, 255)
    image = Image.new("RGB", (SIZE, SIZE), (grey, grey, grey))
    canvas = ImageDraw.Draw(image)
    for thing in scene:
        _draw_thing(canvas, thing, rng)
    noise = np.random.default_rng(rng.getrandbits(32)).integers(-4, 5, (SIZE, SIZE, 1))
    return np.clip(np.asarray(image, dtype=np.int16) + noise, 0, 255).astype(np.uint8)


def _draw_thing(canvas: ImageDraw.ImageDraw, thing: Thing, rng: random.Random) -> None:
    half = SIZE // 2
    x = thing.cell % 2 * half + half // 2 + rng.randint(-2, 2)
    y = thing.cell // 2 * half + half // 2 + rng.randint(-2, 2)
    radius = rng.randint(7, 9)
    colour = tuple(min(255, max(0, value + rng.randint(-12, 12))) for value in COLOURS[thing.colour])
    box = (x - radius, y - radius, x + radius, y + radius)
    match thing.shape:
        case "circle":
            canvas.ellipse(box, fill=colour)
        case "square":
            canvas.rectangle((x - radius + 1, y - radius + 1, x + radius - 1, y + radius - 1), fill=colour)
        case "triangle":
            canvas.polygon([(x, y - radius), (x - radius, y + radius), (x + radius, y + radius)], fill=colour)
        case "cross":
            arm = max(2, radius // 3)
            canvas.rectangle((x - arm, y - radius, x + arm, y + radius), fill=colour)
            canvas.rectangle((x - radius, y - arm, x + radius, y + arm), fill=colour)
        case _:
            canvas.ellipse(box, outline=colour, width=4)


def with_article(words: str) -> str:
    """Returns `a red circle` or `an orange ring`."""
    return ("an " if words[0] in "aeiou" else "a ") + words


def enumerate_things(scene: Scene) -> str:
    """Returns `a red circle, a blue ring and an orange cross`."""
    parts = [with_article(thing.name) for thing in scene]
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def caption(scene: Scene) -> str:
    """Returns `Top left: red circle. Bottom right: blue ring.`."""
    return " ".join(f"{CELLS[thing.cell].capitalize()}: {thing.name}." for thing in scene)


def questions(scene: Scene, rng: random.Random) -> list[Question]:
    """Returns what can be asked about a scene without ambiguity; `rng` picks what is counted."""
    return [*_attribute_questions(scene), *_count_questions(scene, rng), *_relation_questions(scene)]


def _attribute_questions(scene: Scene) -> list[Question]:
    found = []
    for thing in scene:
        if sum(other.shape == thing.shape for other in scene) == 1:
            found.append(_ask("colour", f"What colour is the {thing.shape}?", thing.colour, tuple(COLOURS),
                              f"The {thing.shape} is {thing.colour}."))  # fmt: skip
        if sum(other.colour == thing.colour for other in scene) == 1:
            found.append(_ask("shape", f"What shape is the {thing.colour} object?", thing.shape, SHAPES,
                              f"The {thing.colour} object is {with_article(thing.shape)}."))  # fmt: skip
        if _is_unique(thing, scene):
            cell = CELLS[thing.cell]
            found.append(_ask("place", f"Where is the {thing.name}?", cell, CELLS,
                              f"The {thing.name} is at the {cell}."))  # fmt: skip
    return found


def _count_questions(scene: Scene, rng: random.Random) -> list[Question]:
    """Counts all objects, those of a colour and those of a shape; a third of the time one that is absent."""
    present = rng.random() < 2 / 3
    colour = rng.choice(scene).colour if present else rng.choice(list(COLOURS))
    shape = rng.choice(scene).shape if present else rng.choice(SHAPES)
    plural = f"{shape}es" if shape == "cross" else f"{shape}s"
    counted = (
        ("objects", len(scene)),
        (f"{colour} objects", sum(thing.colour == colour for thing in scene)),
        (plural, sum(thing.shape == shape for thing in scene)),
    )
    return [
        _ask(
            "count",
            f"How many {what} are there?",
            NUMBERS[number],
            NUMBERS,
            f"The number of {what} is {NUMBERS[number]}.",
        )
        for what, number in counted
    ]


def _relation_questions(scene: Scene) -> list[Question]:
    found = []
    unique = [thing for thing in scene if _is_unique(thing, scene)]
    for one in unique:
        for other in unique:
            direction = _direction(one, other)
            if direction:
                found.append(_ask("relation", f"Where is the {one.name} relative to the {other.name}?", direction,
                                  DIRECTIONS, f"The {one.name} is {direction} the {other.name}."))  # fmt: skip
    return found


def _direction(one: Thing, other: Thing) -> str | None:
    """Returns where `one` lies seen from `other`, when both share a row or a column."""
    if one.cell == other.cell:
        return None
    if one.cell // 2 == other.cell // 2:
        return "left" if one.cell < other.cell else "right"
    if one.cell % 2 == other.cell % 2:
        return "above" if one.cell < other.cell else "below"
    return None


def _is_unique(thing: Thing, scene: Scene) -> bool:
    return sum(other.name == thing.name for other in scene) == 1


def _ask(category: Category, text: str, answer: str, pool: tuple[str, ...], evidence: str) -> Question:
    return Question(category=category, text=text, answer=answer, pool=pool, evidence=evidence)


def pick_question(
    scene: Scene,
    rng: random.Random,
    category: Category | None = None,
    weights: Mapping[Category, float] = CATEGORIES,
) -> Question | None:
    """Picks a question, of a category if one is given; None when the scene allows none of that category."""
    found = questions(scene, rng)
    if category is None:
        possible = [c for c in weights if any(q.category == c for q in found)]
        category = rng.choices(possible, [weights[c] for c in possible])[0]
    found = [q for q in found if q.category == category]
    return rng.choice(found) if found else None


def offer(question: Question, scene: Scene, rng: random.Random, size: int, place: int | None = None) -> Choice:
    """Adds wrong options up to `size` (or all there are), the right one at `place` or anywhere.

    Four times of five at least one wrong option names something that is in the picture, so that seeing what is
    there is not enough.
    """
    wrong = [option for option in question.pool if option != question.answer]
    chosen = rng.sample(wrong, min(size, len(question.pool)) - 1)
    visible = [option for option in wrong if any(option in (t.colour, t.shape) for t in scene)]
    if visible and rng.random() < 0.8 and not set(visible) & set(chosen):
        chosen[0] = rng.choice(visible)
    rng.shuffle(chosen)
    index = rng.randrange(len(chosen) + 1) if place is None else place
    return Choice(question=question, options=(*chosen[:index], question.answer, *chosen[index:]), answer_index=index)
