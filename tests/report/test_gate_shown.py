"""How a decision is shown: in GitHub's summary and in 80 columns."""

from dataclasses import replace

import pytest
from rich.cells import cell_len

from vqaudit.analysis.gate import Limits, check_run
from vqaudit.report.gate import gate_markdown
from vqaudit.report.terminal.gate import gate_view


@pytest.fixture(scope="module")
def gate(rivals):
    limits = Limits(min_accuracy=0.9, min_worst=0.1, min_coverage=0.7, max_spread=0.5, max_drop=0.1)
    return check_run(rivals[2], limits, against=rivals[1])


def test_the_table_has_a_row_per_check(gate) -> None:
    lines = gate_markdown(gate).splitlines()
    assert lines[0] == "### ✘ vqaudit check: fails"
    rows = [line for line in lines if line.startswith(("| ✔", "| ✘", "| ?"))]
    assert [row.split("|")[2].strip() for row in rows] == [
        "grid accuracy",
        "worst format",
        "coverage of replies",
        "spread over formats",
        "drop from the baseline",
    ]
    assert all(row.count("|") == 8 for row in rows)
    drop = gate.checks[-1].figure
    assert f"+{100 * drop.value:.1f} pp [+{100 * drop.low:.1f}, +{100 * drop.high:.1f}]" in rows[-1]


def test_a_models_name_cannot_write_markdown(gate) -> None:
    text = gate_markdown(gate.model_copy(update={"model": "<img src=x>|[a](b)", "notes": ["a\n# b"]}))
    assert "<img" not in text
    assert "\n# b" not in text


def test_the_terminal_stays_in_80_columns(gate, terminal) -> None:
    shown = terminal(gate_view(gate))
    assert max(cell_len(line.rstrip()) for line in shown.splitlines()) <= 80
    assert shown.startswith("✘ fails")
    for check in gate.checks:
        assert check.verdict == "passes" or check.reason[:30] in " ".join(shown.split())


def test_what_cannot_be_told_has_no_figure(grid, terminal) -> None:
    bare = replace(grid, plan=grid.plan.filter(grid.plan["design"] == "randomised"))
    gate = check_run(bare, Limits(min_worst=0.1))
    shown = terminal(gate_view(gate))
    assert "? cannot tell" in shown
    assert "≥ 10.0 %" in shown
    assert "--design" in shown
