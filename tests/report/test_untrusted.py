"""Text that others wrote can be shown anywhere and acts nowhere."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.report.untrusted import bare_name, printable

anything = st.text(st.characters(codec=None, categories=None))


@given(anything)
def test_nothing_is_left_that_acts_or_cannot_be_written(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    controls = {c for c in shown if unicodedata.category(c) in ("Cc", "Cs") or "\u202a" <= c <= "\u202e"}
    assert controls <= {"\n", "\t"}
    assert len(shown) == len(text)
    assert printable(shown) == shown


@pytest.mark.parametrize(
    "text", ["Ünïcödé", "שלום עולם", "日本語", "👩🏽‍🔬 and 🇫🇷", "$\\frac{1}{2}$", "a\tb\nc", "<b>&amp;"]
)
def test_letters_of_every_script_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("/home/ada/models/tiny", "tiny"),
        ("/home/ada/models/tiny/", "tiny"),
        ("~/tiny", "tiny"),
        ("./runs/tiny", "tiny"),
        ("..\\runs\\tiny", "tiny"),
        ("C:\\Users\\ada\\tiny", "tiny"),
        ("\\\\server\\share\\tiny", "tiny"),
        ("Qwen/Qwen2-VL-2B-Instruct", "Qwen/Qwen2-VL-2B-Instruct"),
        ("gpt-4o", "gpt-4o"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_paths_lose_their_folders_and_hub_names_do_not(name: str, bare: str) -> None:
    assert bare_name(name) == bare
