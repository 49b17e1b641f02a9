"""Trains the demo model from nothing: `python demo/train.py --seed 0 --out demo/runs/seed0`.

Knows tensors, optimisers and checkpoints; what is trained on stands in `curriculum.py`. Every step draws its data from
(seed, stage, step), so that a run that was interrupted goes on as if it had not been.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional
from transformers import LlavaForConditionalGeneration, PreTrainedTokenizerFast

import build
import curriculum
import scenes
from muon import Muon
from wording import FAVOURITE, instruction, prompt

VISION_STEPS = 250
RATE = 2e-3
MUON_FACTOR = 2.0
"""Muon's learning rate as a multiple of AdamW's."""
WARM_UP = 50
SAVE_EVERY = 100
REPORT_EVERY = 100
CHECK_EVERY = 100
"""How often a stage that waits for a task looks whether it is learnt."""


class Batch(NamedTuple):
    """Padded token ids, the weight with which each is learnt, and the pictures of the rows that have one."""

    ids: torch.Tensor
    weights: torch.Tensor
    pixels: torch.Tensor | None
    tasks: list[str]


class Encoder:
    """Turns conversations into token ids, as the chat template would."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self.pad = tokenizer.pad_token_id
        self.encode = lru_cache(100_000)(lambda text: tokenizer.encode(text, add_special_tokens=False))
        self.image = "<image>" * (scenes.SIZE // build.PATCH) ** 2 + "\n"

    def row(self, row: curriculum.Row) -> tuple[list[int], list[float]]:
        """Returns ids and weights; only replies and the end after them are learnt."""
        ids: list[int] = []
        weights: list[float] = []
        for number, turn in enumerate(row.turns):
            image = self.image if row.scene is not None and number == 0 else ""
            head = self.question(image + turn.user)
            reply = [*self.encode(turn.reply), *self.encode("<|end|>")]
            ids += head + reply
            weights += [0.0] * len(head) + [row.weight] * len(reply)
        return ids, weights

    def question(self, text: str) -> list[int]:
        """Returns the user's turn and the header of the reply."""
        return [*self.encode("<|user|>"), *self.encode(text), *self.encode("<|end|><|assistant|>")]

    def pad_left_aligned(self, rows: Sequence[Sequence[float]], filler: float, dtype: torch.dtype) -> torch.Tensor:
        """Returns the rows as one tensor, filled at the right."""
        width = max(map(len, rows))
        return torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows], dtype=dtype)


def to_pixels(pictures: Sequence[np.ndarray]) -> torch.Tensor:
    """Returns pictures as the image processor would: channels first, from -1 to 1."""
    return torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).float().div(127.5).sub(1)


def make_batches(stage: curriculum.Stage, encoder: Encoder, rng: random.Random) -> list[Batch]:
    """Draws the rows of one step, in two halves by length to save padding."""
    drawn = []
    for _ in range(stage.batch):
        task, row = curriculum.make_row(stage, rng)
        picture = None if row.scene is None else scenes.draw(row.scene, rng)
        drawn.append((task, picture, *encoder.row(row)))
    drawn.sort(key=lambda entry: len(entry[2]))
    batches = []
    for half in (drawn[: stage.batch // 2], drawn[stage.batch // 2 :]):
        pictures = [picture for _, picture, _, _ in half if picture is not None]
        ids = encoder.pad_left_aligned([ids for _, _, ids, _ in half], encoder.pad, torch.long)
        weights = encoder.pad_left_aligned([weights for *_, weights in half], 0.0, torch.float)
        batches.append(Batch(ids, weights, to_pixels(pictures) if pictures else None, [task for task, *_ in half]))
    return batches


class Progress:
    """Running mean loss of each task."""

    def __init__(self) -> None:
        self.losses: dict[str, float] = {}

    def add(self, tasks: Sequence[str], rows: torch.Tensor, losses: torch.Tensor) -> None:
        """Adds one batch: the row and the loss of each learnt token."""
        total = torch.zeros(len(tasks)).index_add_(0, rows, losses)
        count = torch.zeros(len(tasks)).index_add_(0, rows, torch.ones_like(losses))
        for task, value in zip(tasks, (total / count).tolist(), strict=True):
            self.losses[task] = 0.98 * self.losses.get(task, value) + 0.02 * value

    def __str__(self) -> str:
        return " ".join(f"{task} {value:.3f}" for task, value in sorted(self.losses.items()))


def batch_loss(model: LlavaForConditionalGeneration, batch: Batch, progress: Progress) -> torch.Tensor:
    """Returns the weighted sum of the token losses; logits are computed where something is learnt, nowhere else."""
    states = model.model(input_ids=batch.ids, pixel_values=batch.pixels, use_cache=False).last_hidden_state[:, :-1]
    weights, targets = batch.weights[:, 1:], batch.ids[:, 1:]
    learnt = weights > 0
    losses = functional.cross_entropy(model.lm_head(states[learnt]), targets[learnt], reduction="none")
    progress.add(batch.tasks, learnt.nonzero()[:, 0], losses.detach())
    return (losses * weights[learnt]).sum()


class Optimisers:
    """Muon for the decoder's matrices, AdamW for all else; the vision tower stays as it was trained alone."""

    def __init__(self, model: LlavaForConditionalGeneration) -> None:
        model.model.vision_tower.requires_grad_(requires_grad=False)
        layers = model.model.language_model.layers
        matrices = [p for p in layers.parameters() if p.ndim == 2]
        held = {id(p) for p in matrices}
        others = [p for p in model.parameters() if p.requires_grad and id(p) not in held]
        self.parameters = matrices + others
        self.each: list[torch.optim.Optimizer] = [
            Muon(matrices, lr=RATE),
            torch.optim.AdamW(others, lr=RATE, betas=(0.9, 0.98), weight_decay=0.01, fused=True),
        ]

    def step(self, rate: float) -> None:
        """Clips the gradients, updates all parameters and clears the gradients."""
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        for optimiser in self.each:
            for group in optimiser.param_groups:
                group["lr"] = rate * (MUON_FACTOR if isinstance(optimiser, Muon) else 1)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)

    def state(self) -> list[dict[str, Any]]:
        """Returns what a checkpoint must keep."""
        return [optimiser.state_dict() for optimiser in self.each]

    def load(self, states: Sequence[dict[str, Any]]) -> None:
        """Restores what `state` returned."""
        for optimiser, state in zip(self.each, states, strict=True):
            optimiser.load_state_dict(state)


class Run:
    """A training run in a folder: model, optimisers, and how far it has come."""

    def __init__(self, folder: Path, seed: int, openers: str) -> None:
        self.folder, self.seed = folder, seed
        self.stages = curriculum.with_openers(openers)
        self.tokenizer = build.load_tokenizer()
        self.encoder = Encoder(self.tokenizer)
        self.model = build.make_model(self.tokenizer, seed)
        self.optimisers = Optimisers(self.model)
        self.stage, self.step, self.seconds = 0, 0, 0.0
        self.progress = Progress()
        self.checkpoint = folder / "checkpoint.pt"

    def save(self) -> None:
        """Writes the checkpoint, whole or not at all."""
        state = {
            "model": self.model.state_dict(),
            "optimisers": self.optimisers.state(),
            "stage": self.stage,
            "step": self.step,
            "seconds": self.seconds,
            "losses": self.progress.losses,
        }
        partial = self.checkpoint.with_suffix(".part")
        torch.save(state, partial)
        partial.replace(self.checkpoint)

    def resume(self) -> bool:
        """Loads the checkpoint if there is one."""
        if not self.checkpoint.exists():
            return False
        state = torch.load(self.checkpoint, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimisers.load(state["optimisers"])
        self.stage, self.step, self.seconds = state["stage"], state["step"], state["seconds"]
        self.progress.losses = state["losses"]
        return True

    def say(self, text: str) -> None:
        """Prints one line and appends it to the log."""
        with (self.folder / "log.txt").open("a", encoding="utf-8") as log:
            log.write(text + "\n")
        print(text, flush=True)


def train(run: Run) -> None:
    """Goes through the stages that are not yet done."""
    while run.stage < len(run.stages):
        train_stage(run, run.stages[run.stage])
        run.stage, run.step, run.progress = run.stage + 1, 0, Progress()
        run.save()
        shutil.copy(run.checkpoint, run.folder / f"after-{run.stages[run.stage - 1].name}.pt")


def train_stage(run: Run, stage: curriculum.Stage) -> None:
    """Trains one stage to its end, from wherever the checkpoint left it."""
    model = run.model.train()
    before = run.stages[run.stage - 1].rate if run.stage else 1.0
    while not is_over(stage, run.step, run.progress.losses):
        started = time.perf_counter()
        share = min(1.0, run.step / stage.steps)
        warm = min(1.0, (run.step + 1) / WARM_UP) if run.stage == 0 else 1.0
        batches = make_batches(stage, run.encoder, random.Random(f"{run.seed}/{stage.name}/{run.step}"))
        total = sum(float(batch.weights.sum()) for batch in batches)
        for batch in batches:
            (batch_loss(model, batch, run.progress) / total).backward()
        run.optimisers.step(RATE * warm * (before + (stage.rate - before) * share))
        run.step += 1
        run.seconds += time.perf_counter() - started
        if run.step % REPORT_EVERY == 0:
            run.say(f"{stage.name} {run.step}/{stage.steps} {run.seconds:.0f}s {run.progress} | {monitor(run)}")
        if run.step % SAVE_EVERY == 0:
            run.save()


def is_over(stage: curriculum.Stage, step: int, losses: Mapping[str, float]) -> bool:
    """Whether a stage ends before this step: its length is reached, and what it waits for is learnt or given up."""
    if step < stage.steps or step % CHECK_EVERY:
        return False
    learnt = all(losses.get(task, float("inf")) < loss for task, loss in stage.until.items())
    return learnt or step >= stage.most


def train_vision(run: Run) -> None:
    """Trains the vision tower alone: each image token names colour and shape of its cell, or their absence.

    Through the language model's loss alone the tower learns shapes very slowly.
    """
    tower = run.model.model.vision_tower.requires_grad_(requires_grad=True).train()
    colours, shapes = list(scenes.COLOURS), list(scenes.SHAPES)
    heads = torch.nn.Linear(tower.config.hidden_size, len(colours) + 1 + len(shapes) + 1)
    parameters = [*tower.parameters(), *heads.parameters()]
    optimiser = torch.optim.AdamW(parameters, lr=2e-3, betas=(0.9, 0.98), weight_decay=0.02)
    started = time.perf_counter()
    for step in range(VISION_STEPS):
        rate = 2e-3 * min(1.0, (step + 1) / WARM_UP, 0.02 + (VISION_STEPS - step) / (0.5 * VISION_STEPS))
        for group in optimiser.param_groups:
            group["lr"] = rate
        pixels, colour, shape = vision_batch(random.Random(f"{run.seed}/vision/{step}"), "train", 64)
        by_colour, by_shape = heads(tower(pixels).last_hidden_state).split([len(colours) + 1, len(shapes) + 1], dim=-1)
        loss = functional.cross_entropy(by_colour.flatten(0, 1), colour) + functional.cross_entropy(
            by_shape.flatten(0, 1), shape
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        if (step + 1) % REPORT_EVERY == 0:
            run.say(f"vision {step + 1}/{VISION_STEPS} {time.perf_counter() - started:.0f}s loss {loss.item():.3f}")
    pixels, colour, shape = vision_batch(random.Random(f"{run.seed}/vision/check"), "development", 500)
    with torch.no_grad():
        guesses = heads(tower(pixels).last_hidden_state).split([len(colours) + 1, len(shapes) + 1], dim=-1)
    filled = colour > 0
    right = [
        (g.flatten(0, 1).argmax(-1) == t)[filled].float().mean().item()
        for g, t in zip(guesses, (colour, shape), strict=True)
    ]
    run.say(f"vision on unseen scenes: colour {right[0]:.3f}, shape {right[1]:.3f}")
    tower.requires_grad_(requires_grad=False)
    run.seconds += time.perf_counter() - started


def vision_batch(rng: random.Random, split: scenes.Split, size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns pictures, and colour and shape of every cell; 0 is an empty cell."""
    drawn = [scenes.sample_scene(rng, split, (1, 2, 3, 3)) for _ in range(size)]
    labels = torch.zeros(2, size, 4, dtype=torch.long)
    for number, scene in enumerate(drawn):
        for thing in scene:
            labels[0, number, thing.cell] = 1 + list(scenes.COLOURS).index(thing.colour)
            labels[1, number, thing.cell] = 1 + scenes.SHAPES.index(thing.shape)
    return to_pixels([scenes.draw(scene, rng) for scene in drawn]), labels[0].flatten(), labels[1].flatten()


@torch.no_grad()
def monitor(run: Run, count: int = 150) -> str:
    """Returns the share of right ID scores on unseen scenes, in the favourite format without and with instruction."""
    run.model.eval()
    lines = []
    for ending in ("bare", "instruction"):
        rng, right = random.Random("monitor"), {category: [] for category in scenes.CATEGORIES}
        rows, pictures, truth = [], [], []
        for _ in range(count):
            scene = scenes.sample_scene(rng, "development")
            question = scenes.pick_question(scene, rng)
            assert question is not None
            choice = scenes.offer(question, scene, rng, 4)
            last = instruction(FAVOURITE, 4) if ending == "instruction" else ""
            rows.append(
                run.encoder.question(run.encoder.image + prompt(question.text, choice.options, FAVOURITE, last))
            )
            pictures.append(scenes.draw(scene, rng))
            truth.append((question.category, choice.answer_index))
        ids = run.encoder.pad_left_aligned(rows, run.encoder.pad, torch.long)
        states = run.model.model(input_ids=ids, pixel_values=to_pixels(pictures), use_cache=False).last_hidden_state
        ends = torch.tensor([len(row) - 1 for row in rows])
        scores = run.model.lm_head(states[torch.arange(count), ends])
        letters = [run.encoder.encode(i)[0] for i in FAVOURITE.ids(4)]
        for guess, (category, index) in zip(scores[:, letters].argmax(-1).tolist(), truth, strict=True):
            right[category].append(guess == index)
        overall = sum(map(sum, right.values())) / count
        parts = " ".join(f"{category} {np.mean(hits):.2f}" for category, hits in right.items())
        lines.append(f"{ending} {overall:.2f} ({parts})")
    run.model.train()
    return " | ".join(lines)


def export(run: Run, folder: Path) -> None:
    """Writes the model as bfloat16 safetensors, with everything that `from_pretrained` needs."""
    model = build.make_model(run.tokenizer, run.seed)
    model.load_state_dict(run.model.state_dict())
    model.to(torch.bfloat16).save_pretrained(folder)
    build.make_processor(run.tokenizer).save_pretrained(folder)
    facts = {
        "seed": run.seed,
        "openers": run.stages[0].openers,
        "minutes": run.seconds / 60,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
    }
    (folder / "training.json").write_text(json.dumps(facts) + "\n", encoding="utf-8")


def main() -> None:
    """Trains, or goes on where the checkpoint in `--out` stands."""
    parser = argparse.ArgumentParser(description="Train the demo model from nothing.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="folder of checkpoints, log and weights")
    parser.add_argument("--openers", choices=sorted(curriculum.OPENERS), default="plain")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    run = Run(arguments.out, arguments.seed, arguments.openers)
    if run.resume():
        run.say(f"going on at stage {run.stage}, step {run.step}")
    else:
        train_vision(run)
        run.save()
    train(run)
    export(run, arguments.out / "model")
    run.say(f"done in {run.seconds / 60:.1f} minutes of training: {arguments.out / 'model'}")


if __name__ == "__main__":
    main()
