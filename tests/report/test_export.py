"""Exported tables: every one there, exact in Parquet, harmless in a spreadsheet."""

import csv
import io
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from vqaudit.analysis import summarise
from vqaudit.analysis.cells import analyse_cells, read_cells
from vqaudit.analysis.tables import summary_tables
from vqaudit.errors import AnalysisError
from vqaudit.report.export import GRID, as_csv, export_runs, record_tables

FORMULAS = ["=HYPERLINK(1)", "+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1"]


def cells(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.fixture(scope="module")
def exported(grid, tmp_path_factory):
    out = tmp_path_factory.mktemp("tables")
    return out, export_runs([grid], out)


def test_every_table_is_written_in_both_kinds(exported, grid) -> None:
    out, written = exported
    names = {*summary_tables(summarise(grid)), "trials", "items", "plan", GRID}
    assert {path.name for path in written} == {f"{name}.{kind}" for name in names for kind in ("csv", "parquet")}
    assert {path.name for path in out.iterdir()} == {path.name for path in written}


def test_csv_and_parquet_say_the_same(exported) -> None:
    out, _ = exported
    for name in ("formats", "factors", "figures", "interfaces", GRID):
        parquet = pl.read_parquet(out / f"{name}.parquet")
        assert_frame_equal(pl.read_csv(out / f"{name}.csv", schema=parquet.schema), parquet)


def test_trials_say_whether_they_are_right(exported, grid) -> None:
    out, _ = exported
    trials = pl.read_parquet(out / "trials.parquet")
    assert trials["trial"].to_list() == grid.trials["trial"].to_list()
    assert trials["order"].to_list() == grid.trials["order"].to_list()
    answers = dict(grid.items.select("item", "answer").iter_rows())
    for row in trials.head(300).iter_rows(named=True):
        assert row["right"] == (row["outcome"] == "chosen" and row["chosen"] == answers[row["item"]])


def test_items_have_their_share_right_through_the_main_interface(grid, grid_summary) -> None:
    items = record_tables(grid, grid_summary)["items"]
    assert items["item"].to_list() == grid.items["item"].to_list()
    assert items["main_trials"].to_list() == [192] * 40
    assert items["main_right"].mean() == pytest.approx(grid_summary.grid_accuracy.value)


@pytest.mark.parametrize("text", FORMULAS)
def test_text_that_would_be_a_formula_is_defused(text) -> None:
    frame = pl.DataFrame({"reply": [text, "A", None], "margin": [-1.5, 2.0, None]})
    assert cells(as_csv(frame)) == [["reply", "margin"], [f"'{text}", "-1.5"], ["A", "2.0"], ["", ""]]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_no_text_begins_a_formula_and_none_is_lost(texts) -> None:
    shown = [row[0] for row in cells(as_csv(pl.DataFrame({"text": texts})))[1:]]
    for text, cell in zip(texts, shown, strict=True):
        assert cell in (text, f"'{text}")
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_are_exact(numbers) -> None:
    text = as_csv(pl.DataFrame({"number": numbers}))
    assert [float(row[0]) for row in cells(text)[1:]] == numbers


def test_lists_are_json(exported, grid) -> None:
    out, _ = exported
    read = pl.read_csv(out / "trials.csv", infer_schema=False)
    assert [json.loads(text) for text in read["option_ids"]] == grid.trials["option_ids"].to_list()


def test_several_runs_share_one_grid_that_can_be_analysed(rivals, tmp_path) -> None:
    written = export_runs(rivals, tmp_path, kinds=("csv",))
    assert tmp_path / f"{GRID}.csv" in written
    assert {path.parent.name for path in written if path.parent != tmp_path} == {run.path.name for run in rivals}
    read = read_cells(tmp_path / f"{GRID}.csv")
    assert set(read.models) == {"pretended", "strong", "weak"}
    gold = analyse_cells(read).pseudo_gold_accuracy_pct["blocks"]
    for run in rivals:
        expected = summarise(run, details=False)
        assert gold[expected.model] == pytest.approx(100 * expected.grid_accuracy.value)


def test_only_what_was_asked_for_is_written(randomised, tmp_path) -> None:
    written = export_runs([randomised], tmp_path, kinds=("parquet",))
    assert {path.suffix for path in written} == {".parquet"}
    assert not (tmp_path / f"{GRID}.parquet").exists()
    with pytest.raises(AnalysisError, match="'xlsx' is no kind of table"):
        export_runs([randomised], tmp_path, kinds=("xlsx",))
    with pytest.raises(AnalysisError, match="at least one run"):
        export_runs([], tmp_path)
