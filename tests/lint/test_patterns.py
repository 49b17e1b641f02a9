"""Patterns of strangers are tried only where they cannot run for ever."""

import re
import time

import pytest

from vqaudit.lint.patterns import is_safe_to_try
from vqaudit.lint.requests import requests_in


@pytest.mark.parametrize("pattern", [r"(.+)+x", r"((\w)+)*$", r"(a|ab)*$", r"(?:[a-z]+,?){2,}$", "x" * 500])
def test_what_may_never_end_is_not_tried(pattern: str) -> None:
    assert not is_safe_to_try(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"([ABCD])", r"\b([A-Z])\b", r"(?:answer|choice) is:? ?\(?([A-D])\)?", r"[(+*|]+", r"\(a+\)+", r"(a+) (b*)"],
)
def test_plain_patterns_are_tried(pattern: str) -> None:
    re.compile(pattern)
    assert is_safe_to_try(pattern)


def test_a_picture_written_as_text_takes_no_time() -> None:
    started = time.perf_counter()
    text = "not " * 50_000 + "a+/" * 700_000 + "\nThink step by step."
    assert [found.kind for found in requests_in(text)] == ["reasoning"]
    assert time.perf_counter() - started < 20
