"""The policy: it names the page's own script and style by their hashes, and nothing else."""

import base64
import hashlib
import re
import shutil
import subprocess

import pytest

from vqaudit.report.page import render_page
from vqaudit.report.policy import content_policy, page_script, page_style


def test_the_hashes_are_those_of_what_stands_in_the_page(randomised) -> None:
    html = render_page([randomised])
    for tag, kind in (("<script>", "script"), ("<style>", "style")):
        inner = html.split(tag)[1].split(f"</{kind}>")[0]
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{kind}-src &#39;sha256-{digest}&#39;" in html


def test_a_changed_script_has_another_policy() -> None:
    assert content_policy(script="a", style="") != content_policy(script="b", style="")


def test_the_script_evaluates_no_text_and_sets_no_markup() -> None:
    script = page_script()
    assert not re.search(
        r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|fetch\(|XMLHttp", script
    )
    assert "</" not in script
    assert "url(" not in page_style()
    assert "@import" not in page_style()


def test_the_script_is_well_formed(tmp_path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed; Chromium's own tests load the script")
    (tmp_path / "page.js").write_text(page_script(), encoding="utf-8")
    subprocess.run([node, "--check", tmp_path / "page.js"], check=True)
