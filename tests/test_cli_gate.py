"""`check`, `card`, `export` and `compare --calibrate-on` as a person and a workflow call them."""

import json
from pathlib import Path

import polars as pl
import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

import vqaudit as va
from vqaudit.cli import app
from vqaudit.engines.simulated import SimulatedEngine
from vqaudit.items import demo_items
from vqaudit.run import make_audit_plan, make_spec
from vqaudit.simulate import WorldSpec, make_world

ROOT = Path(__file__).parent.parent
SETTINGS = {"design": ("grid",), "interface": ("direct",)}


def vqaudit(*args: str | Path | float, code: int = 0) -> str:
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, [str(arg) for arg in args])
    assert done.exit_code == code, f"{done.output}\n{done.exception!r}"
    return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Path, Path]:
    data, made = demo_items(limit=10), []
    for name, ability in (("strong", 5.0), ("weak", -2.0)):
        plan = make_audit_plan(data.items, make_spec(SETTINGS))
        out = tmp_path_factory.mktemp("gate") / name
        engine = SimulatedEngine(make_world(plan, WorldSpec(ability=ability)), seed=1, name=name)
        va.audit(engine, data, out=out, progress=False, **SETTINGS)
        made.append(out)
    return made[0], made[1]


@pytest.mark.parametrize(
    ("run", "limits", "code"),
    [
        (0, ("--min-accuracy", 0.5), 0),
        (1, ("--min-accuracy", 0.9), 1),
        (0, ("--min-worst", 0.9), 3),
        (0, ("--max-spread", 0.9), 0),
    ],
)
def test_the_exit_code_is_the_verdict(runs, run, limits, code) -> None:
    shown = vqaudit("check", runs[run], *limits, code=code)
    assert {0: "passes", 1: "fails", 3: "cannot tell"}[code] in shown
    assert max(cell_len(line.rstrip()) for line in shown.splitlines()) <= 80


def test_a_drop_fails_the_check(runs) -> None:
    strong, weak = runs
    vqaudit("check", weak, "--against", strong, "--max-drop", 0.02, code=1)
    vqaudit("check", strong, "--against", weak, "--max-drop", 0.02, code=0)


def test_wrong_usage_is_told_apart_from_a_verdict(runs, tmp_path) -> None:
    vqaudit("check", runs[0], code=2)
    vqaudit("check", runs[0], "--max-drop", 0.1, code=2)
    vqaudit("check", runs[0], "--against", runs[1], "--min-worst", 0.1, code=2)
    vqaudit("check", runs[0], "--min-worst", 60, code=2)
    vqaudit("check", runs[0], "--min-worst", 0.1, "--json", "--markdown", "-", code=2)
    vqaudit("check", tmp_path, "--min-worst", 0.1, code=1)


def test_markdown_and_json_are_for_machines(runs, tmp_path) -> None:
    file = tmp_path / "summary.md"
    told = json.loads(vqaudit("check", runs[0], "--min-accuracy", 0.5, "--json", "--markdown", file))
    assert told["verdict"] == "passes"
    assert file.read_text(encoding="utf-8").startswith("### ✔ vqaudit check: passes")
    assert vqaudit("check", runs[0], "--min-accuracy", 0.5, "--markdown", "-") == file.read_text(encoding="utf-8")


def test_card_of_two_runs(runs, tmp_path) -> None:
    text = vqaudit("card", *runs)
    assert text.startswith('---\nmodel-index:\n- name: "strong"')
    vqaudit("card", *runs, "-o", tmp_path / "card.md")
    assert (tmp_path / "card.md").read_text(encoding="utf-8") == text


def test_export_is_read_back_by_grid(runs, tmp_path) -> None:
    out = tmp_path / "tables"
    assert str(out) in vqaudit("export", *runs, "-o", out, "--format", "csv")
    assert not list(out.rglob("*.parquet"))
    found = json.loads(vqaudit("grid", out / "format_grid.csv", "--json"))
    summary = json.loads(vqaudit("summary", runs[0], "--json"))
    gold = found["pseudo_gold_accuracy_pct"]["demo"]["strong"]
    assert gold == pytest.approx(100 * summary["grid_accuracy"]["value"])
    vqaudit("export", runs[0], "-o", out / "one")
    assert pl.read_parquet(out / "one" / "trials.parquet").height == summary["counts"]["done"]


def test_comparisons_take_priors_from_other_runs_of_the_models(runs) -> None:
    strong, weak = runs
    shown = vqaudit("compare", *runs, "--calibrate-on", strong, "--calibrate-on", weak)
    assert "Remedies against the grid's ranking" in shown
    assert "p = 0." in shown or "p < 0.001" in shown
    vqaudit("compare", *runs, "--calibrate-on", strong, code=2)


def test_the_example_workflow_checks_with_real_options() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install 'vqaudit[logs]'")
    text = (ROOT / "examples" / "gate.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["robustness"]["steps"]
    command = next(step["run"] for step in steps if "vqaudit check" in step.get("run", ""))
    known = vqaudit("check", "--help")
    options = {word for word in command.replace("\\", " ").split() if word.startswith("--") and word != "--"}
    assert options
    assert all(option[:12] in known for option in options)
