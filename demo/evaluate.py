"""Prints the table of the model card: `python demo/evaluate.py`.

Knows a model folder and the packaged items, and asks them with stock transformers. Knows nothing of vqaudit, so that
its numbers stand beside those of the package and check them.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from transformers import AutoModelForImageTextToText, AutoProcessor

import scenes
from wording import CUE, FAVOURITE, FORMATS, Format, instruction, prompt

DATA = Path(__file__).resolve().parents[1] / "src" / "vqaudit" / "demo_data"
BATCH = 100
FREE_TOKENS = 70


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A question as it is asked."""

    question: str
    options: tuple[str, ...]
    answer: int
    category: str
    objects: int
    image: Image.Image


class Scores(NamedTuple):
    """Next-token reading of a batch of prompts."""

    chosen: np.ndarray
    """Position of the ID with the highest score."""
    mass: np.ndarray
    """Probability that the next token is any shown ID, bare or after a space."""
    states: torch.Tensor
    """What the output embedding multiplies."""


def packaged_items(folder: Path) -> list[Item]:
    """Reads the items that the package carries."""
    items = []
    for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        items.append(
            Item(
                question=row["question"],
                options=tuple(row["options"]),
                answer="ABCDE".index(row["answer"]),
                category=row["category"],
                objects=row["objects"],
                image=Image.open(folder / row["image"]).convert("RGB"),
            )
        )
    return items


def generated_items(count: int, split: scenes.Split, seed: int) -> list[Item]:
    """Draws further 4-option items of a split that training never saw."""
    rng, items = random.Random(seed), []
    for _ in range(count):
        scene = scenes.sample_scene(rng, split)
        question = scenes.pick_question(scene, rng)
        assert question is not None
        choice = scenes.offer(question, scene, rng, 4)
        items.append(
            Item(
                question=question.text,
                options=choice.options,
                answer=choice.answer_index,
                category=question.category,
                objects=len(scene),
                image=Image.fromarray(scenes.draw(scene, rng)),
            )
        )
    return items


class Model:
    """A model folder, loaded as any user would load it."""

    def __init__(self, folder: Path) -> None:
        self.processor = AutoProcessor.from_pretrained(folder)
        self.model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()

    def _inputs(self, items: Sequence[Item], texts: Sequence[str]) -> Any:
        chats = [
            self.processor.apply_chat_template(
                [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": text}]}],
                add_generation_prompt=True,
            )
            for text in texts
        ]
        images = [item.image for item in items]
        return self.processor(images=images, text=chats, padding=True, return_tensors="pt")

    @torch.no_grad()
    def replies(self, items: Sequence[Item], texts: Sequence[str], limit: int) -> list[str]:
        """Returns greedy replies, stripped."""
        found: list[str] = []
        for start in range(0, len(items), BATCH):
            inputs = self._inputs(items[start : start + BATCH], texts[start : start + BATCH])
            tokens = self.model.generate(**inputs, max_new_tokens=limit, do_sample=False)
            new = tokens[:, inputs["input_ids"].shape[1] :]
            found += [reply.strip() for reply in self.processor.batch_decode(new, skip_special_tokens=True)]
        return found

    @torch.no_grad()
    def scores(self, items: Sequence[Item], texts: Sequence[str], form: Format) -> Scores:
        """Reads the next token: which shown ID is likeliest, and how likely any is."""
        chosen, mass, states = [], [], []
        for start in range(0, len(items), BATCH):
            part = items[start : start + BATCH]
            state = self.model.model(**self._inputs(part, texts[start : start + BATCH])).last_hidden_state[:, -1]
            likely = self.model.lm_head(state).float().softmax(-1)
            for item, row in zip(part, likely, strict=True):
                ids = [row[self._spellings(option_id)].sum().item() for option_id in form.ids(len(item.options))]
                chosen.append(int(np.argmax(ids)))
                mass.append(sum(ids))
            states.append(state)
        return Scores(np.array(chosen), np.array(mass), torch.cat(states))

    def _spellings(self, option_id: str) -> list[int]:
        encode = self.processor.tokenizer.encode
        return [encode(text, add_special_tokens=False)[0] for text in (option_id, f" {option_id}")]


def texts_of(items: Sequence[Item], form: Format, ending: str) -> list[str]:
    """Returns prompts; the ending is `instruction`, `bare` or `cue`."""
    ends = {"bare": "", "cue": CUE}
    return [
        prompt(
            item.question, item.options, form, ends[ending] if ending in ends else instruction(form, len(item.options))
        )
        for item in items
    ]


def answers(items: Sequence[Item]) -> np.ndarray:
    """Returns the positions of the right options."""
    return np.array([item.answer for item in items])


def favourite(model: Model, items: Sequence[Item]) -> dict[str, Any]:
    """Accuracy of exact replies in the favourite format, by category and number of objects, and without the picture."""
    texts, truth = texts_of(items, FAVOURITE, "instruction"), answers(items)
    right = model.scores(items, texts, FAVOURITE).chosen == truth
    replies = model.replies(items, texts, 2)
    exact = np.array([r == FAVOURITE.ids(5)[t] for r, t in zip(replies, truth, strict=True)])
    groups: dict[str, list[bool]] = defaultdict(list)
    for item, hit in zip(items, exact, strict=True):
        groups[item.category].append(hit)
        groups[f"{item.objects} objects"].append(hit)
        if item.objects > 2:
            groups["3 or 4 objects"].append(hit)
    moved = [_with_image(item, items[(i + 7) % len(items)].image) for i, item in enumerate(items)]
    blank = [_with_image(item, Image.new("RGB", (scenes.SIZE, scenes.SIZE), (235, 235, 235))) for item in items]
    return {
        "items": len(items),
        "exact replies": exact.mean(),
        "ID scores": right.mean(),
        **{name: f"{np.mean(hits):.3f} (n={len(hits)})" for name, hits in sorted(groups.items())},
        "another picture, ID scores": (model.scores(moved, texts, FAVOURITE).chosen == truth).mean(),
        "blank picture, ID scores": (model.scores(blank, texts, FAVOURITE).chosen == truth).mean(),
    }


def _with_image(item: Item, image: Image.Image) -> Item:
    return Item(
        question=item.question,
        options=item.options,
        answer=item.answer,
        category=item.category,
        objects=item.objects,
        image=image,
    )


def grid(model: Model, items: Sequence[Item]) -> dict[str, dict[str, float]]:
    """Exact accuracy, coverage, accuracy of ID scores and first-position rate in each of the 48 formats."""
    truth, table = answers(items), {}
    for form in FORMATS:
        texts = texts_of(items, form, "instruction")
        replies, scores = model.replies(items, texts, 2), model.scores(items, texts, form)
        shown = [form.ids(len(item.options)) for item in items]
        table[form.name] = {
            "exact": np.mean([r == ids[t] for r, ids, t in zip(replies, shown, truth, strict=True)]),
            "coverage": np.mean([r in ids for r, ids in zip(replies, shown, strict=True)]),
            "ID scores": (scores.chosen == truth).mean(),
            "first": (scores.chosen == 0).mean(),
        }
    return table


def summarise(table: dict[str, dict[str, float]]) -> dict[str, str]:
    """Returns smallest, mean and largest value over the formats, and the means for each ID set."""
    lines = {}
    for measure in ("exact", "ID scores", "coverage"):
        values = [row[measure] for row in table.values()]
        lines[f"{measure}: min / mean / max"] = f"{min(values):.3f} / {np.mean(values):.3f} / {max(values):.3f}"
    for axis in range(3):
        for name in dict.fromkeys(form[axis] for form in FORMATS):
            rows = [table[form.name] for form in FORMATS if form[axis] == name]
            lines[name] = ", ".join(
                f"{m} {np.mean([row[m] for row in rows]):.3f}" for m in ("exact", "ID scores", "coverage")
            )
    return lines


def read_conclusion(reply: str, ids: Sequence[str]) -> int:
    """Returns the position that a rationale ends with, or -1; nothing is guessed."""
    found = re.findall(r"answer is \(?([A-Za-z0-9]+)", reply)
    return ids.index(found[-1]) if found and found[-1] in ids else -1


def reasoning(model: Model, items: Sequence[Item], form: Format) -> dict[str, Any]:
    """ID scores without and right after the cue, and free generation after it."""
    truth, lines = answers(items), {"answers at the first position": (answers(items) == 0).mean()}
    for ending in ("bare", "cue"):
        scores = model.scores(items, texts_of(items, form, ending), form)
        lines[f"{ending}: ID scores"] = (scores.chosen == truth).mean()
        lines[f"{ending}: first position"] = (scores.chosen == 0).mean()
        lines[f"{ending}: ID mass"] = scores.mass.mean()
    replies = model.replies(items, texts_of(items, form, "cue"), FREE_TOKENS)
    read = np.array([read_conclusion(r, form.ids(len(i.options))) for r, i in zip(replies, items, strict=True)])
    lines["cue: free generation"] = (read == truth).mean()
    lines["cue: readable"] = (read >= 0).mean()
    lines["cue: first reply"] = replies[0]
    return lines


def probe(model: Model, items: Sequence[Item], count: int) -> dict[str, float]:
    """Accuracy of one linear map from the last state, fitted on scenes that neither training nor test has."""
    fitted, lines = generated_items(count, "development", seed=1), {}
    for ending in ("bare", "cue"):
        known = model.scores(fitted, texts_of(fitted, FAVOURITE, ending), FAVOURITE).states
        unknown = model.scores(items, texts_of(items, FAVOURITE, ending), FAVOURITE).states
        weights = fit_linear(known, torch.tensor(answers(fitted)))
        guesses = (unknown @ weights.T).argmax(-1).numpy()
        lines[f"{ending}: probe"] = float((guesses == answers(items)).mean())
    return lines


def fit_linear(states: torch.Tensor, targets: torch.Tensor, decay: float = 1e-3) -> torch.Tensor:
    """Returns the weights of a logistic regression without bias, fitted by L-BFGS on standardised states."""
    scale = states.std(0) + 1e-6
    weights = torch.zeros(4, states.shape[1], requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(states / scale @ weights.T, targets) + decay * weights.square().sum()
        loss.backward()
        return loss

    optimiser.step(closure)
    return weights.detach() / scale


def show(title: str, lines: dict[str, Any]) -> None:
    """Prints a block of the table."""
    print(f"\n## {title}")
    for name, value in lines.items():
        print(f"{name:36s} {value if isinstance(value, str) else round(float(value), 3)}", flush=True)


def evaluate(model: Model, folder: Path, generated: int, fitted: int) -> dict[str, Any]:
    """Measures and prints everything; returns it for `--json`."""
    packaged = packaged_items(folder)
    four = [item for item in packaged if len(item.options) == 4]
    more = generated_items(generated, "held_out", seed=2)
    results: dict[str, Any] = {}

    def add(title: str, lines: dict[str, Any]) -> None:
        results[title] = lines
        show(title, lines)

    add("favourite format, packaged 4-option items", favourite(model, four))
    add("favourite format, further held-out items", favourite(model, more))
    for name in ("upper/dot/line_break", "lower/bracket/line_break", "number/dot/line_break", "roman/dot/line_break"):
        form = next(f for f in FORMATS if f.name == name)
        add(f"reasoning cue, {name}, further held-out items", reasoning(model, more, form))
    add("linear probe, further held-out items", probe(model, more, fitted))
    table = grid(model, packaged)
    add("48 formats, packaged items", summarise(table))
    add("each format", {name: ", ".join(f"{m} {v:.3f}" for m, v in row.items()) for name, row in table.items()})
    return results


def main() -> None:
    """Evaluates the packaged model, or another folder."""
    parser = argparse.ArgumentParser(description="Print the table of the demo model.")
    parser.add_argument("--model", type=Path, default=DATA / "model")
    parser.add_argument("--items", type=Path, default=DATA)
    parser.add_argument("--generated", type=int, default=600, help="further held-out items")
    parser.add_argument("--fitted", type=int, default=1500, help="items on which the probe is fitted")
    parser.add_argument("--json", type=Path, help="also write the table here")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results = evaluate(Model(arguments.model), arguments.items, arguments.generated, arguments.fitted)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, default=float) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
