"""Files into rows."""

import csv
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vqaudit.errors import DatasetError
from vqaudit.items.tables import read_table

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet"])
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_typed_files_read_back(save, kind, texts):
    rows = [{"text": text, "number": 1.5, "list": [text, "b"], "none": None} for text in texts]
    table = read_table(save(rows, kind))
    assert [dict(row.cells) for row in table.rows] == rows
    assert [row.number for row in table.rows] == list(range(1, len(rows) + 1))


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_separated_files_read_back_as_text(save, kind, texts):
    rows = [{"a": text, "b": "1.0"} for text in texts]
    assert [dict(row.cells) for row in read_table(save(rows, kind)).rows] == rows


def test_no_cell_of_a_tsv_is_interpreted(save_text):
    path = save_text("a\tb\tc\td\te\nNone\tNA\tnan\t007\t1e3\n", "x.tsv")
    assert list(read_table(path).rows[0].cells.values()) == ["None", "NA", "nan", "007", "1e3"]


def test_bom_crlf_quoted_line_breaks_and_blank_lines(save_text):
    path = save_text(b'\xef\xbb\xbfa,b\r\n"one\r\ntwo",2\r\n\r\n"say ""hi""",\xc3\xa9\r\n', "x.csv")
    table = read_table(path)
    assert table.columns == ("a", "b")
    assert [dict(row.cells) for row in table.rows] == [{"a": "one\r\ntwo", "b": "2"}, {"a": 'say "hi"', "b": "é"}]
    assert [row.number for row in table.rows] == [1, 2]


def test_cells_of_megabytes_are_read_and_the_limit_of_the_csv_module_is_put_back(save_text):
    before = csv.field_size_limit()
    path = save_text(f"a\tb\n{'x' * 3_000_000}\ty\n", "x.tsv")
    assert len(read_table(path).rows[0].cells["a"]) == 3_000_000
    assert csv.field_size_limit() == before


def test_short_rows_are_padded_and_long_rows_are_problems(save_text):
    rows = read_table(save_text("a\tb\n1\n1\t2\t\n1\t2\t3\n", "x.tsv")).rows
    assert [row.problem is None for row in rows] == [True, True, False]
    assert dict(rows[0].cells) == {"a": "1", "b": None}
    assert "3 cells" in (rows[2].problem or "")


def test_an_unclosed_quote_is_an_error_and_does_not_swallow_rows(save_text):
    with pytest.raises(DatasetError, match="quote") as caught:
        read_table(save_text('a\tb\n"Yes, he said\t1\n2\t3\n', "x.tsv"))
    assert caught.value.row == 1


def test_a_line_separator_inside_json_text_ends_no_record(save_text):
    text = json.dumps({"a": "x\u2028y\x85z"}, ensure_ascii=False)
    rows = read_table(save_text(f"{text}\n\n{text}\n", "x.jsonl")).rows
    assert [row.cells["a"] for row in rows] == ["x\u2028y\x85z"] * 2


def test_a_broken_line_of_jsonl_is_a_problem_of_its_row(save_text):
    rows = read_table(save_text('{"a": 1}\n{"a": 2\n[1]\n', "x.jsonl")).rows
    assert [row.problem is None for row in rows] == [True, False, False]


@pytest.mark.parametrize("key", ["data", "items", "questions", "examples", "samples", "rows"])
def test_a_wrapped_list_of_records(save_text, key):
    path = save_text(json.dumps({"version": 2, key: [{"a": 1}, {"a": 2}]}), "x.json")
    table = read_table(path)
    assert [row.cells["a"] for row in table.rows] == [1, 2]
    assert not table.is_keyed


def test_a_dictionary_of_records_is_keyed(save_text):
    table = read_table(save_text(json.dumps({"4": {"a": 1}, "11": {"b": 2}}), "x.json"))
    assert [row.key for row in table.rows] == ["4", "11"]
    assert table.is_keyed
    assert table.columns == ("a", "b")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.txt", "a", "unknown kind"),
        ("x.csv", "", "no rows"),
        ("x.csv", "a,b\n", "no rows"),
        ("x.csv", "a,a\n1,2\n", "'a' more than once"),
        ("x.tsv", b"a\tb\n\xff\xfe\t1\n", "UTF-8 at byte 4"),
        ("x.json", "{", "not valid JSON"),
        ("x.json", '{"a": 1}\n{"a": 2}', r"\.jsonl"),
        ("x.json", '{"a": [1]}', "keyed by ID"),
        ("x.json", "3", "list of records"),
        ("x.jsonl", "\n\n", "no rows"),
        ("x.parquet", "PAR1", "not a readable Parquet"),
    ],
)
def test_files_that_cannot_be_read(save_text, name, content, words):
    with pytest.raises(DatasetError, match=words) as caught:
        read_table(save_text(content, name))
    assert name in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(DatasetError, match="no such file"):
        read_table(tmp_path / "gone.tsv")
