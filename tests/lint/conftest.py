"""Task files in a folder, and what lint finds in them."""

from pathlib import Path
from textwrap import dedent

import pytest

from vqaudit.lint import Finding, lint_paths


class Tasks:
    """A folder of files written by a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    def findings(self, *names: str) -> list[Finding]:
        return list(lint_paths([self.folder / name for name in names] or [self.folder]).findings)

    def rules(self, *names: str) -> dict[str, str]:
        return {found.rule: found.severity for found in self.findings(*names)}


@pytest.fixture
def tasks(tmp_path: Path) -> Tasks:
    return Tasks(tmp_path)
