"""Every command that the documentation shows runs as it stands, page by page, in the order of the page."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
ITEMS = "6"


def _load(name: str):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", HERE / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pages = _load("pages")
commands_module = _load("commands")

ALL = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TO_RUN = [p for p in ALL if any(b.language in pages.RUN and not b.not_run for b in pages.read_blocks(p))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def run_block(block, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    script = folder / f".block-{block.line}"
    script.write_text(block.text, encoding="utf-8")
    arguments = ["bash", "-euo", "pipefail", str(script)] if block.language == "bash" else ["python", str(script)]
    return subprocess.run(
        arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize("page", TO_RUN, ids=name_of)
def test_a_page_runs_as_it_stands(page: Path, commands: Path, tmp_path: Path) -> None:
    environment = {
        "PATH": f"{commands}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "COLUMNS": "100",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        commands_module.LIMIT: ITEMS,
    }
    for block in pages.read_blocks(page):
        if block.not_run:
            continue
        if block.file:
            (tmp_path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language in pages.RUN:
            done = run_block(block, tmp_path, environment)
            said = f"{name_of(page)}, line {block.line}:\n{block.text}\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
            assert done.returncode == 0, said


def test_the_paths_of_a_newcomer_are_among_the_pages_that_run() -> None:
    names = {name_of(page) for page in TO_RUN}
    assert {"README.md", "docs/tutorial.md"} <= names
    assert {p for p in names if p.startswith("docs/how-to/")} >= {
        f"docs/how-to/{name}.md" for name in ("own-data", "own-model", "two-scores", "gate", "choose-format", "cluster")
    }


def test_blocks_that_are_not_run_say_why_and_are_few(record_property) -> None:
    blocks = [(name_of(p), b) for p in ALL for b in pages.read_blocks(p) if b.language in pages.RUN]
    left_out = [(name, block.line, block.not_run) for name, block in blocks if block.not_run]
    record_property("run", len(blocks) - len(left_out))
    record_property("not_run", left_out)
    assert len(left_out) <= len(blocks) / 3, left_out


def test_blocks_are_found_with_their_line_their_reason_and_their_file(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n```bash\necho 1\n```\n<!-- not run: needs a GPU -->\n\n```python\nimport x\n```\n"
        "<!-- file: a/b.csv -->\n```csv\n1,2\n```\n- item\n  ```console\n  $ no\n  ```\n",
        encoding="utf-8",
    )
    found = [(b.language, b.text, b.line, b.not_run, b.file) for b in pages.read_blocks(page)]
    assert found == [
        ("bash", "echo 1\n", 2, None, None),
        ("python", "import x\n", 7, "needs a GPU", None),
        ("csv", "1,2\n", 11, None, "a/b.csv"),
        ("console", "$ no\n", 15, None, None),
    ]


def test_a_failing_block_is_seen(commands: Path, tmp_path: Path) -> None:
    environment = {"PATH": f"{commands}:/usr/bin:/bin", "HOME": str(tmp_path)}
    for language, text, code in (
        ("bash", "vqaudit summary nowhere | cat\necho not reached\n", 1),
        ("bash", "vqaudit nonsense\n", 2),
        ("python", "raise SystemExit(3)\n", 3),
        ("python", "import vqaudit\nprint(len(vqaudit.FORMATS))\n", 0),
    ):
        done = run_block(pages.Block(language=language, text=text, line=1), tmp_path, environment)
        assert done.returncode == code, done.stderr
        assert "not reached" not in done.stdout


def test_only_the_demo_items_are_limited() -> None:
    limited = commands_module.with_limit
    assert limited(["run", "--data", "demo"], "8")[-2:] == ["--limit", "8"]
    assert limited(["plan", "-d", "demo", "--limit", "3"], "8")[-2:] == ["--limit", "3"]
    assert limited(["run", "--data", "mine.csv"], "8") == ["run", "--data", "mine.csv"]
    assert limited(["run", "-d", "demo", "--design", "grid"], "8")[-2:] == ["--limit", commands_module.GRID_ITEMS]
    assert limited(["summary", "demo"], "8") == ["summary", "demo"]
    assert limited(["run", "--data", "demo"], None) == ["run", "--data", "demo"]
