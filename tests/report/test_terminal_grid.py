"""A table of cells in the terminal: complete, readable in 80 columns, and safe."""

import io
from itertools import product

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from vqaudit.analysis.cells import CellTable, MethodTable, analyse_cells
from vqaudit.analysis.cells.printed import PrintedValue
from vqaudit.report.terminal.grid import grid_view

FACTORS = {
    "option_ids": ("upper", "lower", "number", "roman"),
    "delimiter": ("dot", "colon", "bracket", "double_brackets"),
    "separator": ("comma", "line_break", "semicolon"),
}


def make(datasets: list[str], models: list[str], factors=FACTORS, *, covered: bool = True) -> CellTable:
    formats = tuple(product(*factors.values()))
    rng = np.random.default_rng(2)
    coverage = rng.uniform(0.5, 1.0, (len(datasets), len(models), len(formats)))
    coverage[:, 0, : len(formats) // 2] = 0.0
    return CellTable(
        source="own.csv",
        datasets=tuple(datasets),
        models=tuple(models),
        factors=factors,
        formats=formats,
        accuracy=coverage * rng.uniform(0.2, 0.9, (*coverage.shape[:2], 1)) * rng.uniform(0.9, 1.0, coverage.shape),
        coverage=coverage if covered else None,
    )


def methods(table: CellTable) -> MethodTable:
    rng = np.random.default_rng(3)
    names = ("vanilla", "a-method-with-a-long-name", "pride", "pia", "cp_ln", "randomised")
    accuracy = {d: {name: {m: float(rng.uniform()) for m in table.models} for name in names} for d in table.datasets}
    return MethodTable(source="methods.csv", methods=names, accuracy=accuracy, printed_rank={})


def shown(found, width: int = 80, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    console = Console(file=io.TextIOWrapper(raw, encoding=encoding), width=width, force_terminal=False)
    console.print(grid_view(found))
    console.file.flush()
    return raw.getvalue().decode(encoding)


@pytest.fixture(scope="module")
def full():
    table = make([f"Bench-{i}-RealWorld" for i in range(6)], [f"Model-{i}.5" for i in range(5)])
    printed = [
        PrintedValue(key="cells/present", where="abstract", printed="1000", tolerance=0, likely_cause="a miscount"),
        PrintedValue(key="lmm/upper/coef_pp", where="Sec. 5", printed="99", tolerance=0.05),
    ]
    return analyse_cells(table, methods(table), printed=printed)


def test_every_section_is_there_and_faults_come_first(full) -> None:
    text = shown(full)
    titles = [
        "Beware",
        "Findings",
        "Pseudo-gold accuracy in %",
        "Accuracy of factor levels, deviation in pp",
        "Coverage",
        "Effects on accuracy in pp",
        "The same effects with one model left out",
        "Where accuracies differ",
        "Ranks over formats",
        "Who is first, by format",
        "The two formats whose rankings agree least",
        "One format that ranks most like all of them",
        "Methods against pseudo-gold",
        "Printed values that differ",
    ]
    places = [text.index(f"\n{title}") for title in titles]
    assert places == sorted(places)
    assert "What this table cannot tell" not in text


def test_figures_are_those_of_the_findings(full) -> None:
    text = shown(full, 200)
    for dataset, row in full.pseudo_gold_accuracy_pct.items():
        for model, accuracy in row.items():
            assert f"{accuracy:.1f} ({full.pseudo_gold_rank[dataset][model]})" in text
    for level, effect in full.lmm.items():
        if level != "Intercept":
            low, high = full.model_clustered[level].ci95
            line = next(line for line in text.splitlines() if line.split()[:1] == [level] and "[" in line)
            assert f"[{low:+.1f}, {high:+.1f}]".replace("-", "−") in line
            assert f"{effect.coef_pp:+.1f}".replace("-", "−") in line
    assert f"{100 * full.sum_of_squares[0].share:.1f} %" in text
    assert full.recommended_format.format in text
    assert "cells / present: printed 1000, ours 1440" in text
    assert "abstract; a miscount" in text
    for row in full.methods["Bench-0-RealWorld"].values():
        assert f"{row.spearman:.3f}".replace("-", "−") in text


@pytest.mark.parametrize(
    "table",
    [
        make(["d"], ["m"], {"delimiter": ("dot",)}, covered=False),
        make(["d"], ["m", "n"], {"delimiter": ("dot", "colon")}, covered=False),
        make(
            [f"a data set with a name of many words {i}" for i in range(3)],
            [f"org/{'model' * 6}-{i}" for i in range(12)],
        ),
        make(["d", "e"], ["m", "n", "o"], {name * 6: ("x" * 30, "y") for name in "pqrst"}),
    ],
    ids=["one cell", "no coverage", "many long names", "many factors"],
)
def test_eighty_columns_are_enough_and_nothing_reads_none_or_nan(table: CellTable) -> None:
    found = analyse_cells(table, methods(table))
    for encoding in ("utf-8", "ascii"):
        text = shown(found, encoding=encoding)
        assert max(cell_len(line) for line in text.splitlines()) <= 80
        words = text.replace("[", " ").replace("]", " ").split()
        assert {"None", "nan", "inf"}.isdisjoint(words)


def test_what_the_table_cannot_tell_is_said_once_with_its_reason() -> None:
    found = analyse_cells(make(["d"], ["m"], {"delimiter": ("dot", "colon")}, covered=False))
    text = " ".join(shown(found, 300).split())
    assert found.reasons["lmm"] in text
    assert text.count("own.csv has no column for coverage") == 1


def test_names_cannot_act_on_the_terminal() -> None:
    table = make(["[bold]d[/]\x1b[31m"], ["m\x07\u202e", "n"], {"delimiter": ("a\nb", "[red]")})
    text = shown(analyse_cells(table))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "[bold]d" in text
    assert "[red]" in text
