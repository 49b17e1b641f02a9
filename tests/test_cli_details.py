"""Details on the command line, from a run that asks IDs in natural and in scrambled orders."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import vqaudit as va
from vqaudit.engines.simulated import SimulatedEngine
from vqaudit.items import demo_items
from vqaudit.run import make_audit_plan, make_spec
from vqaudit.simulate import WorldSpec, make_world

SETTINGS = {"design": ("grid", "scrambled-ids"), "interface": ("direct",)}


def vqaudit(*args: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "vqaudit", *map(str, args)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Path]:
    data = demo_items(limit=12)
    made = []
    for name, ability in (("strong", 2.0), ("weak", 0.0)):
        plan = make_audit_plan(data.items, make_spec(SETTINGS))
        world = make_world(plan, WorldSpec(ability=ability, first_position=0.2, format_effects={"upper": 1.0}))
        out = tmp_path_factory.mktemp("details") / name
        va.audit(SimulatedEngine(world, seed=1, name=name), data, out=out, progress=False, **SETTINGS)
        made.append(out)
    return made


def test_details_are_shown_on_request_and_always_in_json(runs) -> None:
    plain = vqaudit("summary", runs[0]).stdout
    assert "Effects on accuracy" not in plain
    shown = vqaudit("summary", runs[0], "--details").stdout
    assert shown.startswith(plain)
    for title in ("Effects on accuracy", "Remedies against the grid", "Position apart from ID", "Computation"):
        assert title in shown
    stored = json.loads(vqaudit("summary", runs[0], "--json").stdout)
    assert stored["effects"]["factors"]["id_set"]["baseline"] == "lower"
    assert stored["position_and_id"]["tables"][0]["positions"][0]["preference"]["value"] > 0.05


def test_scrambled_trials_leave_the_headline_alone(runs) -> None:
    summary = va.open_run(runs[0]).summary()
    items = summary.counts.items
    assert summary.main_design == "grid"
    assert summary.grid_accuracy.n == items
    assert summary.designs["scrambled-ids"].trials == 2 * summary.designs["grid"].trials // 48
    # its natural half is the grid's own: asked once
    assert summary.counts.planned == summary.designs["grid"].trials * 49 // 48


def test_a_comparison_ranks_by_every_remedy(runs) -> None:
    found = json.loads(vqaudit("compare", *runs, "--json").stdout)["details"]
    assert found["mitigations"]["gold_rank"] == {"strong": 1, "weak": 2}
    assert found["mitigations"]["redraws"]["spearman"] > 0.9
    assert set(found["effects"]["factors"]) == {"id_set", "delimiter", "separator", "run", "answer_position"}
    assert "Remedies against the grid's ranking" in vqaudit("compare", *runs, "--details").stdout
    assert "Remedies" not in vqaudit("compare", *runs).stdout


def test_a_run_to_calibrate_on_must_be_one(runs, tmp_path) -> None:
    failed = vqaudit("summary", runs[0], "--calibrate-on", tmp_path, code=1)
    assert "no run directory" in failed.stderr
