"""`status`, `compact` and the options of `run` that say who asks, as they are used."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import vqaudit as va
from vqaudit.cli import app
from vqaudit.engines.scripted import ScriptedEngine
from vqaudit.errors import RecordError
from vqaudit.items import demo_items
from vqaudit.records import PartWriter, read_trials, records_digest

runner = CliRunner()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    script = ScriptedEngine(lambda request: request.option_ids[0])
    va.audit(script, demo_items(limit=5), out=tmp_path / "run", progress=False)
    again = read_trials(tmp_path / "run").row(0, named=True) | {"attempt": 1}
    PartWriter(tmp_path / "run", worker="w0").write([again])
    return tmp_path / "run"


def test_status_tells_the_same_to_people_and_programs(run: Path) -> None:
    told = json.loads(runner.invoke(app, ["status", str(run), "--json"]).stdout)
    assert (told["state"], told["planned"], told["done"], told["missing"], told["attempts"]) == ("complete", 5, 5, 0, 6)
    assert told["designs"] == [
        {"interface": "direct", "design": "randomised", "planned": 5, "done": 5, "failed": 0, "missing": 0}
    ]
    shown = runner.invoke(app, ["status", str(run), "--watch"]).stdout
    assert "scripted: complete" in shown
    assert "randomised" in shown


def test_compact_says_what_it_did_and_changes_no_record(run: Path) -> None:
    before = records_digest(read_trials(run))
    done = json.loads(runner.invoke(app, ["compact", str(run), "--json"]).stdout)
    assert (done["parts_before"], done["parts_after"], done["records"]) == (2, 1, 6)
    assert records_digest(read_trials(run)) == before
    assert "6 records: 1 parts" in runner.invoke(app, ["compact", str(run)]).stdout


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    for command in ("status", "compact"):
        found = runner.invoke(app, [command, str(tmp_path)])
        assert isinstance(found.exception, RecordError)
        assert "no run directory" in str(found.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--executor", "slurm"], "--executor is here or ray"),
        (["--workers", "2"], "--workers needs --executor ray"),
        (["--gpus-per-worker", "0.5"], "--gpus-per-worker needs --executor ray"),
    ],
)
def test_options_of_workers_without_workers_are_wrong_usage(tmp_path: Path, options: list[str], said: str) -> None:
    found = runner.invoke(app, ["run", "-m", "demo", "-d", "demo", "-o", str(tmp_path / "run"), *options])
    assert found.exit_code == 2
    assert said in found.output
    assert not (tmp_path / "run").exists()
