"""The site builds without a warning, holds every public name, and fetches nothing."""

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import vqaudit

ROOT = Path(__file__).parent.parent.parent
BROWSER_FETCHES = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}
needs_mkdocs = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("mkdocs", "material", "mkdocstrings_handlers")),
    reason="the site needs pip install 'vqaudit[docs]'; `make check` builds it",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    arguments = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        arguments, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


class _Fetched(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "link" and named.get("rel") in ("canonical", "next", "prev"):
            return
        self.addresses += [value or "" for name, value in attrs if (tag, name) in BROWSER_FETCHES]


@needs_mkdocs
def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        reader = _Fetched()
        reader.feed(page.read_text(encoding="utf-8"))
        assert reader.addresses
        outside = [a for a in reader.addresses if re.match(r"(https?:)?//", a)]
        assert outside == [], page.name


@needs_mkdocs
def test_every_public_name_is_in_the_reference(site: Path) -> None:
    reference = "".join(p.read_text(encoding="utf-8") for p in sorted((site / "api").glob("*.html")))
    anchors = set(re.findall(r'id="(vqaudit\.[\w.]+)"', reference))
    for name in vqaudit.__all__:
        assert any(anchor.endswith(f".{name}") for anchor in anchors), name


@needs_mkdocs
def test_examples_of_docstrings_are_code(site: Path) -> None:
    page = (site / "api" / "data.html").read_text(encoding="utf-8")
    assert "Examples:" in page
    assert "&gt;&gt;&gt;" in page or 'class="gp"' in page
    assert "<blockquote>" not in page


def _hooks():
    pytest.importorskip("mkdocs")
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "docs" / "site" / "hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_that_leave_the_site_become_names() -> None:
    named = _hooks().name_outside_files
    assert named("[the log](../tests/log.txt)", page="a.md") == "the log (`tests/log.txt`)"
    assert named("[`tests/log.txt`](../tests/log.txt)", page="a.md") == "`tests/log.txt`"
    assert named("[Data](../api/data.md#x)", page="how-to/a.md") == "[Data](../api/data.md#x)"
    assert named("[demo](../../demo/README.md)", page="how-to/a.md") == "demo (`demo/README.md`)"
    assert named("![x](../images/x.png)", page="how-to/a.md") == "![x](../images/x.png)"


@pytest.mark.parametrize(
    ("heading", "anchor"), [("Whose A is it?", "whose-a-is-it"), ("What `x_y` is, and-so", "what-x_y-is-and-so")]
)
def test_anchors_are_those_of_plain_markdown_views(heading: str, anchor: str) -> None:
    assert _hooks().github_slug(heading, "-") == anchor
