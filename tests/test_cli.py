"""The command line as a person uses it: on the packaged model and items, in a process of its own."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from vqaudit.cli import app
from vqaudit.records import RunTables, read_manifest, read_trials

ROOT = Path(__file__).parent.parent


def vqaudit(*args: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "vqaudit", *map(str, args)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "demo"
    interfaces = (
        "-i",
        "direct",
        "-i",
        "direct-scores@reference",
        "-i",
        "cot-prefix@reference",
        "-i",
        "free-cot@reference",
    )
    vqaudit(
        *("run", "--model", "demo", "--data", "demo", "--limit", "4", "--design", "grid", "--design", "randomised"),
        *interfaces,
        *("--max-tokens", "60", "--out", out),
    )
    return out


def test_run_leaves_records_summary_and_page(demo: Path) -> None:
    tables = RunTables.load(demo)
    assert tables.manifest.status == "complete"
    assert tables.manifest.counts["failed"] == 0
    assert set(tables.plan["trial"]) == set(tables.trials["trial"])
    assert set(tables.plan["design"]) == {"grid", "randomised", "reference"}
    assert (demo / "page.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


def test_summary_json_has_the_promised_keys(demo: Path) -> None:
    stored = json.loads((demo / "summary.json").read_text(encoding="utf-8"))
    assert stored == json.loads(vqaudit("summary", demo, "--json").stdout)
    for figure in (stored["grid_accuracy"], stored["coverage"], stored["spread"]):
        assert {"value", "low", "high", "n"} <= set(figure)
        assert figure["low"] <= figure["value"] <= figure["high"]
    assert {"format", "accuracy"} <= set(stored["best_format"])
    assert {"format", "accuracy"} <= set(stored["worst_format"])
    assert set(stored["interfaces"]) == {"direct", "direct-scores", "cot-prefix", "free-cot"}
    for interface in stored["interfaces"].values():
        assert {"value", "low", "high", "n"} <= set(interface["accuracy"])
        assert {"value", "low", "high", "n"} <= set(interface["first_position_rate"])
    assert stored["designs"]["randomised"]["grid_accuracy"] is not None


def test_summary_is_readable_and_can_be_broken_down(demo: Path) -> None:
    shown = vqaudit("summary", demo, "--by", "category").stdout
    assert "nan" not in shown.lower().split()
    categories = RunTables.load(demo).items["category"].unique()
    assert all(category in shown for category in categories)


def test_the_same_command_asks_nothing_again(demo: Path) -> None:
    before = read_trials(demo).height
    vqaudit(
        *("run", "--model", "demo", "--data", "demo", "--limit", "4", "--design", "grid", "-i", "direct"),
        *("--max-tokens", "60", "--out", demo, "--quiet", "--no-page"),
    )
    assert read_trials(demo).height == before


def test_another_seed_in_the_same_directory_is_refused(demo: Path) -> None:
    done = vqaudit("run", "--model", "demo", "--data", "demo", "--limit", "4", "--seed", "5", "--out", demo, code=1)
    assert "error:" in done.stderr
    assert "seed" in done.stderr or "generation limit" in done.stderr


def test_report_and_compare(demo: Path, tmp_path: Path) -> None:
    page = tmp_path / "both.html"
    vqaudit("report", demo, demo, "--out", page)
    assert page.stat().st_size > 10_000
    compared = json.loads(vqaudit("compare", demo, demo, "--json").stdout)
    assert compared
    assert vqaudit("compare", demo, code=2).stderr


def test_plan_tells_the_cost_and_writes_nothing(tmp_path: Path) -> None:
    told = json.loads(
        vqaudit("plan", "--model", "demo", "--data", "demo", "--limit", "3", "--design", "grid", "--json").stdout
    )
    assert told["trials"] == sum(told["trials_by_interface"].values())
    assert told["items"] == 3
    assert told["prompt_tokens"] > told["trials"] * 50
    assert told["seconds"] > 0
    assert list(tmp_path.iterdir()) == []


def test_formats_lists_all_48() -> None:
    rows = json.loads(vqaudit("formats", "--json").stdout)
    assert len(rows) == 48
    assert {"format": "upper/dot/comma", "example": "A. a cat, B. a dog"} in rows


def write_items(path: Path) -> Path:
    row = {"id": 7, "question": "What is it?", "options": ["a cat", "a dog", "a hen"], "answer": "B"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


def test_render_prints_what_the_model_sees_and_nothing_else(tmp_path: Path) -> None:
    data = write_items(tmp_path / "items.jsonl")
    done = vqaudit("render", "--data", data, "--item", "7", "--format", "lower/bracket/comma", "--order", "1")
    assert done.stdout == (
        "What is it?\na) a hen, b) a cat, c) a dog\n"
        "Select the best answer to the above multiple-choice question. Respond with only the letter (e.g., a, b or c) "
        "of the correct option and no bracket, colon, or dot.\n"
    )
    assert "order 2,0,1" in done.stderr


def test_render_through_the_chat_template(tmp_path: Path) -> None:
    data = write_items(tmp_path / "items.jsonl")
    done = vqaudit("render", "--data", data, "--item", "7", "--model", "demo", "-i", "bare-scores")
    assert "What is it?\nA. a cat\nB. a dog\nC. a hen" in done.stdout
    assert done.stdout.rstrip().endswith("<|assistant|>")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("render", "--data", "gone.jsonl", "--item", "1"), "gone.jsonl"),
        (("summary", "no-such-run"), "no run directory"),
        (("run", "--model", "demo", "--data", "demo", "--out", "x", "-i", "cott"), "no interface 'cott'"),
        (("run", "--model", "demo", "--data", "demo", "--out", "x", "--design", "latin"), "no design 'latin'"),
        (("run", "--model", "no-such-folder", "--data", "demo", "--out", "x"), "no-such-folder"),
    ],
)
def test_errors_are_one_sentence_and_exit_1(tmp_path: Path, args: tuple[str, ...], said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vqaudit", *args], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120
    )
    assert done.returncode == 1, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_usage_exits_2() -> None:
    assert "No such option" in vqaudit("summary", "x", "--jsonn", code=2).stderr
    vqaudit("plan", "--model", "demo", "--data", "demo", "--chat-kwargs", "[1]", code=2)


def test_sigterm_keeps_what_was_answered_and_says_how_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "vqaudit", "run", "--model", "demo", "--data", "demo", "--limit", "40"]
    command += ["--design", "grid", "--out", str(out), "--no-page", "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (out / "trials").exists() or not read_trials(out).height:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143, said
    assert "the same command goes on" in said
    assert read_manifest(out).status == "interrupted"
    seen = read_trials(out)
    assert 0 < seen.height < 40 * 192
    assert seen.filter(pl.col("outcome") == "failed").height == 0
    told = json.loads(vqaudit("summary", out, "--json").stdout)
    assert told["grid_accuracy"] is None
    assert "grid_accuracy" in told["reasons"]


def test_version_and_help() -> None:
    assert vqaudit("--version").stdout.startswith("vqaudit ")
    assert app.info.help


def test_docs_name_every_command_and_generated_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
