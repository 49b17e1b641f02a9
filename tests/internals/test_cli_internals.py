"""`vqaudit internals`, as it is called."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def vqaudit(*args: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "vqaudit", *map(str, args)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done


def test_it_fits_prints_and_stores(runs) -> None:
    few = ["--seeds", "1", "--epochs", "2", "--part", "probe"]
    shown = vqaudit("internals", runs["test"], "--train", runs["train"], "--validation", runs["validation"], *few)
    for words in (
        "Can the answer be read from the state?",
        "cot-prefix",
        "Gamma",
        "600 training examples",
        "exchanged",
    ):
        assert words in shown.stdout
    assert "fitting probe" in shown.stderr
    stored = json.loads((runs["test"] / "internals" / "probe.json").read_text(encoding="utf-8"))
    again = vqaudit("internals", runs["test"], "--stored", "--json")
    assert json.loads(again.stdout)["probe"] == stored


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--part", "everything"], 2, "no part 'everything'"),
        (["--validation", "x"], 2, "--validation needs --train"),
        (["--train", "nowhere"], 1, "nowhere is no run directory"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(runs, args, code, words) -> None:
    assert words in " ".join(vqaudit("internals", runs["test"], *args, code=code).stderr.split())


def test_a_run_that_is_too_small_is_refused_before_anything_is_said_to_be_fitted(make_run, tmp_path) -> None:
    small = make_run(tmp_path / "small", 20, seed=4)
    told = " ".join(vqaudit("internals", small, code=1).stderr.split())
    assert "independent items are left for training, and 100 are needed" in told
    assert "fitting" not in told


def test_a_run_that_keeps_its_states_is_asked_for_on_the_command_line() -> None:
    shown = vqaudit("run", "--help").stdout
    assert "--keep-states" in shown
