"""Tables of a summary: nothing is left out, and nothing is another number than in the summary."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from vqaudit.analysis import summarise
from vqaudit.analysis.cells import read_cells
from vqaudit.analysis.tables import FACTS, FIGURES, grid_layout, summary_tables

PAPER = Path(__file__).resolve().parents[3] / "shared" / "papers" / "format_grid.csv"


@pytest.fixture
def summary(grid_run, formats):
    run = grid_run(lambda n, fmt, _: n % 4 if fmt[0] == "upper" or n % 3 else None, n_items=12, formats=formats)
    for row in run.items:
        row["category"] = "even" if int(row["item"][1:]) % 2 == 0 else "odd"
    return summarise(run.write(dataset={"name": "made"}), by="category")


def numbers(value):
    """Every number of a JSON value, as a text that forgets 1 against 1.0."""
    if isinstance(value, dict):
        return [n for inner in value.values() for n in numbers(inner)]
    if isinstance(value, list):
        return [n for inner in value for n in numbers(inner)]
    return [f"{float(value):.12g}"] if isinstance(value, int | float) and not isinstance(value, bool) else []


def test_every_number_of_the_summary_is_in_a_table(summary) -> None:
    tables = summary_tables(summary)
    told = {text for frame in tables.values() for text in numbers(frame.to_dicts())}
    assert set(numbers(summary.to_dict())) <= told


def test_every_key_of_the_summary_is_in_a_table(summary) -> None:
    tables = summary_tables(summary)
    alone = {*tables[FIGURES]["key"], *tables[FACTS]["key"], *tables, *summary.reasons}
    empty = {key for key, value in summary.to_dict().items() if value in (None, [], {})}
    for key in set(summary.to_dict()) - empty:
        assert any(name == key or name.startswith(f"{key}_") for name in alone), key


def test_rows_are_those_of_the_summary(summary) -> None:
    formats = summary_tables(summary)["formats"]
    assert formats["format"].to_list() == [row.format for row in summary.formats]
    assert formats["accuracy_low"].to_list() == [row.accuracy.low for row in summary.formats]
    assert formats["coverage_exact_n"].to_list() == [row.coverage.exact.n for row in summary.formats]
    levels = summary_tables(summary)["selection_by_factor"]
    rows = summary.selection.by_factor["delimiter"]["dot"]
    shown = levels.filter(pl.col("factor") == "delimiter", pl.col("level") == "dot")
    assert shown["chosen"].to_list() == [row.chosen for row in rows]


def test_a_table_within_a_row_says_whose_it_is(summary) -> None:
    levels = summary_tables(summary)["effects_factors_levels"]
    assert set(levels["factor"]) >= {"id_set", "delimiter", "separator"}
    for name, factor in summary.effects.factors.items():
        mine = levels.filter(pl.col("factor") == name)
        assert mine["level"].to_list() == [row.level for row in factor.levels]


def test_a_figure_that_is_unknown_has_its_reason(builder) -> None:
    run = builder()
    run.add_trial(run.add_item("one"), designs=[("reference", 0)], chosen=0)
    figures = summary_tables(summarise(run.write()))[FIGURES]
    row = figures.row(by_predicate=pl.col("key") == "grid_accuracy", named=True)
    assert row["value"] is None
    assert "grid or randomised" in row["reason"]


def test_the_paper_layout_is_read_back_with_the_same_numbers(summary, tmp_path) -> None:
    file = tmp_path / "format_grid.csv"
    grid_layout(summary).write_csv(file)
    cells = read_cells(file)
    assert (cells.datasets, cells.models, len(cells.formats)) == (("made",), ("pretended",), 48)
    names = [dict(zip(cells.factors, levels, strict=True)) for levels in cells.formats]
    order = ("option_ids", "delimiter", "separator")
    by_format = {"/".join(levels[name] for name in order): place for place, levels in enumerate(names)}
    for row in summary.formats:
        assert cells.accuracy[0, 0, by_format[row.format]] == pytest.approx(row.accuracy.value, abs=1e-10)
        assert cells.coverage[0, 0, by_format[row.format]] == pytest.approx(row.coverage.exact.value, abs=1e-10)


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's cells are not beside the repository")
def test_the_paper_layout_has_the_papers_columns(summary) -> None:
    with PAPER.open(encoding="utf-8", newline="") as opened:
        assert grid_layout(summary).columns == next(csv.reader(opened))


def test_no_grid_no_layout(builder) -> None:
    run = builder()
    run.add_trial(run.add_item("one"), designs=[("randomised", 0)], chosen=0)
    assert grid_layout(summarise(run.write())) is None
