"""The table of docs/peers.md is what its results give."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def peers():
    spec = importlib.util.spec_from_file_location("peers_table", ROOT / "benchmarks" / "peers" / "table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_s_table_is_fresh(peers):
    page = peers.PAGE.read_text(encoding="utf-8")
    assert page == peers.page_with_table(page), "python benchmarks/peers/table.py writes it"


def test_a_row_says_what_the_results_hold(peers):
    found = json.loads((peers.RESULTS / "peers.json").read_text(encoding="utf-8"))["peers"]["lmms-eval"]
    row = next(line for line in peers.table().splitlines() if line.startswith("| lmms-eval"))
    equal, trials = map(int, re.search(r"(\d+) of (\d+) equal", row).groups())
    assert (equal, trials) == (found["equal"], found["trials"])
    cpu = float(row.rstrip(" |").split(" | ")[4].removesuffix("x"))
    seconds = found["seconds"]
    assert cpu == pytest.approx(seconds["peer"]["cpu"] / seconds["vqaudit"]["cpu"], rel=0.05)
