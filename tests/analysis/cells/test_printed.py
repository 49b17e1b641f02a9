"""Printed values against ours."""

import pytest

from vqaudit.analysis.cells.methods import MethodTable
from vqaudit.analysis.cells.printed import (
    PrintedValue,
    compare_printed,
    fingerprint,
    is_paper1,
    paper1_printed,
    printed_in_methods,
    read_printed,
)
from vqaudit.errors import DatasetError

FOUND = {"accuracy_pct": {"d": {"org/m": 59.374, "n": None}}, "range": [-48.469, 27.9], "right": {"v": 3}}


def value(key: str, printed: str, tolerance: float = 0.05, cause: str = "") -> PrintedValue:
    return PrintedValue(key=key, where="Tab. 1", printed=printed, tolerance=tolerance, likely_cause=cause)


@pytest.mark.parametrize(
    ("key", "printed", "tolerance", "kind"),
    [
        ("accuracy_pct/d/org~1m", "59.27", 0.05, "differs"),
        ("accuracy_pct/d/org~1m", "59.37", 0.05, None),
        ("accuracy_pct/d/org~1m", "59.33", 0.05, None),
        ("range/0", "-48", 0.05, "rounding"),
        ("range/0", "-47", 0.05, "differs"),
        ("range/1", "27.9", 0.05, None),
        ("right/v", "3", 0, None),
        ("right/v", "2", 0, "differs"),
        ("accuracy_pct/d/n", "1", 0.05, None),
        ("accuracy_pct/d/stranger", "1", 0.05, None),
        ("range/7", "1", 0.05, None),
        ("right/v/deeper", "1", 0.05, None),
    ],
)
def test_a_value_is_listed_where_it_differs_by_more_than_its_tolerance(key, printed, tolerance, kind) -> None:
    rows = compare_printed(FOUND, [value(key, printed, tolerance)])
    assert [row.kind for row in rows] == ([] if kind is None else [kind])
    if rows:
        assert rows[0].difference == pytest.approx(float(printed) - rows[0].ours)


def test_of_two_entries_the_one_with_a_cause_is_kept_and_real_differences_come_first() -> None:
    entries = [value("range/0", "-48"), value("right/v", "2", 0), value("right/v", "2", 0, "a miscount")]
    rows = compare_printed(FOUND, entries)
    assert [(row.kind, row.likely_cause) for row in rows] == [
        ("differs", "a miscount"),
        ("rounding", "rounded in print"),
    ]


def test_a_table_of_methods_prints_ranks_and_pseudo_gold() -> None:
    methods = MethodTable(
        source="m.csv",
        methods=("pseudo_gold", "v"),
        accuracy={"d": {"pseudo_gold": {"org/m": 0.779904}, "v": {"org/m": 0.5}}},
        printed_rank={"d": {"pseudo_gold": {"org/m": 1}, "v": {"org/m": 2}}},
    )
    found = {entry.key: entry.printed for entry in printed_in_methods(methods)}
    assert found == {
        "pseudo_gold_rank/d/org~1m": "1",
        "methods/d/v/rank/org~1m": "2",
        "pseudo_gold_accuracy_pct/d/org~1m": "77.9904",
    }


def test_a_fingerprint_follows_the_cells_and_nothing_else(random_table, make_table) -> None:
    order = list(reversed(range(48)))
    turned = make_table(
        random_table.accuracy[::-1, :, order],
        datasets=random_table.datasets[::-1],
        factors={name: random_table.factors[name] for name in random_table.factors},
        formats=[random_table.formats[place] for place in order],
    )
    assert fingerprint(turned) == fingerprint(random_table)
    changed = random_table.accuracy.copy()
    changed[0, 0, 0] += 0.001
    other = make_table(changed, factors=random_table.factors)
    assert fingerprint(other) != fingerprint(random_table)
    assert not is_paper1(random_table)


def test_what_the_paper_prints_can_be_read_and_is_named_once() -> None:
    keys = [entry.key for entry in paper1_printed()]
    assert len(keys) == len(set(keys)) > 90
    assert all(entry.where.startswith(("Tab.", "Sec.", "App.")) for entry in paper1_printed())


def test_printed_values_of_ones_own_are_checked_as_they_are_read(tmp_path) -> None:
    path = tmp_path / "printed.csv"
    path.write_text("key,where,printed,tolerance,likely_cause\nspread_pp/d/m,abstract,59,0.05,\n", encoding="utf-8")
    assert read_printed(path)[0].printed == "59"
    path.write_text("key,printed\nspread_pp/d/m,59\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="needs the columns"):
        read_printed(path)
    path.write_text("key,where,printed,tolerance,likely_cause\nspread_pp/d/m,abstract,,0.05,\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"row 1, column 'printed': the field is empty"):
        read_printed(path)
