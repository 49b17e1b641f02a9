"""Mitigation methods against pseudo-gold."""

import pytest

from vqaudit.analysis.cells import Layout, read_cells, read_methods
from vqaudit.analysis.cells.methods import MethodTable, method_rows
from vqaudit.errors import DatasetError

GOLD = {"d": {"m": 0.9, "n": 0.6, "o": 0.3}}


@pytest.fixture
def write(tmp_path):
    def write(text: str):
        path = tmp_path / "methods.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def table(**accuracy: dict[str, float]) -> MethodTable:
    return MethodTable(source="m.csv", methods=tuple(accuracy), accuracy={"d": accuracy}, printed_rank={})


def test_a_method_is_judged_by_its_ranks() -> None:
    row = method_rows(table(v={"m": 0.5, "n": 0.7, "o": 0.2}), GOLD)["d"]["v"]
    assert row.rank == {"m": 2, "n": 1, "o": 3}
    assert (row.correctly_ranked, row.models) == (1, 3)
    assert row.spearman == pytest.approx(0.5)
    assert row.mean_error_pp == pytest.approx((40 + 10 + 10) / 3)


def test_ties_are_told_both_ways() -> None:
    row = method_rows(table(v={"m": 0.5, "n": 0.5, "o": 0.2}), GOLD)["d"]["v"]
    assert row.rank == {"m": 1, "n": 1, "o": 3}
    assert row.average_rank == {"m": 1.5, "n": 1.5, "o": 3.0}
    assert row.correctly_ranked == 2
    # average ranks 1.5 1.5 3 against 1 2 3: 1.5 / sqrt(1.5 * 2); competition ranks 1 1 3: 2 / sqrt(8/3 * 2)
    assert row.spearman == pytest.approx(1.5 / 3**0.5)
    assert row.spearman_of_competition_ranks == pytest.approx(2 / (16 / 3) ** 0.5)


def test_models_without_an_accuracy_leave_the_comparison() -> None:
    row = method_rows(table(v={"n": 0.7, "o": 0.2, "stranger": 0.9}), GOLD)["d"]["v"]
    assert (row.models, row.correctly_ranked) == (2, 2)
    alone = method_rows(table(v={"n": 0.7}), GOLD)["d"]["v"]
    assert alone.spearman is None


def test_pseudo_gold_rows_are_no_method_and_unknown_data_sets_are_left_out() -> None:
    assert method_rows(table(pseudo_gold={"m": 0.9}), GOLD) == {}
    assert method_rows(table(v={"m": 0.9}), {"other": {"m": 0.5}}) == {}


def test_methods_are_read_with_their_printed_ranks(write) -> None:
    path = write("dataset,model,method,accuracy_pct,printed_rank\nd,m,v,50,2\nd,n,v,,\nd,n,w,70,1\n")
    found = read_methods(path)
    assert found.accuracy == {"d": {"v": {"m": 0.5}, "w": {"n": 0.7}}}
    assert found.printed_rank == {"d": {"v": {"m": 2}, "w": {"n": 1}}}
    assert found.methods == ("v", "w")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dataset,model,accuracy_pct\nd,m,50\n", "a column for the method"),
        ("dataset,model,method,accuracy_pct\nd,m,v,50\nd,m,v,51\n", "row 2: d / m / v stands in row 1"),
        ("dataset,model,method,accuracy\nd,m,v,0.5\n", "does not tell shares from per cent"),
        ("dataset,model,method,accuracy_pct,printed_rank\nd,m,v,50,1.5\n", "'1.5' is no rank"),
        ("dataset,model,method,accuracy_pct,printed_rank\nd,m,v,50,0\n", "'0' is no rank"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(write, text, said) -> None:
    with pytest.raises(DatasetError) as caught:
        read_methods(write(text))
    assert said in str(caught.value)
    assert "methods.csv" in str(caught.value)


def test_a_scale_declared_for_the_cells_does_not_contradict_a_name_here(write) -> None:
    path = write("dataset,model,method,accuracy_pct\nd,m,v,50\n")
    assert read_methods(path, Layout(scale="share")).accuracy["d"]["v"] == {"m": 0.5}


def test_columns_declared_for_the_cells_count_where_the_methods_have_them(write) -> None:
    path = write("dataset,checkpoint,method,accuracy_pct\nd,m,v,50\n")
    layout = Layout(columns={"model": "checkpoint", "coverage": "cov"})
    assert read_methods(path, layout).accuracy == {"d": {"v": {"m": 0.5}}}


def test_one_layout_serves_both_tables(write, tmp_path) -> None:
    path = write("dataset,checkpoint,way,accuracy_pct\nd,m,v,50\n")
    layout = Layout(columns={"model": "checkpoint", "method": "way"})
    assert read_methods(path, layout).accuracy == {"d": {"v": {"m": 0.5}}}
    cells = tmp_path / "cells.csv"
    cells.write_text("dataset,checkpoint,delimiter,accuracy_pct\nd,m,dot,50\n", encoding="utf-8")
    assert read_cells(cells, layout).models == ("m",)
