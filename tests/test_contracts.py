"""What maintainers would otherwise uphold by review alone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import vqaudit

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "vqaudit"
MODULES = sorted(SOURCE.rglob("*.py"))
HEAVY = ("torch", "transformers", "altair", "vl_convert", "statsmodels", "openai", "ray", "datasets", "polars", "PIL")


def run_python(code: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_vqaudit_has_no_side_effect(tmp_path: Path) -> None:
    code = f"""
import logging, os, signal, sys, threading, warnings
before = dict(os.environ), logging.root.level, list(logging.root.handlers), threading.active_count()
filters, handlers = list(warnings.filters), signal.getsignal(signal.SIGTERM)
import vqaudit
assert (dict(os.environ), logging.root.level, list(logging.root.handlers), threading.active_count()) == before
assert list(warnings.filters) == filters and signal.getsignal(signal.SIGTERM) == handlers
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    assert run_python(code, tmp_path).strip() == "[]"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "module",
    [
        "vqaudit.records",
        "vqaudit.asking.plan",
        "vqaudit.reading",
        "vqaudit.run",
        "vqaudit.analysis.summary",
        "vqaudit.cli",
    ],
)
def test_light_modules_load_no_model_library(module: str, tmp_path: Path) -> None:
    code = f"import sys, {module}; print([m for m in ('torch', 'transformers', 'altair', 'vl_convert') if m in sys.modules])"
    assert run_python(code, tmp_path).strip() == "[]"


def test_layers_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    if not linter.exists():
        pytest.skip("import-linter is not installed beside this Python; `make check` has it")
    done = subprocess.run([linter, "--no-cache"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_door_is_small_sorted_and_open() -> None:
    constants = [name for name in vqaudit.__all__ if name.isupper()]
    others = [name for name in vqaudit.__all__ if not name.isupper()]
    assert vqaudit.__all__ == sorted(constants) + sorted(others)
    assert len(vqaudit.__all__) <= 24
    for name in vqaudit.__all__:
        assert getattr(vqaudit, name) is not None
    assert set(vqaudit.__all__) <= set(dir(vqaudit))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = vqaudit.nothing


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400, "two ideas in one file?"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < 50, f"{node.name} is too long"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_module_says_what_it_knows(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), "no module docstring"


def test_no_room_is_called_utils() -> None:
    names = {path.stem for path in MODULES}
    assert names.isdisjoint({"utils", "util", "common", "helpers", "misc"})
    assert not [path for path in SOURCE.rglob("*") if path.is_dir() and path.name in {"utils", "common", "helpers"}]


def test_untrusted_data_is_never_evaluated_or_unpickled() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "compile"}, path
            if isinstance(node, ast.Import):
                assert not {alias.name for alias in node.names} & {"pickle", "marshal", "shelve"}, path


def test_docstring_examples_run() -> None:
    import doctest
    import importlib

    failed = attempted = 0
    for path in MODULES:
        if ">>>" not in path.read_text(encoding="utf-8"):
            continue
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        result = doctest.testmod(importlib.import_module(name))
        failed += result.failed
        attempted += result.attempted
    assert failed == 0
    assert attempted > 20
