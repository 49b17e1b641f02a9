"""The terminal: right, readable in 80 columns, and safe."""

import subprocess
import sys

import pytest
from rich.cells import cell_len

from vqaudit.analysis import summarise
from vqaudit.report.terminal import comparison_view, cost_view, summary_view
from vqaudit.report.terminal.layout import bar
from vqaudit.run.presets import with_preset

COST = {
    "trials": 1200,
    "items": 20,
    "images": 19,
    "trials_by_interface": {"direct": 1000, "cot-prefix": 200},
    "prompt_tokens": 123456,
    "seconds": 200.0,
    "sampled": 24,
}


def written(estimate) -> str:
    """A figure as this test thinks that it is written."""
    return f"{100 * estimate.value:.1f} % [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def test_measurement_faults_come_before_every_figure(grid_summary, terminal) -> None:
    shown = terminal(summary_view(grid_summary))
    assert shown.index("measurement faults") < shown.index("Grid accuracy") < shown.index("Accuracy by factor level")


def test_names_of_interfaces_stand_unbroken_in_80_columns(grid_summary, terminal) -> None:
    names = [name.partition("@")[0] for name in with_preset({"preset": "interfaces"})["interface"]]
    row = next(iter(grid_summary.interfaces.values()))
    assert max(map(len, names)) == len("scores:explanation-cue")
    shown = terminal(summary_view(grid_summary.model_copy(update={"interfaces": dict.fromkeys(names, row)})))
    assert set(names) <= set(shown.split())
    assert max(map(cell_len, shown.splitlines())) <= 80


def test_every_key_figure_is_there(grid_summary, terminal) -> None:
    shown = terminal(summary_view(grid_summary), width=200)
    figures = [
        grid_summary.grid_accuracy,
        grid_summary.row_accuracy,
        grid_summary.lenient_accuracy,
        grid_summary.strict_circular,
        grid_summary.reference_accuracy,
        grid_summary.coverage,
        grid_summary.coverage_parts.needs_more_tokens,
        grid_summary.coverage_parts.out_of_scheme,
        grid_summary.best_format.accuracy,
        grid_summary.worst_format.accuracy,
        *(part.accuracy for parts in grid_summary.factors.values() for part in parts),
        *(part.accuracy for part in grid_summary.groups),
        *(row.accuracy for row in grid_summary.interfaces.values()),
    ]
    assert [written(figure) for figure in figures if written(figure) not in shown] == []
    spread = grid_summary.spread
    assert f"{100 * spread.value:.1f} pp [{100 * spread.low:.1f}, {100 * spread.high:.1f}]" in shown
    for name, row in grid_summary.interfaces.items():
        line = next(line for line in shown.splitlines() if line.split()[:1] == [name] and "[" in line)
        assert f"{100 * row.first_position_rate.value:.1f} %" in line
    for finding in grid_summary.findings:
        assert finding.split(";")[0][:100] in shown


@pytest.mark.parametrize("name", ["grid", "randomised", "scores_only", "unfinished"])
def test_eighty_columns_are_enough_and_nothing_reads_none_or_nan(name: str, request, terminal) -> None:
    shown = terminal(summary_view(summarise(request.getfixturevalue(name), by="category")))
    assert max(cell_len(line) for line in shown.splitlines()) <= 80
    assert "None" not in shown
    assert "nan" not in shown.lower().split()


def test_what_the_run_cannot_tell_is_said_with_its_reason(randomised, terminal) -> None:
    summary = summarise(randomised)
    shown = " ".join(terminal(summary_view(summary), width=300).split())
    for key in ("spread", "strict_circular", "reference_accuracy"):
        assert summary.reasons[key] in shown


def test_a_run_without_a_finished_trial_has_a_summary(unfinished, terminal) -> None:
    shown = terminal(summary_view(summarise(unfinished)))
    assert "Grid accuracy unknown" in shown
    assert "0.0 %" not in shown.split("Grid accuracy unknown")[0]


def test_text_of_others_is_neither_markup_nor_a_command(folder, written_run, asked_items, pretended, terminal) -> None:
    run = written_run(
        folder("marked"),
        items=asked_items(4),
        arms=[("direct", "randomised")],
        mind=pretended(0.5),
        model="[red]not red[/red] \x1b[31mred\x1b[0m \u202eright to left",
    )
    shown = terminal(summary_view(summarise(run)), width=200)
    assert "[red]not red[/red] ␛[31mred␛[0m �right to left" in shown
    assert "\x1b" not in shown


def test_an_encoding_without_blocks_and_dashes_gets_plain_characters(grid_summary, terminal) -> None:
    for encoding in ("ascii", "cp1252"):
        shown = terminal(summary_view(grid_summary), encoding=encoding)
        assert "###" in shown
        assert "?" not in shown.replace("What", "")


@pytest.mark.parametrize("width", [10, 20, 33])
def test_bars_are_as_long_as_their_bounds(width: int, grid_summary) -> None:
    for part in grid_summary.factors["id_set"]:
        drawn = bar(part.accuracy, width).plain
        assert drawn.count("█") == round(part.accuracy.low * width)
        assert len(drawn) == round(part.accuracy.high * width)


def test_a_comparison_ranks_with_its_uncertainty(rivalry, terminal) -> None:
    shown = terminal(comparison_view(rivalry), width=120)
    assert max(cell_len(line) for line in terminal(comparison_view(rivalry)).splitlines()) <= 80
    for run in rivalry.runs:
        assert written(run.accuracy) in shown
        assert f"{100 * run.p_best:.1f} %" in shown
    for pair in rivalry.pairs:
        assert f"{100 * abs(pair.difference.value):.1f} pp" in shown
    ranking = shown[shown.index("Ranking") : shown.index("Paired differences")].splitlines()
    ranked = [line.split()[1] for line in ranking if line.strip()[:2] in ("1 ", "2 ", "3 ")]
    assert ranked == [run.name for run in rivalry.runs] == ["strong", "pretended", "weak"]
    assert "In how many of 48 formats" in shown


def test_the_cost_of_a_plan(terminal) -> None:
    shown = terminal(cost_view(COST, model="/home/ada/tiny", data="blocks"))
    assert "tiny on blocks" in shown
    assert "/home/ada" not in shown
    for figure in ("1,200", "1,000", "200", "123,456", "3 min 20 s", "24 trials", "19 pictures"):
        assert figure in shown
    unknown = terminal(cost_view(COST | {"prompt_tokens": None, "seconds": None}, model="m", data="d"))
    assert "not timed" in unknown
    assert "None" not in unknown


def test_the_terminal_needs_no_extra(tmp_path) -> None:
    code = "import sys, vqaudit.report.terminal; print([m for m in ('altair', 'vl_convert', 'jinja2') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"


def test_the_worst_format_has_the_interval_of_whichever_it_is(grid_summary, terminal) -> None:
    shown = terminal(summary_view(grid_summary))
    (line,) = [line for line in shown.splitlines() if "the worst, whichever it is" in line]
    assert written(grid_summary.worst_case) in line
    assert "upper/double_brackets/line_break" not in shown or "line_\n" not in shown
    assert "-0." not in shown.split("nearest")[1].splitlines()[0]


def test_a_plan_with_one_interface_names_it_beside_the_trials(terminal) -> None:
    shown = terminal(cost_view(COST | {"trials_by_interface": {"direct": 1200}}, model="m", data="d"))
    assert "trials" in shown
    assert "through direct" in shown
    assert shown.count("direct") == 1
