"""Pages are read in two ways, as plain Markdown and as a site; what only one of them understands is not written."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MACHINE = re.compile(r"(?<![\w.])/(work|tmp|root|home|opt)/[a-z]|/mnt/")


def misread(text: str) -> list[str]:
    """Returns lists and tables that a site would take for the end of the paragraph before them."""
    found, before, in_list, in_code = [], "", False, False
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(r" *```", line):
            in_code = not in_code
        item = re.match(r"([-*]|\d+\.) ", line)
        starts = (item and not in_list) or (line.startswith("|") and not before.startswith("|"))
        if not in_code and starts and before.strip() and not before.startswith("#"):
            found.append(f"line {number}: {line}")
        in_list = bool(item) or (in_list and bool(line.strip()))
        before = line
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_lists_and_tables_stand_apart(page: Path) -> None:
    assert misread(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_page_names_a_place_on_somebodys_machine(page: Path) -> None:
    assert MACHINE.findall(page.read_text(encoding="utf-8")) == []


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "//" not in link]
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_what_a_site_would_misread_is_found() -> None:
    assert misread("Text:\n- a\n- b\n") == ["line 2: - a"]
    assert misread("Text\n| a | b |\n|---|---|\n") == ["line 2: | a | b |"]
    assert misread("```\nx\n```\n- a\n") == ["line 4: - a"]
    assert misread("# Title\n- a\n\nText\n\n1. x\n2. y\n   on\n3. z\n```\nT\n- a\n```\n") == []
