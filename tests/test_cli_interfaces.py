"""The command line on scoring interfaces: it warns before it spends, names combinations, and compares runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vqaudit.cli import app

RUNNER = CliRunner()
ENDINGS = '{"endings": [{"name": "why", "text": "Why?", "asks": "reasoning", "strength": "minimal"}]}'


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("interfaces")
    (folder / "endings.json").write_text(ENDINGS, encoding="utf-8")
    run = folder / "run"
    interfaces = ["bare-scores", "cot-prefix", "scores:why", "free:cot", "rationale:cot", "cot-prefix@permuted"]
    args = ["run", "-m", "demo", "-d", "demo", "--limit", "6", "--design", "reference", "--orders", "dataset"]
    args += ["--endings", str(folder / "endings.json"), "--max-tokens", "60", "--no-page", "--out", str(run)]
    args += ["--permutations", "2", "--watch", "The", "--watch", "First"]
    result = RUNNER.invoke(app, args + [part for name in interfaces for part in ("-i", name)])
    assert result.exit_code == 0, result.output
    return run, result.output


def test_run_says_first_what_is_not_asked_for(asked: tuple[Path, str]) -> None:
    said = " ".join(asked[1].split())
    assert "cot-prefix: the ending 'Let me think step by step.' asks for a rationale" in said
    assert "scores:why: the ending 'Why?' asks for a rationale" in said
    assert "free-cot: the ending" not in said


def test_plan_says_so_too_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    args = ["plan", "-m", "demo", "-d", "demo", "--limit", "2", "-i", "forced:cot", "--no-timed"]
    result = RUNNER.invoke(app, args)
    assert result.exit_code == 0
    assert "what is scored is one token as an ID" in " ".join(result.output.split())
    assert not list(tmp_path.iterdir())
    assert "asks for" not in RUNNER.invoke(app, [*args[:-2], "direct", "--no-timed"]).output


def test_the_manifest_names_what_paper_2_wants_reported(asked: tuple[Path, str]) -> None:
    manifest = json.loads((asked[0] / "manifest.json").read_text())
    told = manifest["interfaces"]
    assert [told[name]["after_rationale"] for name in ("cot-prefix", "free-cot", "cot-then-scores")] == [
        False,
        True,
        True,
    ]
    assert told["cot-then-scores"]["cue"] == "The answer is"
    assert told["scores:why"]["strength"] == "minimal"
    assert manifest["id_tokens"]["upper"]["A"]["in_place"]
    assert manifest["watch"]["words"] == ["The", "First"]
    assert manifest["watch"]["tokens"]["The"]["in_place"]


def test_the_summary_tells_what_was_found(asked: tuple[Path, str]) -> None:
    summary = json.loads((asked[0] / "summary.json").read_text())
    details = summary["interface_details"]
    assert details["baseline"] == "bare-scores"
    assert {row["ending"] for row in details["endings"]} == {"bare", "cot", "why"}
    assert len(details["permutations"][0]["accuracies"]) == 2
    assert 0 <= details["vocabulary"]["cot-prefix"]["watch_mass"]["value"] <= 1
    shown = RUNNER.invoke(app, ["summary", str(asked[0]), "--details"], env={"COLUMNS": "80"})
    assert shown.exit_code == 0
    for heading in ("Endings", "Contents permuted", "Probability of the right ID", "Next token"):
        assert heading in shown.output
    assert max(len(line.rstrip()) for line in shown.output.splitlines()) <= 80
    assert "…" not in shown.output


def test_runs_are_compared_by_their_fall(asked: tuple[Path, str]) -> None:
    shown = RUNNER.invoke(app, ["compare", str(asked[0]), "--interfaces"])
    assert shown.exit_code == 0
    assert "bare-scores and cot-prefix over 1 runs" in shown.output
    told = json.loads(RUNNER.invoke(app, ["compare", str(asked[0]), "--interfaces", "--json"]).output)
    assert told["rows"][0]["items"] == 6


def test_render_and_formats_know_endings_of_ones_own(asked: tuple[Path, str]) -> None:
    file = str(asked[0].parent / "endings.json")
    args = ["render", "-d", "demo", "--item", "demo-0001", "--endings", file]
    shown = RUNNER.invoke(app, [*args, "-i", "scores:why"])
    assert shown.exit_code == 0
    assert "Why?" in shown.output
    listed = RUNNER.invoke(app, ["formats", "--endings", file])
    assert "Why?" in listed.output
    assert "scores (id-scores)" in " ".join(listed.output.split())
    wrong = RUNNER.invoke(app, [*args[:-2], "-i", "scores:why"])
    assert wrong.exit_code != 0
