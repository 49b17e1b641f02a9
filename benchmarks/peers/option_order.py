"""option-order-check beside vqaudit: the same server, questions and prompts, in all circular orders.

The peer sends text alone, so the server (`serve.py`) adds each question's picture, for both sides.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from peers.clock import HERE, Clock, ask_peer

import vqaudit as va
from vqaudit.analysis.estimates import mean_estimate
from vqaudit.engines.base import Engine
from vqaudit.engines.local import load_local
from vqaudit.engines.server import ServerEngine, ServerSpec
from vqaudit.items import demo_items, demo_model_path

ENDING = {"name": "option-order-check", "text": "\nAnswer with the letter of the correct option only.", "asks": "id"}
TOKENS = 8
"""Most new tokens of a reply: the peer's, in `OpenAICompatible.choose`."""


def measure(python: str, folder: Path, *, items: int) -> dict[str, Any]:
    """Returns both sides' answers compared, and their seconds with the server's."""
    dataset, pictures = _questions(items)
    (folder / "endings.json").write_text(json.dumps({"endings": [ENDING]}), encoding="utf-8")
    rows = [
        {"question": i.question, "options": list(i.options), "answer": i.answer, "image": str(i.images[0].path)}
        for i in pictures.items
    ]
    questions = folder / "questions.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with _serving(folder, questions) as (url, cpu):
        begun = cpu()
        peer = ask_peer(python, "run_option_order.py", folder / "peer.json", questions, url)
        between = cpu()
        _ours(_client(url), replace(dataset, items=dataset.items[:1]), folder / "warm")
        warm = cpu()
        served, seconds = _ours(_client(url), dataset, folder / "served")
        ended = cpu()
    local, alone = _ours(load_local(demo_model_path()), pictures, folder / "local")
    return {
        "versions": peer["versions"],
        "same_prompt": _prompt(served) == peer["prompt"],
        "answers": _compare(peer, served),
        "answers_local": _compare(peer, local),
        "figures": _figures(peer, served),
        "seconds": {
            "peer": peer["seconds"] | {"server_cpu": between - begun},
            "vqaudit": seconds | {"server_cpu": ended - warm},
            "vqaudit_local": alone,
        },
    }


def _questions(items: int) -> tuple[va.Dataset, va.Dataset]:
    """Returns demo questions without pictures, and the same with them.

    A trailing line break makes the peer's empty line. Of questions with the same words and options, which differ by
    their picture alone, the server could not tell which is asked: the first stays.
    """
    found = demo_items()
    first = {(item.question, *sorted(item.options)): item for item in reversed(found.items)}
    kept = [item for item in found.items if first[item.question, *sorted(item.options)] is item][:items]
    shown = tuple(replace(item, question=item.question.strip() + "\n") for item in kept)
    bare = tuple(replace(item, images=()) for item in shown)
    return replace(found, items=bare, name="demo questions"), replace(found, items=shown)


def _client(url: str) -> Engine:
    return ServerEngine("demo", ServerSpec(base_url=url, api_key_env="NO_KEY"))


def _ours(engine: Engine, dataset: va.Dataset, out: Path) -> tuple[va.Run, dict[str, float]]:
    clock = Clock()
    with clock:
        run = va.audit(
            engine,
            dataset,
            out=out,
            design="reference",
            interface=f"reply:{ENDING['name']}",
            endings=out.parent / "endings.json",
            noise_floor=0,
            budget=TOKENS,
            progress=False,
        )
        run.summary(details=False)
    engine.close()
    return run, clock.seconds


def _prompt(run: va.Run) -> str:
    tables = run.tables()
    natural, first = pl.col("order") == pl.col("order").list.sort(), pl.col("item") == tables.items["item"][0]
    first = tables.trials.filter(natural, first)
    return "".join(tables.segments()[name] for name in first["segments"][0])


def _compare(peer: dict[str, Any], run: va.Run) -> dict[str, Any]:
    """Trial by trial, the option that each side took; -1 where it took none.

    `equal` counts vqaudit's lenient reading, `equal_strict` its strict one, which takes a bare ID alone.
    """
    tables = run.tables()
    ours = {(row["item"], tuple(row["order"])): row for row in tables.trials.iter_rows(named=True)}
    strict, differ = 0, []
    for item, picks in zip(tables.items["item"], peer["picks"], strict=True):
        for turn, pick in enumerate(picks):
            row = ours[item, tuple((place + turn) % len(picks) for place in range(len(picks)))]
            strict += pick == (-1 if row["chosen"] is None else row["chosen"])
            mine = -1 if row["lenient_chosen"] is None else row["lenient_chosen"]
            if mine != pick:
                differ.append({"reply": row["reply"], "peer": pick, "vqaudit": mine, "why": row["lenient_reason"]})
    trials = len(ours)
    causes = Counter(_cause(row) for row in differ)
    return {
        "trials": trials,
        "equal": trials - len(differ),
        "equal_strict": strict,
        "causes": dict(causes.most_common()),
        "differ": differ[:12],
    }


def _cause(row: dict[str, Any]) -> str:
    """Says why two readings of one reply differ; the peer takes the first lone letter of the reply in capitals."""
    reply = row["reply"].strip()
    match = re.search(r"\b([A-H])\b", reply.upper())
    letter = reply[match.start()] if match else ""
    if match and letter == "a" and re.match(r" \w", reply[match.end() :]):
        return "the peer takes an `a` before a word, which may be the article, for A"
    if letter.islower():
        return "the peer takes a small letter for the capital one; vqaudit does not"
    if row["vqaudit"] == -1:
        return "vqaudit takes no letter that an unfinished sentence begins with, or beside another option's text"
    return "vqaudit takes the option that the reply names by its text" if row["peer"] == -1 else "other"


def _figures(peer: dict[str, Any], run: va.Run) -> dict[str, Any]:
    """The peer's report, vqaudit's figures of its own readings, and its interval for the peer's readings."""
    summary = run.summary(details=False)
    items = run.tables().items
    right = [
        (place, pick == answer)
        for place, (picks, answer) in enumerate(zip(peer["picks"], items["answer"], strict=True))
        for pick in picks
    ]
    interval = mean_estimate([float(hit) for _, hit in right], clusters=[place for place, _ in right])
    return {
        "peer": peer["report"],
        "vqaudit_interval_of_peer_accuracy": interval.to_dict(),
        "vqaudit_lenient": summary.lenient_accuracy.to_dict() if summary.lenient_accuracy else None,
        "vqaudit_strict_circular": summary.strict_circular.to_dict() if summary.strict_circular else None,
        "vqaudit_coverage": summary.coverage.to_dict() if summary.coverage else None,
    }


@contextmanager
def _serving(folder: Path, questions: Path) -> Iterator[tuple[str, Any]]:
    """Yields the address, and what returns the server's CPU seconds so far."""
    with (folder / "server.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, HERE / "serve.py", demo_model_path(), questions],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    port = process.stdout.readline().strip()
    if not port:
        raise SystemExit(f"the server did not start: {(folder / 'server.log').read_text(encoding='utf-8')[-2000:]}")
    os.environ.setdefault("NO_KEY", "none")

    def cpu() -> float:
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    try:
        yield f"http://127.0.0.1:{port}/v1", cpu
    finally:
        process.terminate()
        process.wait(10)
