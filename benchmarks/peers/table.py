"""The table of docs/peers.md, from the numbers of `results/peers.json` and `results/lm_eval.json`.

    python benchmarks/peers/table.py [--check]

writes it between the page's marks; `--check` exits 1 where it is stale. Standard library alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["page_with_table", "table"]

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "peers.md"
MARKS = ("<!-- table: written by benchmarks/peers/table.py -->", "<!-- end of table -->")
HEAD = ("peer", "version", "same work", "answers", "time")


def ratio(peer: float, ours: float) -> str:
    """How many times vqaudit's time the peer's is."""
    return f"{peer / ours:.2g}x" if peer / ours < 100 else f"{peer / ours:.0f}x"


def cpu(seconds: dict[str, dict[str, float]]) -> str:
    return ratio(seconds["peer"]["cpu"], seconds["vqaudit"]["cpu"])


def lm_eval_rows(path: Path) -> Iterator[tuple[str, ...]]:
    """One row a model, in wall time on free cores; a row that says so where `bench_lm_eval.py` has left no file."""
    name, version = "lm-evaluation-harness, `hf-multimodal`", "0.4.13"
    if not path.exists():
        yield name, version, "replies, demo and llava-style models", "see below", "not measured on free cores yet"
        return
    for row in json.loads(path.read_text(encoding="utf-8"))["results"]:
        if "equal_replies" in row:
            equal = f"{row['equal_replies']} of {row['trials']} equal"
            yield name, version, f"{row['trials']} replies, {row['model']} model", equal, f"{row['ratio']:.2g}x (wall)"


def lmms_eval_row(found: dict[str, Any]) -> tuple[str, ...]:
    equal = f"{found['equal']} of {found['trials']} equal"
    work = f"{found['trials']} replies, demo model"
    return "lmms-eval, `llava_hf` (chat)", found["versions"]["lmms-eval"], work, equal, cpu(found["seconds"])


def glance_rows(found: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    names = {"demo": "glance-vlm, any-model backend", "qwen2-vl-style": "glance-vlm, Qwen backend"}
    for model, name in names.items():
        part = found[model]
        same = part.get("same_event", part["as_it_comes"]).values()
        choices = f"{sum(row['same_choice'] for row in same)} of {sum(row['prompts'] for row in same)} choices equal"
        far = f"log-probabilities within {max(row['largest_difference_nats'] for row in same):.0e}"
        work = f"ID scores of {part['prompts']} prompts, {model} model"
        yield name, part["versions"]["glance-vlm"], work, f"{choices}, {far}", cpu(part["seconds"])


def option_order_row(found: dict[str, Any]) -> tuple[str, ...]:
    answers, seconds = found["answers"], found["seconds"]
    whole = {side: {"cpu": seconds[side]["cpu"] + seconds[side]["server_cpu"]} for side in ("peer", "vqaudit")}
    work = f"{answers['trials']} replies of one server"
    equal = f"{answers['equal']} of {answers['trials']} read alike"
    return "option-order-check", found["versions"]["option-order-check"], work, equal, cpu(whole)


def prompteval_rows(found: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for dataset, part in found.items():
        peer, plain = part["peer"]["grid_mae_pp"], part["plain_mean"]["grid_mae_pp"]
        errors = f"{peer:.2f} pp from the truth; vqaudit's plain mean {plain:.2f}"
        work = f"{part['estimates']} estimates of the grid accuracy, {dataset}'s cells, one pass"
        yield "PromptEval", "c238d64", work, errors, "–"


def promptstats_rows(found: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    version, ranks, effects = found["versions"]["promptstats"], found["ranks"], found["effects"]
    shares = f"shares within {ranks['largest_difference']:.3f}"
    work = f"ranks of {ranks['formats']} formats, {ranks['resamples']:,} resamples"
    yield "promptstats", version, work, shares, cpu(ranks["seconds"])
    equal = f"effects within {effects['largest_difference_pp']:.0e} pp"
    yield "promptstats", version, "mixed model of paper 1's 1,680 cells", equal, cpu(effects["seconds"])


def table(results: Path = RESULTS) -> str:
    """Returns the table in Markdown."""
    peers = json.loads((results / "peers.json").read_text(encoding="utf-8"))["peers"]
    rows = [
        *lm_eval_rows(results / "lm_eval.json"),
        lmms_eval_row(peers["lmms-eval"]),
        *glance_rows(peers["glance-vlm"]),
        option_order_row(peers["option-order-check"]),
        *prompteval_rows(peers["PromptEval"]),
        *promptstats_rows(peers["promptstats"]),
    ]
    lines = ["| " + " | ".join(cells) + " |" for cells in (HEAD, *rows)]
    lines.insert(1, "|" + "---|" * len(HEAD))
    return "\n".join(lines)


def page_with_table(page: str, results: Path = RESULTS) -> str:
    """Returns the page with the table that the results give."""
    before, _, rest = page.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n\n{table(results)}\n\n{MARKS[1]}{after}"


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    fresh = page_with_table(page)
    if "--check" in sys.argv[1:]:
        raise SystemExit(0 if fresh == page else f"{PAGE.name} is stale: python benchmarks/peers/table.py")
    PAGE.write_text(fresh, encoding="utf-8")


if __name__ == "__main__":
    main()
