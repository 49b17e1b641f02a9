"""Every example script runs as written, in an empty folder, and says what its comments say."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
PERCENT = r"(\d+\.\d) %"


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Runs an example and returns what it prints."""

    def run(number: str) -> str:
        (script,) = EXAMPLES.glob(f"{number}_*.py")
        monkeypatch.chdir(tmp_path)
        runpy.run_path(str(script), run_name="__main__")
        return capsys.readouterr().out

    return run


def percents(text: str, label: str) -> list[float]:
    """The percentages after a label at the beginning of a line."""
    line = next(line for line in text.splitlines() if line.startswith(label))
    return [float(number) for number in re.findall(PERCENT, line)]


def test_there_are_six_short_scripts_in_order() -> None:
    assert [path.name[:2] for path in SCRIPTS] == ["01", "02", "03", "04", "05", "06"]
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 90, f"{path.name} is no short example"
        assert f"python examples/{path.name}" in text, f"{path.name} does not say how to run it"


def test_one_pass_over_the_demo(said, tmp_path) -> None:
    shown = said("01")
    grid, reference = percents(shown, "grid accuracy")[0], percents(shown, "reference format")[0]
    assert reference > grid + 30, "the packaged model is good in its reference format alone"
    assert "worst format        None - the worst format" in shown
    assert "shape" in shown
    assert (tmp_path / "runs/examples/demo/page.html").stat().st_size > 50_000


def test_own_data_in_three_files(said) -> None:
    shown = said("02")
    firsts = [line.partition("first:")[2] for line in shown.splitlines() if " 6 items;" in line]
    assert firsts == [" ('green', 'red', 'blue', 'yellow') 1"] * 3
    assert "row 1, column 'answer', item 'circle-0': answer 'F' is not among A to D" in shown
    assert percents(shown, "reference format")[0] > 70


def test_a_format_is_chosen(said) -> None:
    shown = said("03")
    assert shown.startswith("48 formats, 16 items")
    assert percents(shown, "best")[0] > 80 > 20 > percents(shown, "worst")[0]
    assert re.search(r"highest +upper/\w+/\w+ \(\d+ cannot be told from it\)", shown)


def test_another_harness_is_read(said) -> None:
    """By hand: 40 samples, every fifth wrong (32 right), the 20 even ones with text that exact match does not take.

    Of the even ones 4 are wrong, so that exact match keeps 32 - 16 = 16. In the second run samples 5 and 9 say `A`:
    5 was wrong before and stays so, 9 was right (`B`).
    """
    shown = said("04")
    assert percents(shown, "as the log scored it") == [40.0]
    assert percents(shown, "read anew") == [80.0]
    assert "not read as it: 20" in shown
    assert "+40.0 pp from first to first: the same reply was read otherwise (readings)" in shown
    assert "-2.5 pp from first to again: the same prompt got another reply (replies)" in shown
    assert re.search(r"replies +-2\.5 .*gained 0, lost 1", shown)


def test_an_unreadable_score_is_told(said) -> None:
    shown = said("05")
    assert re.search(r"cot-prefix +mismatched", shown)
    assert not re.search(r"(direct|bare-scores|free-cot) +mismatched", shown)
    assert "its score is not what the model knows" in shown


def test_two_models_are_compared(said, tmp_path) -> None:
    shown = said("06")
    assert "sharp is better than blurred" in shown
    assert "drop: fails" in shown
    assert "exit code 1" in shown
    assert (tmp_path / "runs/examples/card.md").read_text(encoding="utf-8").startswith("---\nmodel-index:")
