"""lmms-eval beside vqaudit: greedy replies of ten new tokens to the same prompts on the same model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from peers.clock import Clock, ask_peer
from peers.work import do_work

from vqaudit.engines.local import load_local
from vqaudit.items import demo_items, demo_model_path

__all__ = ["measure"]


def measure(python: str, folder: Path, *, items: int) -> dict[str, Any]:
    """Returns both sides' replies compared, and their seconds."""
    (folder / "warm").mkdir()
    engine = load_local(demo_model_path())
    do_work(engine, demo_items(limit=1), folder / "warm")
    engine.close()
    engine, clock = load_local(demo_model_path()), Clock()
    with clock:
        prompts = do_work(engine, demo_items(limit=items), folder).prompts
    engine.close()
    peer = ask_peer(python, "run_lmms_eval.py", folder / "peer.json", demo_model_path(), prompts)
    ours = pl.read_parquet(prompts).select("trial", "reply", "margin")
    theirs = pl.DataFrame({"trial": list(peer["replies"]), "theirs": list(peer["replies"].values())})
    both = ours.join(theirs, on="trial", how="left")
    differ = both.filter(pl.col("reply").str.strip_chars() != pl.col("theirs").str.strip_chars())
    return {
        "versions": peer["versions"],
        "class": peer["class"],
        "trials": both.height,
        "equal": both.height - differ.height,
        "differ": differ.head(10).to_dicts(),
        "largest_margin_where_different": differ["margin"].max(),
        "seconds": {"peer": peer["seconds"], "vqaudit": clock.seconds},
    }
