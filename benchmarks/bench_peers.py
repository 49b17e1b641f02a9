"""Peers measured on the same work as vqaudit: `docs/peers.md` is written from what this gives.

    python benchmarks/bench_peers.py --peer NAME=VENV/bin/python [--peer ...] [--json FILE] [--quick]

Each peer runs in an environment of its own:

option-order-check   `pip install option-order-check==0.1.0`
glance-vlm           `pip install torch transformers pillow scipy pydantic pyyaml python-dotenv accelerate`, then
                     `pip install --no-deps glance-vlm==0.3.1`; its torchvision is not needed for what is measured
lmms-eval            `pip install torch transformers pillow accelerate loguru tqdm decord datasets evaluate httpx
                     pytablewriter tenacity pyyaml sacrebleu jinja2`, then `pip install --no-deps lmms-eval==0.7.3`
PromptEval           a copy of its repository (`--prompteval FOLDER`) and `pip install numpy scikit-learn tqdm`
promptstats          `pip install promptstats==0.1.9`

torch and transformers are the same as here. Each side's work is timed in one process, right after the other's; CPU
seconds are user and system time. Set OMP_NUM_THREADS=1 for both. Peers that are not named keep what `--json FILE`
already holds. lm-evaluation-harness has a benchmark of its own, `bench_lm_eval.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from peers import few_trials, id_probabilities, option_order, ranks_and_effects, replies

DATASETS = ("HR-Bench-4K", "V*Bench")
"""Where PromptEval is measured: the small ones, in which one pass leaves most to be estimated."""


def measures(arguments: argparse.Namespace) -> dict[str, Callable[[str, Path], dict[str, Any]]]:
    """Peer -> what measures it, given its Python and a folder."""
    quick = arguments.quick

    def prompteval(python: str, folder: Path) -> dict[str, Any]:
        if arguments.prompteval is None:
            raise SystemExit("PromptEval is no package; give a copy of its repository with --prompteval FOLDER")
        repeats = 2 if quick else 5
        return {
            name: few_trials.measure(python, folder, dataset=name, repeats=repeats, checkout=arguments.prompteval)
            for name in DATASETS
        }

    return {
        "option-order-check": lambda python, folder: option_order.measure(python, folder, items=2 if quick else 60),
        "glance-vlm": lambda python, folder: id_probabilities.measure(python, folder, items=1 if quick else 5),
        "lmms-eval": lambda python, folder: replies.measure(python, folder, items=1 if quick else 3),
        "PromptEval": prompteval,
        "promptstats": lambda python, folder: ranks_and_effects.measure(
            python, folder, items=5 if quick else 30, repeats=20 if quick else 500
        ),
    }


def kept(path: Path | None) -> dict[str, Any]:
    if path is None or not path.exists():
        return {"peers": {}}
    return json.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Peers measured on the same work.")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--prompteval", type=Path, help="a copy of PromptEval's repository")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    known, report = measures(arguments), kept(arguments.json)
    for entry in arguments.peer:
        name, _, python = entry.partition("=")
        if name not in known or not python:
            raise SystemExit(f"--peer {entry!r} is not NAME=PYTHON with NAME one of {', '.join(known)}")
        with tempfile.TemporaryDirectory() as folder:
            report["peers"][name] = known[name](python, Path(folder))
        print(name, json.dumps(report["peers"][name].get("seconds", "")), flush=True)
        report |= {
            "machine": platform.machine(),
            "threads": os.environ.get("OMP_NUM_THREADS"),
            "versions": {package: version(package) for package in ("vqaudit", "torch", "transformers", "numpy")},
        }
        if arguments.json:
            arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
