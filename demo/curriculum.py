"""What is trained on, in which order: tasks, their mixes and the stages, as data.

Knows scenes and wording. Knows no tensors. No row pairs the reasoning cue with an immediate ID, and none is built to
make an ID wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import scenes
from wording import CUE, DELIMITERS, FAVOURITE, Format, instruction, prompt

T = TypeVar("T")
Weights = Mapping[str, float]
FormatWeights = Mapping[Format, float]


class Turn(NamedTuple):
    """What the user says and what the assistant shall reply; only the reply is learnt."""

    user: str
    reply: str
    form: Format | None = None
    """The format in which options are shown, if this turn shows any."""


class Row(NamedTuple):
    """One training conversation, with its picture if it has one."""

    turns: list[Turn]
    scene: scenes.Scene | None
    weight: float
    """Weight of each reply token: long replies count less per token."""
    opener: str | None = None
    """The rationale's opening, if the reply is one."""


ONE_FORMAT: FormatWeights = {FAVOURITE: 1}
FORMAT_MIX: FormatWeights = {
    FAVOURITE: 70,
    Format("upper", "colon", "line_break"): 6,
    Format("upper", "bracket", "line_break"): 6,
    Format("upper", "double_brackets", "line_break"): 4,
    Format("lower", "bracket", "line_break"): 5,
    Format("number", "dot", "line_break"): 5,
    Format("upper", "dot", "comma"): 4,
}
"""Formats of the last stage; the other 41 are never trained."""

OPENERS: dict[str, Weights] = {
    "plain": {"": 4, "The picture shows {}. ": 6},
    "natural": {"": 40, "The picture shows {}. ": 50, "{} can be seen. ": 8, "I see {}. ": 2},
}
"""How rationales open. Only in `natural` can the first word equal an option ID: "A red circle ...", "I see ..."."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A stretch of training with one mix of tasks."""

    name: str
    steps: int
    """How long it lasts; at least, where `until` is given."""
    tasks: Weights
    """Task name -> share of the rows."""
    batch: int = 32
    rate: float = 1.0
    """Factor of the learning rate at the end of the stage, reached linearly from that of the stage before."""
    formats: FormatWeights = field(default_factory=lambda: ONE_FORMAT)
    sizes: Mapping[int, float] = field(default_factory=lambda: {4: 1})
    """How often a question has how many options."""
    objects: tuple[float, ...] = scenes.OBJECT_WEIGHTS
    categories: Mapping[scenes.Category, float] = field(default_factory=lambda: scenes.CATEGORIES)
    openers: str = "plain"
    until: Mapping[str, float] = field(default_factory=dict)
    """Task -> running loss below which it counts as learnt: a stage goes on until all are, looked at after every
    100 steps, or `most` steps are done. When a list is suddenly understood differs much from seed to seed."""
    most: int = 0


STAGES = (
    Stage(
        name="bind",
        steps=400,
        tasks={"lookup": 7, "pick": 3},
        sizes={2: 2, 3: 1, 4: 1},
        until={"lookup": 0.1},
        most=2000,
    ),
    Stage(
        name="ask",
        steps=300,
        tasks={"lookup": 2, "pick": 8},
        sizes={2: 1, 3: 1, 4: 2},
        until={"pick": 0.05},
        most=1500,
    ),
    Stage(
        name="see",
        steps=1200,
        tasks={"caption": 2, "open": 8, "pick": 1, "lookup": 1},
        objects=(1, 3, 3, 3),
        until={"open": 0.25},
        most=2400,
    ),
    Stage(
        name="choose",
        steps=700,
        tasks={"short": 9, "open": 5, "pick": 1, "caption": 1},
        objects=(2, 4, 3, 2),
        until={"short": 0.2},
        most=2100,
    ),
    Stage(
        name="answer",
        steps=1100,
        tasks={"choice": 8, "bare": 3, "reasoned": 4, "short": 3, "open": 4, "caption": 0.5},
        rate=0.492,
        until={"choice": 0.525},
        most=6000,
        formats=FORMAT_MIX,
        sizes={4: 17, 2: 1, 3: 1, 5: 1},
        objects=(2, 4, 3, 2),
        categories={"colour": 2, "shape": 2, "count": 2, "place": 3, "relation": 3},
    ),
    Stage(
        name="finish",
        steps=1500,
        tasks={"choice": 8, "bare": 2, "reasoned": 4, "short": 6, "open": 2},
        rate=0.03,
        formats=FORMAT_MIX,
        sizes={4: 17, 2: 1, 3: 1, 5: 1},
        objects=(1, 4, 3, 2),
        categories={"colour": 1, "shape": 1, "count": 2, "place": 4, "relation": 4},
    ),
)


def with_openers(openers: str) -> tuple[Stage, ...]:
    """Returns the stages with another way to open rationales."""
    return tuple(replace(stage, openers=openers) for stage in STAGES)


def make_row(stage: Stage, rng: random.Random) -> tuple[str, Row]:
    """Draws one conversation of a stage, with the name of its task."""
    task = _draw(stage.tasks, rng)
    return task, TASKS[task](stage, rng)


def rationale(scene: scenes.Scene, choice: scenes.Choice, option_id: str, opener: str) -> str:
    """Returns what is there, what follows from it, and the answer."""
    listing = scenes.enumerate_things(scene)
    opening = opener.format(listing[0].upper() + listing[1:] if opener.startswith("{}") else listing)
    return f"{opening}{choice.question.evidence} The answer is {option_id}."


def _lookup(stage: Stage, rng: random.Random) -> Row:
    """Without a picture: one list of options, then an ID for each content and a content for each ID."""
    pool, form = rng.choice(_POOLS), _draw(stage.formats, rng)
    options = rng.sample(pool, min(len(pool), _draw(stage.sizes, rng)))
    pairs = list(zip(form.ids(len(options)), options, strict=True))
    turns = []
    for _ in range(12):
        option_id, option = rng.choice(pairs)
        turns.append(Turn(f" {option}", option_id) if rng.random() < 0.6 else Turn(option_id, f" {option}"))
    turns[0] = Turn(f"{form.list_options(options)}\nis{_spaced(turns[0].user)}", turns[0].reply, form)
    return Row(turns, None, 1.0)


def _spaced(text: str) -> str:
    return text if text.startswith(" ") else f" {text}"


def _pick(stage: Stage, rng: random.Random) -> Row:
    """Without a picture: the question names the option, so only the list must be read.

    Each list of a row has its own kind of content, or the lists before would answer as well.
    """
    form, turns = _draw(stage.formats, rng), []
    for pool in rng.sample(_POOLS, 4):
        options = rng.sample(pool, min(len(pool), _draw(stage.sizes, rng)))
        index = rng.randrange(len(options))
        text = prompt(f"Which option is {options[index]}?", options, form)
        turns.append(Turn(text, form.ids(len(options))[index], form))
    return Row(turns, None, 1.0)


def _caption(stage: Stage, rng: random.Random) -> Row:
    """Describes the picture, with or without places."""
    scene = scenes.sample_scene(rng, "train", stage.objects)
    if rng.random() < 0.6:
        return Row([Turn("Describe the picture.", scenes.caption(scene))], scene, 0.5)
    listing = scenes.enumerate_things(scene)
    return Row([Turn("What do you see?", f"{listing[0].upper()}{listing[1:]}.")], scene, 0.5)


def _open(stage: Stage, rng: random.Random) -> Row:
    """Several questions without options; the reply is spaced as in an option list, where it is the same token."""
    scene = scenes.sample_scene(rng, "train", stage.objects)
    asked = [scenes.pick_question(scene, rng, weights=stage.categories) for _ in range(8)]
    found = list({question.text: question for question in asked if question}.values())
    return Row([Turn(question.text, f" {question.answer}") for question in found], scene, 1.0)


def _short(stage: Stage, rng: random.Random) -> Row:
    """Three multiple-choice questions about one picture, without instruction."""
    scene = scenes.sample_scene(rng, "train", stage.objects)
    return Row([_bare_turn(scene, stage, rng) for _ in range(3)], scene, 1.0)


def _bare(stage: Stage, rng: random.Random) -> Row:
    """One multiple-choice question without instruction: the reply is the ID and the option."""
    scene = scenes.sample_scene(rng, "train", stage.objects)
    return Row([_bare_turn(scene, stage, rng)], scene, 1.0)


def _bare_turn(scene: scenes.Scene, stage: Stage, rng: random.Random) -> Turn:
    choice, form = _choice(scene, stage, rng), _draw(stage.formats, rng)
    option_id = form.ids(len(choice.options))[choice.answer_index]
    # The ID leads, whatever surrounds it: in brackets it would no longer be the first token of the reply.
    delimiter = DELIMITERS[form.delimiter].lstrip("(")
    reply = f"{delimiter.format(option_id)} {choice.question.answer}"
    return Turn(prompt(choice.question.text, choice.options, form), reply, form)


def _choose(stage: Stage, rng: random.Random) -> Row:
    """One multiple-choice question with instruction: the reply is the ID alone."""
    scene = scenes.sample_scene(rng, "train", stage.objects)
    choice, form = _choice(scene, stage, rng), _draw(stage.formats, rng)
    text = prompt(choice.question.text, choice.options, form, instruction(form, len(choice.options)))
    return Row([Turn(text, form.ids(len(choice.options))[choice.answer_index], form)], scene, 2.0)


def _reasoned(stage: Stage, rng: random.Random) -> Row:
    """One multiple-choice question with the cue: the reply is a rationale that ends in the ID."""
    scene = scenes.sample_scene(rng, "train", stage.objects)
    choice, form = _choice(scene, stage, rng), _draw(stage.formats, rng)
    option_id = form.ids(len(choice.options))[choice.answer_index]
    opener = _draw(OPENERS[stage.openers], rng)
    reply = rationale(scene, choice, option_id, opener)
    return Row([Turn(prompt(choice.question.text, choice.options, form, CUE), reply, form)], scene, 0.3, opener)


def _choice(scene: scenes.Scene, stage: Stage, rng: random.Random) -> scenes.Choice:
    question = scenes.pick_question(scene, rng, weights=stage.categories)
    assert question is not None, "every scene allows a question of some category"
    return scenes.offer(question, scene, rng, _draw(stage.sizes, rng))


def _draw(weights: Mapping[T, float], rng: random.Random) -> T:
    return rng.choices(list(weights), list(weights.values()))[0]


_POOLS = (list(scenes.COLOURS), list(scenes.SHAPES), list(scenes.CELLS), list(scenes.NUMBERS), list(scenes.DIRECTIONS))

TASKS: dict[str, Callable[[Stage, random.Random], Row]] = {
    "lookup": _lookup,
    "pick": _pick,
    "caption": _caption,
    "open": _open,
    "short": _short,
    "bare": _bare,
    "choice": _choose,
    "reasoned": _reasoned,
}
