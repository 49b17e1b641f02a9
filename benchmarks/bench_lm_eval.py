"""The same model, items and prompts through lm-evaluation-harness's `hf-multimodal` and through vqaudit.

    python benchmarks/bench_lm_eval.py --peer VENV/bin/python [--items 10] [--json FILE] [--quick]

VENV is an environment of the peer's own: `pip install lm-eval==0.4.13 torch transformers num2words pillow`, with the
same torch and transformers as here. Without `--peer`, vqaudit's side alone is run. Each side asks every item in 48
formats and all circular orders, ten new tokens a reply. Models: the packaged one (four picture tokens: little to share)
and a LLaVA of random weights with 576 picture tokens (`prefix_models.py`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from peers.work import Work, do_work
from prefix_models import save

from vqaudit.engines.local import LocalSpec, load_local
from vqaudit.items import demo_items, demo_model_path

SCRIPT = Path(__file__).parent / "peers" / "lm_eval_replies.py"


def compare(work: Work, answered: dict[str, Any]) -> dict[str, Any]:
    """How many replies are equal, and how clear vqaudit's first token was where they are not."""
    ours = pl.read_parquet(work.prompts).select("trial", "reply", "margin")
    theirs = pl.DataFrame({"trial": list(answered["replies"]), "theirs": list(answered["replies"].values())})
    both = ours.join(theirs, on="trial").with_columns(
        same=pl.col("reply").str.strip_chars() == pl.col("theirs").str.strip_chars()
    )
    differ = both.filter(~pl.col("same"))
    for row in differ.head(10).iter_rows(named=True):
        print("  differs:", row)
    return {
        "trials": work.trials,
        "seconds_vqaudit": work.seconds,
        "seconds_peer": answered["seconds"],
        "ratio": answered["seconds"] / work.seconds,
        "equal_replies": both.height - differ.height,
        "different_replies": differ.height,
        "largest_margin_where_different": differ["margin"].max(),
        "versions": answered["versions"],
    }


def ask_peer(python: str, model: Path, work: Work, folder: Path) -> dict[str, Any]:
    out = folder / "peer.json"
    subprocess.run([python, SCRIPT, model, work.prompts, out], check=True, capture_output=True)
    return json.loads(out.read_text(encoding="utf-8"))


def models(folder: Path) -> dict[str, Path]:
    items = demo_items().items
    texts = [text for item in items for text in (item.question, *item.options)]
    save("llava-style", folder / "llava", [*texts, "Answer with the option's letter, number or roman number from the"])
    return {"demo": demo_model_path(), "llava-style": folder / "llava"}


def main() -> None:
    parser = argparse.ArgumentParser(description="vqaudit beside lm-evaluation-harness.")
    parser.add_argument("--peer", help="the Python of the peer's environment")
    parser.add_argument("--items", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="one item")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as name:
        for model, path in models(Path(name)).items():
            folder = Path(name) / f"work-{model}"
            folder.mkdir()
            limit = 1 if arguments.quick else arguments.items if model == "demo" else max(1, arguments.items // 5)
            engine = load_local(path, spec=LocalSpec())
            work = do_work(engine, demo_items(limit=limit), folder)
            engine.close()
            row = {"model": model, "items": limit, "trials": work.trials, "seconds_vqaudit": work.seconds}
            if arguments.peer:
                row |= compare(work, ask_peer(arguments.peer, path, work, folder))
            print(row, flush=True)
            results.append(row)
    if arguments.json:
        arguments.json.write_text(json.dumps({"results": results}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
