"""With an extra missing, what needs it says the exact pip line, and everything else works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import vqaudit as va

HEAVY = (
    *("torch", "transformers", "safetensors", "num2words", "jinja2", "gguf", "accelerate", "peft", "altair"),
    *("vl_convert", "openai", "tenacity", "vllm", "datasets", "fastexcel", "yaml", "ray"),
)
"""Whatever the extras bring."""
_CODE = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):  # finds what the ordinary finder finds, but for the blocked packages
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        blocked = name.partition(".")[0] in {blocked!r}
        return None if blocked else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
sys.argv = ["vqaudit", *{args!r}]
from vqaudit.cli import main
main()
"""


def without(blocked: tuple[str, ...], *args: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command where these packages cannot be imported."""
    code = _CODE.format(blocked=blocked, args=[str(arg) for arg in args])
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=240,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8", "COLUMNS": "200", "OMP_NUM_THREADS": "1", "PATH": "", "HOME": str(cwd)},
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run that nobody needed a model for."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    rows = [{"id": str(n), "question": f"{n}?", "options": ["left", "right"], "answer": "AB"[n % 2]} for n in range(6)]
    data = folder.with_name("tiny.jsonl")
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    va.audit(va.ScriptedEngine(lambda request: "A"), data, out=folder, design="grid", progress=False)
    return folder


ASK = ("-d", "demo", "--limit", "2", "-o", "out")
NEEDS = {
    "local": (("torch", "transformers"), ("run", "-m", "demo", *ASK)),
    "server": (("openai", "tenacity"), ("run", "-m", "openai:some", "--base-url", "http://127.0.0.1:9/v1", *ASK)),
    "vllm": (("vllm",), ("run", "-m", "vllm:some", *ASK)),
    "scale": (("ray",), ("run", "-m", "demo", "--executor", "ray", *ASK)),
    "report": (("altair", "vl_convert", "jinja2"), ("report", "RUN", "-o", "page.html")),
    "logs": (("yaml",), ("lint", "task.yaml")),
    "logs (XLSX)": (("fastexcel",), ("import", "log.xlsx", "-o", "imported")),
    "hub": (("datasets",), ("run", "-m", "demo", "-d", "mmstar", "-o", "out")),
}


@pytest.mark.parametrize("extra", NEEDS)
def test_a_missing_extra_gives_its_pip_line(extra: str, run: Path, tmp_path: Path) -> None:
    blocked, args = NEEDS[extra]
    (tmp_path / "task.yaml").write_text("task: t\noutput_type: multiple_choice\n", encoding="utf-8")
    (tmp_path / "log.xlsx").write_bytes(b"PK\x03\x04")
    done = without(blocked, *(run if arg == "RUN" else arg for arg in args), cwd=tmp_path)
    assert done.returncode == 1, f"{done.stdout}\n{done.stderr}"
    assert f"pip install 'vqaudit[{extra.split()[0]}]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("--version",),
        ("formats",),
        ("models",),
        ("data",),
        ("grid",),
        ("summary", "RUN"),
        ("summary", "RUN", "--details"),
        ("compare", "RUN", "RUN"),
        ("check", "RUN", "--min-accuracy", "0.01"),
        ("export", "RUN", "--out", "tables"),
        ("card", "RUN"),
        ("status", "RUN"),
        ("render", "-d", "demo", "--item", "demo-0001"),
    ],
    ids=lambda args: args[0],
)
def test_the_core_needs_no_extra(args: tuple[str, ...], run: Path, tmp_path: Path) -> None:
    done = without(HEAVY, *(run if arg == "RUN" else arg for arg in args), cwd=tmp_path)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.strip()
