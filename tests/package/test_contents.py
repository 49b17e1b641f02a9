"""What pyproject promises: extras, data inside the package, the two doors of the command line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOWEST = ROOT / "constraints" / "lowest.txt"
MIB = 2**20


def bounds(requirements: list[str]) -> dict[str, str]:
    """Package -> lower bound; extras of our own left out."""
    found = (re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)", text) for text in requirements if "vqaudit" not in text)
    return {match[1]: match[2] for match in found if match}


def test_every_data_file_is_inside() -> None:
    inside = files("vqaudit")
    for name in (
        "py.typed",
        "demo_data/items.jsonl",
        "demo_data/model/model.safetensors",
        "demo_data/model/tokenizer.json",
        "paper_data/format_grid.csv",
        "paper_data/mitigation_table.csv",
        "analysis/cells/paper1_printed.csv",
    ):
        assert inside.joinpath(name).is_file(), name
    templates = [path.name for path in inside.joinpath("report", "templates").iterdir()]
    assert any(name.endswith(".html") for name in templates)
    assert any(name.endswith(".css") for name in templates)


def test_the_package_stays_small() -> None:
    """The wheel holds these files compressed; pictures and weights hardly shrink."""
    source = ROOT / "src" / "vqaudit"
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert size < 15 * MIB


def test_all_is_the_union_of_the_extras() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (named,) = extras["all"]
    listed = set(named.removeprefix("vqaudit[").removesuffix("]").split(","))
    assert listed == set(extras) - {"all", "test", "dev", "docs", "vllm"}, "vLLM pins a torch of its own"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell: str) -> None:
    env = {**os.environ, "_VQAUDIT_COMPLETE": f"source_{shell}", "OMP_NUM_THREADS": "1"}
    code = "import sys; sys.argv = ['vqaudit']; from vqaudit.cli import app; app(prog_name='vqaudit')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "_VQAUDIT_COMPLETE" in done.stdout


def test_both_doors_say_the_same_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vqaudit", "--version"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.strip() == f"vqaudit {PROJECT['project']['version']}"


def test_every_lower_bound_is_in_the_lowest_constraints() -> None:
    lines = [line.partition("#")[0].strip() for line in LOWEST.read_text(encoding="utf-8").splitlines()]
    pinned = dict(line.split("==") for line in lines if line)
    core = bounds(PROJECT["project"]["dependencies"])
    assert {name: pinned.get(name) for name in core} == core
