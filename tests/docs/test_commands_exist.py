"""Every command and option that a page names exists, also in blocks that are shown and not run."""

import importlib.util
import re
import shlex
import sys
from pathlib import Path

import click
import pytest
import typer

from vqaudit.cli import app

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def _pages():
    spec = importlib.util.spec_from_file_location("docs_pages", HERE / "pages.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GROUP = typer.main.get_command(app)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def calls(text: str) -> list[list[str]]:
    """Returns the words of every `vqaudit` command of a block, up to a pipe, a redirection or a comment."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        words = re.match(r"(?:\$ )?(?:[A-Z_]+=\S+ )?vqaudit (?P<rest>.*)", line.strip())
        if words:
            rest = re.split(r" +# | {3,}\S| \| | \|\| | > ", words["rest"])[0]
            found.append(shlex.split(rest))
    return found


def wrong(words: list[str]) -> str:
    """Returns what is wrong with a command's name or its options, or nothing."""
    if words[0].startswith("-"):
        return ""
    command = GROUP.commands.get(words[0])
    if command is None:
        return f"no command {words[0]}"
    known = {name for p in command.params if isinstance(p, click.Option) for name in (*p.opts, *p.secondary_opts)}
    known |= {"--help", *(n for p in command.params for n in (*p.opts, *p.secondary_opts))}
    unknown = [w for w in words[1:] if re.fullmatch(r"--?[a-z][a-z-]*", w) and w not in known]
    return f"vqaudit {words[0]} has no {', '.join(unknown)}" if unknown else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_commands_and_options_exist(page: Path) -> None:
    if not page.exists():
        pytest.skip("no such page")
    for block in _pages().read_blocks(page):
        if block.language in ("", "bash", "console", "yaml"):
            for words in calls(block.text):
                assert wrong(words) == "", f"line {block.line}: {' '.join(words)}"


def test_a_wrong_command_is_seen() -> None:
    assert calls("$ vqaudit run -m x --data y   # note --no\nvqaudit status r | cat --x\nls") == [
        ["run", "-m", "x", "--data", "y"],
        ["status", "r"],
    ]
    assert wrong(["run", "-m", "x", "--data", "y"]) == ""
    assert wrong(["run", "--modle", "x"]) == "vqaudit run has no --modle"
    assert wrong(["audit"]) == "no command audit"
