"""Real servers on loopback, where their programs are installed; slow, and skipped with a reason elsewhere."""

import math
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest

import vqaudit as va
from vqaudit.engines.base import Generation, IDScores, Reply
from vqaudit.engines.server import ServerEngine, ServerSpec
from vqaudit.errors import UnsupportedEvent
from vqaudit.items import demo_items, load_items

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

DEMO = str(files("vqaudit") / "demo_data" / "model")
SMOLLM2 = os.environ.get("VQAUDIT_SMOLLM2", "")
"""A GGUF file of SmolLM2-135M-Instruct."""
PYTHONS = {
    name: os.environ.get(variable, "")
    for name, variable in (("transformers", "VQAUDIT_TRANSFORMERS_PYTHON"), ("llama", "VQAUDIT_LLAMA_PYTHON"))
}
"""Interpreters that have `transformers[serving]` and `llama-cpp-python[server]`."""


@contextmanager
def server(python: str, *arguments: str) -> Iterator[str]:
    """Starts a server program; yields its base URL when it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", *arguments, "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/v1"
    try:
        for _ in range(240):
            assert process.poll() is None, f"{command} ended with {process.returncode}"
            try:
                with urllib.request.urlopen(f"{url}/models", timeout=5):
                    break
            except OSError:
                time.sleep(0.5)
        yield url
    finally:
        process.terminate()
        process.wait(20)


def open_engine(url: str, model: str, **spec) -> ServerEngine:
    return ServerEngine(model, ServerSpec(base_url=url, api_key_env="NOT_SET", concurrency=2, **spec))


@pytest.mark.skipif(not PYTHONS["transformers"], reason="VQAUDIT_TRANSFORMERS_PYTHON names no interpreter")
def test_transformers_serve_replies_as_the_local_engine_does(tmp_path: Path) -> None:
    arguments = ("transformers.cli.transformers", "serve", "--device", "cpu", DEMO)
    with server(PYTHONS["transformers"], *arguments) as url:
        engine = open_engine(url, DEMO)
        engine.check([Reply(vocabulary=("A", "B")), Generation()])
        with pytest.raises(UnsupportedEvent, match="no log-probabilities"):
            engine.check([IDScores()])
        there = va.audit(engine, demo_items(limit=30), out=tmp_path / "there", progress=False, noise_floor=10)
        engine.close()
    here = va.audit("demo", demo_items(limit=30), out=tmp_path / "here", progress=False)
    both = here.tables().trials.join(there.tables().trials, on="trial", suffix="_there")
    assert both.height == 30
    assert (both["reply"] == both["reply_there"]).all()
    assert there.summary(details=False).noise_floor.changed.value == 0.0


@pytest.mark.skipif(not PYTHONS["llama"] or not SMOLLM2, reason="VQAUDIT_LLAMA_PYTHON or VQAUDIT_SMOLLM2 not set")
def test_id_scores_of_a_llama_server_are_those_of_the_local_engine_on_the_same_file(tmp_path: Path) -> None:
    data = Path(__file__).parents[2] / "data" / "general_knowledge.jsonl"
    settings = {"design": "reference", "interface": ["direct-scores", "direct"], "orders": "dataset"}
    data = load_items(data, limit=8)
    arguments = ("llama_cpp.server", "--model", SMOLLM2, "--logits_all", "true", "--n_ctx", "2048")
    with server(PYTHONS["llama"], *arguments) as url:
        engine = open_engine(url, SMOLLM2)
        there = va.audit(engine, data, out=tmp_path / "there", progress=False, noise_floor=6, **settings)
        engine.close()
    here = va.audit(SMOLLM2, data, out=tmp_path / "here", progress=False, **settings)
    both = here.tables().trials.join(there.tables().trials, on="trial", suffix="_there")
    scored = both.filter(pl.col("event") == "id-scores")
    differences = [
        abs(a["logprob"] - b["logprob"])
        for one, two in scored.select("id_scores", "id_scores_there").iter_rows()
        for a, b in zip(one, two, strict=True)
        if b["logprob"] is not None
    ]
    # llama.cpp multiplies quantised weights as they are, transformers unpacks them: near, not equal
    assert len(differences) > scored.height
    assert sorted(differences)[len(differences) // 2] < 0.2
    same = (scored["position"] == scored["position_there"]).fill_null(False)
    clear = scored["margin"].fill_null(0.0) > 2 * max(0.3, sorted(differences)[int(0.9 * len(differences))])
    assert same.filter(clear).all()
    bounded = scored.filter(pl.col("id_bound_there").is_not_null())
    for one, bound in bounded.select("id_scores", "id_bound_there").iter_rows():
        assert math.isfinite(bound)
        assert all(score["logprob"] is not None for score in one)
