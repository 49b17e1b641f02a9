import json
import pickle
import zipfile
from pathlib import Path

import polars as pl
import pytest

from vqaudit.errors import DatasetError, EngineUnavailable
from vqaudit.logs.files import open_log


def test_json_lines_json_and_tables_give_the_same_records(tmp_path: Path) -> None:
    rows = [{"id": "1", "reply": "None"}, {"id": "2", "reply": "NA"}]
    (tmp_path / "a.jsonl").write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(rows), encoding="utf-8-sig")
    (tmp_path / "a.csv").write_text("id,reply\n1,None\n\n2,NA\n", encoding="utf-8")
    (tmp_path / "a.tsv").write_text("id\treply\n1\tNone\n2\tNA\n", encoding="utf-8")
    pl.DataFrame(rows).write_csv(tmp_path / "b.csv")
    for name in ("a.jsonl", "a.json", "a.csv", "a.tsv", "b.csv"):
        assert [dict(record.cells) for record in open_log(tmp_path / name).records] == rows, name


def test_xlsx_cells_stay_text(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    book = openpyxl.Workbook()
    for row in (["index", "A", "B", "prediction"], [1000003, "None", "0.50", "NA"], [4, None, "x", None]):
        book.active.append(row)
    book.save(tmp_path / "log.xlsx")
    first, second = (record.cells for record in open_log(tmp_path / "log.xlsx").records)
    assert first == {"index": "1000003", "A": "None", "B": "0.50", "prediction": "NA"}
    assert second["A"] is None
    assert second["prediction"] is None


def test_a_missing_xlsx_reader_names_the_pip_line(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "log.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(__import__("sys").modules, "fastexcel", None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'vqaudit\[logs\]'"):
        open_log(tmp_path / "log.xlsx")


def test_a_document_under_the_wrong_ending_is_read(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text(json.dumps({"correct": [], "incorrect": []}, indent=1), encoding="utf-8")
    assert set(open_log(tmp_path / "out.jsonl").document) == {"correct", "incorrect"}
    (tmp_path / "list.jsonl").write_text(json.dumps([{"a": 1}, {"a": 2}]), encoding="utf-8")
    assert len(open_log(tmp_path / "list.jsonl").records) == 2


@pytest.mark.parametrize("name", ["log.pkl", "log.pickle", "states.pt", "a.npy", "log.jsonl", "log.json", "log.tsv"])
def test_pickles_are_refused_whatever_they_are_called(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(pickle.dumps([{"a": 1}]))
    with pytest.raises(DatasetError, match="pickle"):
        open_log(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"a": 1}\n{"a": 2', r"line 2 is no JSON .*was the file cut"),
        ("a.jsonl", '{"a": 1}\n[2]', "line 2 is no JSON object but a list"),
        ("a.json", "{", "is no JSON"),
        ("a.json", "[1]", "row 1: is no JSON object"),
        ("a.json", "3", "holds a int"),
        ("a.csv", "x,x\n1,2\n", "stands twice in the header"),
        ("a.csv", "x,y\n1,2,3\n", "3 cells under 2 columns"),
        ("a.jsonl", "", "holds no record"),
        ("a.txt", "x", r"ending '.txt'; logs end in"),
        ("a.xlsx", "x", "no readable XLSX"),
        ("a.eval", "x", r"no readable \.eval"),
    ],
)
def test_broken_files_say_where_and_what(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        open_log(tmp_path / name)


def test_missing_files_folders_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="does not exist"):
        open_log(tmp_path / "none.jsonl")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(DatasetError, match="is a folder"):
        open_log(tmp_path / "folder.json")
    (tmp_path / "bytes.csv").write_bytes(b"a,b\n\xff\xfe,1\n")
    with pytest.raises(DatasetError, match="is not UTF-8 text"):
        open_log(tmp_path / "bytes.csv")


def test_a_zip_without_inspects_members_and_one_that_swells(tmp_path: Path, monkeypatch) -> None:
    with zipfile.ZipFile(tmp_path / "other.eval", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(DatasetError, match="no Inspect log"):
        open_log(tmp_path / "other.eval")
    with zipfile.ZipFile(tmp_path / "big.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"pad": "0" * 100_000}))
    monkeypatch.setattr("vqaudit.logs.files._LARGEST_MEMBER", 10_000)
    with pytest.raises(DatasetError, match="unpacks to 100,0"):
        open_log(tmp_path / "big.eval")
