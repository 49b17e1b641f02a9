"""What pyproject promises: extras, data inside the package, the two doors of the command line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOWEST = ROOT / "constraints" / "lowest.py"
MIB = 2**20


def bounds(requirements: list[str]) -> dict[str, str]:
    """Package -> lower bound; extras of our own left out."""
    found = (re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)", text) for text in requirements if "vqaudit" not in text)
    return {match[1]: match[2] for match in found if match}


def test_every_data_file_is_inside() -> None:
    inside = files("vqaudit")
    for name in (
        "py.typed",
        "demo_data/items.jsonl",
        "demo_data/model/model.safetensors",
        "demo_data/model/tokenizer.json",
        "paper_data/format_grid.csv",
        "paper_data/mitigation_table.csv",
        "analysis/cells/paper1_printed.csv",
    ):
        assert inside.joinpath(name).is_file(), name
    templates = [path.name for path in inside.joinpath("report", "templates").iterdir()]
    assert any(name.endswith(".html") for name in templates)
    assert any(name.endswith(".css") for name in templates)


def test_the_package_stays_small() -> None:
    """The wheel holds these files compressed; pictures and weights hardly shrink."""
    source = ROOT / "src" / "vqaudit"
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert size < 15 * MIB


def test_all_is_the_union_of_the_extras() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (named,) = extras["all"]
    listed = set(named.removeprefix("vqaudit[").removesuffix("]").split(","))
    assert listed == set(extras) - {"all", "test", "dev", "docs", "vllm"}, "vLLM pins a torch of its own"


def vqaudit(*args: str, **variables: str) -> str:
    """What a command prints; it has to end well."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    code = f"import sys; sys.argv = ['vqaudit', *{args!r}]; from vqaudit.cli import app; app(prog_name='vqaudit')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("shell", "place", "line"),
    [
        ("bash", ".bash_completions/vqaudit.sh", "complete -o default -F _vqaudit_completion vqaudit"),
        ("zsh", ".zfunc/_vqaudit", "compdef _vqaudit_completion vqaudit"),
        ("fish", ".config/fish/completions/vqaudit.fish", "complete --command vqaudit"),
    ],
)
def test_shells_are_told_how_to_complete(shell: str, place: str, line: str, tmp_path: Path) -> None:
    # Else the shell is found out by the processes above this one, which a test has no hold of.
    home = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = vqaudit("--show-completion", shell, **home)
    assert any(shown_line.startswith(line) for shown_line in shown.splitlines())
    assert not list(tmp_path.iterdir())
    assert place in vqaudit("--install-completion", shell, **home)
    assert (tmp_path / place).read_text(encoding="utf-8").strip() == shown.strip()
    assert shell == "fish" or (tmp_path / f".{shell}rc").is_file(), "fish looks into that folder unasked"


def test_a_shell_completes_commands_and_options() -> None:
    asked = {"_VQAUDIT_COMPLETE": "complete_bash"}
    assert vqaudit(COMP_WORDS="vqaudit st", COMP_CWORD="1", **asked).split() == ["status"]
    assert vqaudit(COMP_WORDS="vqaudit data --st", COMP_CWORD="2", **asked).split() == ["--stats"]


def test_both_doors_say_the_same_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vqaudit", "--version"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.strip() == f"vqaudit {PROJECT['project']['version']}"


def lowest(*extras: str) -> dict[str, str]:
    done = subprocess.run([sys.executable, LOWEST, *extras], capture_output=True, text=True, check=True, timeout=60)
    return dict(line.split("==") for line in done.stdout.splitlines())


def test_the_lowest_versions_are_those_that_the_project_allows() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    core = bounds(PROJECT["project"]["dependencies"])
    assert len(core) == len(PROJECT["project"]["dependencies"])
    assert lowest() == core
    assert lowest("report", "logs") == core | bounds(extras["report"]) | bounds(extras["logs"])
    assert set(lowest("test")) >= {"torch", "gguf", "ray", "pytest"}, "an extra brings what others of ours need"


def test_an_extra_that_there_is_not_has_no_lowest_versions() -> None:
    done = subprocess.run([sys.executable, LOWEST, "nothing"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "no extra nothing" in done.stderr
