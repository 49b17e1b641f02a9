"""What `vqaudit run` ends with where a run has more trials than whole records of it should be read for."""

from pathlib import Path

import pytest

import vqaudit as va
from vqaudit.cli import run as commands
from vqaudit.items import demo_items


@pytest.fixture
def run(tmp_path: Path) -> va.Run:
    engine = va.ScriptedEngine(lambda request: request.option_ids[0])
    return va.audit(engine, demo_items(limit=4), out=tmp_path / "run", design="reference", progress=False)


def test_a_large_run_ends_without_details_and_says_how_to_get_them(run: va.Run, monkeypatch, capsys) -> None:
    planned = run.tables().plan.height
    monkeypatch.setattr(commands, "_MOST_DETAILED", planned - 1)
    commands._finish_run(run, page=False, quiet=False)
    assert (run.path / "summary.json").read_text(encoding="utf-8") == run.summary(details=False).to_json() + "\n"
    said = " ".join(capsys.readouterr().err.split())
    assert f"{planned} trials: effects, remedies and the like are left out to save memory" in said
    assert "--details (or --json) tells them" in said


def test_a_run_of_usual_size_ends_with_every_figure(run: va.Run, monkeypatch, capsys) -> None:
    monkeypatch.setattr(commands, "_MOST_DETAILED", run.tables().plan.height)
    commands._finish_run(run, page=False, quiet=False)
    assert (run.path / "summary.json").read_text(encoding="utf-8") == run.summary().to_json() + "\n"
    assert "left out" not in capsys.readouterr().err
