"""The difference in a terminal and on the command line: one reply changed, one read otherwise, one item left out."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vqaudit.cli import app
from vqaudit.errors import VqauditError
from vqaudit.records import RunTables, write_table
from vqaudit.records.schemas import TRIAL_SCHEMA


def told(*args: object) -> str:
    done = CliRunner().invoke(app, ["diff", *map(str, args)], env={"COLUMNS": "120"})
    if isinstance(done.exception, VqauditError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def runs(randomised: RunTables, tmp_path_factory) -> tuple[Path, Path]:
    second = tmp_path_factory.mktemp("diff") / "second"
    shutil.copytree(randomised.path, second)
    rows = randomised.trials.sort("item").to_dicts()
    answers = dict(randomised.items.select("item", "answer").iter_rows())
    rights = [row for row in rows if row["chosen"] == answers[row["item"]]]
    for row in rights[:2]:
        row["outcome"], row["position"], row["chosen"] = "unreadable", None, None
    rights[0]["reply"] = "something else"
    for part in (second / "trials").glob("*.parquet"):
        part.unlink()
    write_table(second / "trials" / "w-000000.parquet", [row for row in rows if row is not rights[2]], TRIAL_SCHEMA)
    return randomised.path, second


def test_parts_add_up_in_json(runs: tuple[Path, Path]) -> None:
    found = json.loads(told(*runs, "--json"))
    by_cause = {part["cause"]: part["difference"]["value"] for part in found["parts"]}
    assert sum(by_cause.values()) == pytest.approx(found["difference"]["value"], abs=1e-12)
    assert by_cause["replies"] == by_cause["readings"] == pytest.approx(-1 / 49)
    assert (by_cause["prompts"], by_cause["items"] < 0) == (0.0, True)
    assert {flip["cause"] for flip in found["flips"]} == {"replies", "readings"}
    assert all(flip["a"]["prompt"] == flip["b"]["prompt"] is not None for flip in found["flips"])
    assert (found["matched"]["by_id"], found["matched"]["only_a"], found["pairs"]["same_prompt"]) == (49, 1, 49)


def test_the_terminal_shows_scores_parts_and_flips(runs: tuple[Path, Path]) -> None:
    shown = told(*runs)
    for words in ("second minus randomised", "Why they differ", "same prompt, other reply", "in all", "something else"):
        assert words in shown
    assert shown.count("Flipped by") == 2
    assert "Flipped by" not in told(*runs, "--flips", "0")


def test_a_narrow_terminal_keeps_the_figures(runs: tuple[Path, Path], terminal) -> None:
    from vqaudit.analysis.diff import diff_runs
    from vqaudit.report.terminal.diff import diff_view

    found = diff_runs(*map(RunTables.load, runs))
    shown = terminal(diff_view(found), width=80, encoding="ascii")
    assert "-2.0 pp [" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_errors_are_ours(runs: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(VqauditError, match="no run directory"):
        told(runs[0], tmp_path)
    with pytest.raises(VqauditError, match="no interface"):
        told(*runs, "--interface-a", "cloze")
