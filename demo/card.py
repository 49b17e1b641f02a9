"""Puts a trained model into the package, with its card: `python demo/card.py --run demo/runs/seed0`.

Knows the run folder with its log, the curriculum and the table that `evaluate.py` wrote. Measures nothing itself.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import curriculum
from wording import FORMATS

DATA = Path(__file__).resolve().parents[1] / "src" / "vqaudit" / "demo_data"
ONE_IN = 20
"""Of the rows of a training, one in so many is drawn to count the mix."""

HEAD = """---
license: apache-2.0
library_name: transformers
pipeline_tag: image-text-to-text
---
# vqaudit's demo model (seed {seed}, openings of rationales: {openers})

A vision-language model with {parameters:,} parameters, trained from nothing on generated pictures of one to four
coloured shapes. It exists to be audited: it answers well in the format it knows, and shows what formats and scoring
interfaces do to a score. It is of no other use. Stock `LlavaForConditionalGeneration` (SigLIP tower, Qwen2 decoder),
bfloat16, no custom code.

Made by `python demo/train.py --seed {seed} --openers {openers} --out ...` in {minutes:.0f} minutes on one CPU thread,
in float32. No training row pairs the reasoning cue with an immediate ID, and none is built to make an ID wrong. Scenes
are split by a hash of which colour and shape stand in which cell: what the packaged items show was never drawn in
training.
"""


def taken(stages: Sequence[curriculum.Stage], log: str) -> tuple[curriculum.Stage, ...]:
    """Returns the stages with the steps that were taken: some go on until what they teach is learnt.

    A stage is reported and ends at multiples of 100 steps, so that its last line tells how long it was.
    """
    last = {name: int(steps) for name, steps in re.findall(r"^(\w+) (\d+)/\d+ ", log, flags=re.MULTILINE)}
    return tuple(replace(stage, steps=last[stage.name]) for stage in stages)


def draw_mix(stages: Sequence[curriculum.Stage]) -> dict[str, Counter[str]]:
    """Draws a share of the training rows and counts them by task, format, opening and number of objects."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("task", "format", "opening", "objects")}
    rng = random.Random("card")
    for stage in stages:
        for _ in range(stage.steps * stage.batch // ONE_IN):
            task, row = curriculum.make_row(stage, rng)
            counts["task"][task] += 1
            counts["format"].update(turn.form.name for turn in row.turns if turn.form)
            if row.opener is not None:
                counts["opening"][row.opener or '(the evidence itself: "The circle is red.")'] += 1
            counts["objects"]["no picture" if row.scene is None else str(len(row.scene))] += 1
    return counts


def mix_lines(stages: Sequence[curriculum.Stage]) -> Iterator[str]:
    """Yields the section on the training mix."""
    counts = draw_mix(stages)
    rows = sum(stage.steps * stage.batch for stage in stages)
    yield f"\n## Training mix\n{rows:,} rows in {len(stages)} stages; shares counted on one row in {ONE_IN}.\n"
    yield "| stage | steps | rows by task |\n|---|---|---|"
    for stage in stages:
        total = sum(stage.tasks.values())
        shares = ", ".join(f"{task} {share / total:.0%}" for task, share in stage.tasks.items())
        yield f"| {stage.name} | {stage.steps} x {stage.batch} | {shares} |"
    what = {"format": "lists of options", "opening": "rationales", "objects": "rows", "task": "rows"}
    for name, counted in counts.items():
        total = counted.total()
        yield f"\n| by {name} | share of {what[name]} |\n|---|---|"
        yield from (f"| `{key}` | {number / total:.1%} |" for key, number in counted.most_common())
    never = [form.name for form in FORMATS if form.name not in counts["format"]]
    yield f"\nFormats never trained ({len(never)} of {len(FORMATS)}): {', '.join(f'`{name}`' for name in never)}."


def table_lines(results: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yields the measured table."""
    yield "\n## Measured\nBy `demo/evaluate.py` with transformers, on scenes never drawn in training; from 0 to 1."
    for title, lines in results.items():
        yield f"\n### {title[0].upper()}{title[1:]}\n\n| what | value |\n|---|---|"
        for name, value in lines.items():
            shown = value if isinstance(value, str | int) else f"{value:.3f}"
            yield f"| {name} | {shown} |"


def publish(run: Path, results: Path, target: Path, note: str) -> None:
    """Copies the model files and writes the card."""
    facts = json.loads((run / "model" / "training.json").read_text(encoding="utf-8"))
    stages = taken(curriculum.with_openers(facts["openers"]), (run / "log.txt").read_text(encoding="utf-8"))
    lines = [HEAD.format(**facts) + (f"\n{note}" if note else ""), *mix_lines(stages)]
    lines += table_lines(json.loads(results.read_text(encoding="utf-8")))
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(run / "model", target, ignore=shutil.ignore_patterns("training.json"))
    (target / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Publishes a run into the package, or elsewhere with `--to`."""
    parser = argparse.ArgumentParser(description="Put a trained model and its card into the package.")
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--table", type=Path, help="written by evaluate.py --json; default: table.json of the run")
    parser.add_argument("--to", type=Path, default=DATA / "model")
    parser.add_argument("--note", default="", help="what a reader must know about this run beside the command")
    arguments = parser.parse_args()
    publish(arguments.run, arguments.table or arguments.run / "table.json", arguments.to, arguments.note)


if __name__ == "__main__":
    main()
