"""Another harness's log: read it anew, and split the difference to a second score into its causes.

python examples/04_read_another_harness.py        needs no extra
"""

import json
from pathlib import Path

from vqaudit.analysis.diff import diff_runs
from vqaudit.auditing import open_run
from vqaudit.logs import read_log, write_run

FOLDER = Path("runs/examples/logs")
FOLDER.mkdir(parents=True, exist_ok=True)
OPTIONS = ["a red bus", "a blue van", "a green car", "a white boat"]


def sample(number: int, reply: str) -> dict[str, object]:
    """One line as lm-evaluation-harness logs it (`--log_samples`), of a task that generates and compares exactly."""
    gold = "ABCD"[number % 4]
    listed = "\n".join(f"{letter}. {text}" for letter, text in zip("ABCD", OPTIONS, strict=True))
    prompt = f"What is in picture {number}?\n{listed}\nAnswer with the letter."
    return {
        "doc_id": number,
        "doc": {"question": f"What is in picture {number}?", "choices": OPTIONS, "answer": gold},
        "target": gold,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["\n\n"], "do_sample": False}}},
        "resps": [[reply]],
        "filtered_resps": [reply],
        "filter": "none",
        "exact_match": float(reply == gold),
    }


def write_log(name: str, replies: list[str]) -> Path:
    """A log of one reply per sample."""
    path = FOLDER / f"samples_{name}.jsonl"
    lines = (json.dumps(sample(number, reply)) + "\n" for number, reply in enumerate(replies))
    path.write_text("".join(lines), encoding="utf-8")
    return path


# 40 samples that the model knows but for every fifth. It answers with letter *and* text in half of its replies, which
# exact match counts as wrong. A second run of the same prompts answers otherwise in two places.
known = [number % 4 if number % 5 else (number + 1) % 4 for number in range(40)]
replies = ["ABCD"[k] if number % 2 else f"{'ABCD'[k]}. {OPTIONS[k]}" for number, k in enumerate(known)]
again = [("A" if number in (5, 9) else reply) for number, reply in enumerate(replies)]

runs = {}
for name, answers in {"first": replies, "again": again}.items():
    log = read_log(write_log(name, answers))
    write_run(log, FOLDER / name, source=f"samples_{name}.jsonl", model="someone/their-vlm")
    runs[name] = open_run(FOLDER / name).tables()

# An imported run is a run as any other: summary, report and compare work on it. Beside our reading stands the log's.
found = open_run(FOLDER / "first").summary(details=False).as_logged
print("as the log scored it", found.accuracy)
print("read anew           ", found.reread)
print("replies that are an option to the character, and were not read as it:", found.misread_verbatim)

# Why does the log's own score differ from ours? All of it is how replies were read; no reply changed.
split = diff_runs(runs["first"], runs["first"], scores=("logged", "reading"))
print("\n".join(split.statements))

# And between the two runs, both read by us: the same prompts got other replies.
split = diff_runs(runs["first"], runs["again"], scores=("reading", "reading"))
print("\n".join(split.statements))
for part in split.parts:
    print(f"  {part.cause:<9}", part.difference, f"gained {part.gained}, lost {part.lost}")
