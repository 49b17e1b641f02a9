"""With an extra missing, what needs it says the exact pip line, and everything else works."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
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
    "gguf": (("gguf", "accelerate"), ("run", "-m", "tiny.gguf", *ASK)),
}


@pytest.mark.parametrize("extra", NEEDS)
def test_a_missing_extra_gives_its_pip_line(extra: str, run: Path, tmp_path: Path) -> None:
    blocked, args = NEEDS[extra]
    (tmp_path / "task.yaml").write_text("task: t\noutput_type: multiple_choice\n", encoding="utf-8")
    (tmp_path / "log.xlsx").write_bytes(b"PK\x03\x04")
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF")
    done = without(blocked, *(run if arg == "RUN" else arg for arg in args), cwd=tmp_path)
    assert done.returncode == 1, f"{done.stdout}\n{done.stderr}"
    assert f"pip install 'vqaudit[{extra.split()[0]}]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_adapter_gives_the_pip_line_of_peft(tmp_path: Path) -> None:
    """Nothing needs peft but a checkpoint that has an adapter beside its weights; tests/engines/local has a short form."""
    safetensors = pytest.importorskip("safetensors.numpy")
    _tiny_families().save("phi4", tmp_path / "phi4")
    adapter = tmp_path / "phi4" / "vision-lora"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}", encoding="utf-8")
    safetensors.save_file({"x": np.zeros(1, dtype=np.float32)}, adapter / "adapter_model.safetensors")
    done = without(("peft",), "run", "-m", "phi4", *ASK, cwd=tmp_path)
    assert done.returncode == 1, f"{done.stdout}\n{done.stderr}"
    assert "the vision adapter of model 'phi4' needs packages" in done.stderr
    assert "pip install 'vqaudit[peft]'" in done.stderr
    assert "Traceback" not in done.stderr


def _tiny_families() -> ModuleType:
    """By path: with `--import-mode=importlib`, a test module cannot import from other folders by name."""
    pytest.importorskip("transformers")
    folder = Path(__file__).parents[1] / "engines" / "tiny"
    spec = spec_from_file_location("tiny_models", folder / "__init__.py", submodule_search_locations=[str(folder)])
    assert spec is not None
    assert spec.loader is not None
    sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[spec.name])
    return import_module("tiny_models.families")


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
