"""Files made to exhaust memory, to wait for ever, or to say one thing to one reader and another to the next."""

import csv
import io
import json
import os
import zipfile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from vqaudit.errors import DatasetError, ImageError, RecordError
from vqaudit.items import tables
from vqaudit.items.image_cells import ImageFinder
from vqaudit.items.images import image_size, open_image
from vqaudit.items.item import ImageSource
from vqaudit.items.loading import load_items
from vqaudit.lint import lint_paths
from vqaudit.logs import archives
from vqaudit.logs.files import open_log
from vqaudit.logs.readers import read_log
from vqaudit.records import TRIAL_SCHEMA, read_manifest
from vqaudit.records.files import load_table

QUESTION = {"id": "1", "question": "Which?", "A": "cat", "B": "dog", "answer": "A"}


def refusal(read, *given, kind=DatasetError, **named):
    """What a reader says that refuses; None of one that reads. Any other error is the test's."""
    try:
        read(*given, **named)
    except kind as error:
        return str(error)
    return None


def sheet(path, **cells):
    book = openpyxl.Workbook()
    for place, text in {"A1": "index", "B1": "question", "A2": "1", "B2": "q?", **cells}.items():
        book.active[place] = text
    book.save(path)
    return path


def test_a_sheet_whose_last_cell_is_far_away_is_refused_before_it_is_allocated(tmp_path):
    with pytest.raises(DatasetError, match=r"spans 1,048,576 rows and 16,384 columns; at most 20,000,000 cells"):
        open_log(sheet(tmp_path / "far.xlsx", XFD1048576="x"))
    assert len(open_log(sheet(tmp_path / "near.xlsx", D40="x")).records) == 2


@pytest.mark.parametrize(
    ("row", "refused"),
    [
        ("<row r='2'><c r='A2'/></row>", False),
        ("<row r='1048576'>" + "<c/>" * 100 + "</row>", True),
        ("<x:row r='1048576'><x:c\nr = 'ALL1048576' /></x:row>", True),
        ("<row/>" * 1000 + "<row><c/></row>", False),
    ],
    ids=["near", "cells without a place", "a prefix and odd spaces", "rows without a number"],
)
def test_the_extent_of_a_sheet_is_seen_however_it_is_written(tmp_path, row, refused):
    path = tmp_path / "sheet.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("anywhere/sheet.xml", f"<sheetData>{row}</sheetData>")
    if refused:
        with pytest.raises(DatasetError, match="cells are read"):
            archives.check_sheets(path)
    else:
        archives.check_sheets(path)


def test_archives_that_swell_are_refused_and_dense_sound_ones_are_not(tmp_path, monkeypatch):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b"[" + b"0," * 3_000_000 + b"0]")
    monkeypatch.setattr(archives, "SMALL", 1 << 20)
    with pytest.raises(DatasetError, match=r"unpacks from [\d,]+ to 6,000,00\d bytes, which no log does"):
        open_log(path)
    monkeypatch.setattr(archives, "SMALL", 1 << 30)
    with pytest.raises(DatasetError, match="is no JSON object"):
        open_log(path)


def encrypted(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + place] |= 1
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("ending", [".eval", ".xlsx"])
def test_an_encrypted_archive_is_one_sentence(tmp_path, ending):
    path = encrypted(tmp_path / f"log{ending}")
    with pytest.raises(DatasetError, match="encrypted"):
        open_log(path)
    if ending == ".eval":
        (found,) = lint_paths([path]).findings
        assert (found.rule, "encrypted" in found.evidence) == ("unreadable", True)


@pytest.mark.parametrize("kind", ["stored", "deflated"])
def test_an_archive_with_any_byte_changed_is_read_or_refused(tmp_path, kind):
    path = tmp_path / "log.eval"
    method = zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("header.json", json.dumps({"eval": {}, "plan": {}, "x": "y" * 50}))
    sound, refused = path.read_bytes(), 0
    for place in range(len(sound)):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0x55]) + sound[place + 1 :])
        try:
            open_log(path)
        except DatasetError:
            refused += 1
        lint_paths([path])
    assert refused > len(sound) / 4


def test_a_pipe_is_no_picture_and_keeps_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    (source,) = ImageFinder(root=tmp_path.resolve()).find("pipe.png", item="1")
    for read in (open_image, image_size):
        with pytest.raises(ImageError, match="no regular file"):
            read(source)
    with pytest.raises(ImageError, match="no regular file"):
        open_image(ImageSource(path=tmp_path))


def test_a_picture_of_gigabytes_is_not_read(tmp_path):
    path = tmp_path / "huge.png"
    with path.open("wb") as handle:
        handle.truncate((1 << 30) + 1)
    with pytest.raises(ImageError, match=r"1,073,741,825 bytes; at most 1,073,741,824"):
        open_image(ImageSource(path=path))


def test_a_png_whose_text_swells_is_refused():
    import struct
    import zlib

    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, "PNG")
    packed = b"note\x00\x00" + zlib.compress(b"0" * (200 << 20), 1)
    body = b"zTXt" + packed
    chunk = struct.pack(">I", len(packed)) + body + struct.pack(">I", zlib.crc32(body))
    data = buffer.getvalue()
    with pytest.raises(ImageError):
        open_image(ImageSource(data=data[:33] + chunk + data[33:]))


@pytest.mark.parametrize("depth", [50, 400, 900, 5000])
def test_nested_lists_of_pictures_are_one_sentence_or_none(tmp_path, depth):
    cell = "[" * depth + "'x.png'" + "]" * depth
    told = refusal(ImageFinder(root=tmp_path.resolve()).find, cell, item="1")
    assert told is None or (depth > 50 and len(told) < 300)


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_a_field_that_stands_twice_is_refused_since_json_drops_the_first(tmp_path, ending):
    path = tmp_path / f"data{ending}"
    row = json.dumps(QUESTION)[:-1] + ', "answer": "B"}'
    sound = json.dumps(QUESTION | {"id": "2"})
    path.write_text(f"{sound}\n{row}" if ending == ".jsonl" else f"[{sound}, {row}]", encoding="utf-8")
    with pytest.raises(DatasetError, match="'answer' stands twice"):
        load_items(path)


@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: '{"id": ' + text + "}"])
@pytest.mark.parametrize("depth", [900, 100_000])
def test_deep_json_is_one_sentence_wherever_it_is_read(tmp_path, wrap, depth):
    text = wrap("[" * depth + "]" * depth)
    for name in ("data.json", "data.jsonl"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        for read in (load_items, open_log):
            assert len(refusal(read, tmp_path / name) or "") < 500
        lint_paths([tmp_path / name])
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(RecordError):
        read_manifest(tmp_path)


def test_a_parquet_file_that_states_millions_of_equal_rows_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"id": pa.array([1] * 2000)}), path)
    monkeypatch.setattr(tables, "_MOST_ROWS", 1999)
    with pytest.raises(DatasetError, match="2,000 rows; no benchmark has more than 1,999"):
        load_items(path)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([2**62, 1], pa.timestamp("ms")),
        pa.array([b"\xff", b"a"], pa.binary()),
        pa.array([[1], None], pa.list_(pa.int8())),
        pa.array([{"a": 1}, None]),
        pa.array(["x", "x"]).dictionary_encode(),
        pa.array([1.5, float("inf")]),
    ],
    ids=["dates", "bytes", "lists", "records", "dictionary", "infinite"],
)
@pytest.mark.parametrize("name", ["id", "question", "answer", "image", "A"])
def test_parquet_columns_of_another_type_are_read_or_refused_by_name(tmp_path, name, column):
    path = tmp_path / "data.parquet"
    sound = {key: [value, value] for key, value in QUESTION.items()} | {"id": ["1", "2"], "image": [None, None]}
    pq.write_table(pa.table(sound | {name: column}), path)
    assert str(path) in (refusal(load_items, path) or str(path))


def test_a_part_whose_column_name_is_no_text_is_damaged(tmp_path):
    path = tmp_path / "w0-000000.parquet"
    pq.write_table(pa.table({"trial": ["a"]}), path)
    path.write_bytes(path.read_bytes().replace(b"trial", b"tr\xffal"))
    with pytest.raises(RecordError):
        load_table(path, TRIAL_SCHEMA)


def test_reading_a_table_leaves_pythons_limit_on_cells_as_it_was(tmp_path):
    before = csv.field_size_limit()
    (tmp_path / "log.csv").write_text("id,reply\n1," + "A" * 200_000 + "\n", encoding="utf-8")
    assert len(open_log(tmp_path / "log.csv").records[0].cells["reply"]) == 200_000
    assert csv.field_size_limit() == before


def test_an_id_of_thousands_of_digits_is_a_name(tmp_path):
    rows = [QUESTION | {"id": "9" * 5000}, QUESTION | {"id": "8" * 5000 + "9" * 6}]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert [item.group for item in load_items(tmp_path / "data.jsonl").items] == ["999999", "999999"]


def test_a_log_whose_items_are_thousands_of_digits_keeps_them_as_names(tmp_path):
    rows = [f"{digit * 5000},Which?,cat,dog,A,A" for digit in "89"]
    (tmp_path / "log.csv").write_text("\n".join(["index,question,A,B,answer,prediction", *rows]), encoding="utf-8")
    assert {len(row.item) for row in read_log(tmp_path / "log.csv").rows} == {5000}


@pytest.mark.parametrize("name", ["²", "9" * 5000, "option_²", "option_" + "9" * 5000])
def test_what_only_looks_like_a_number_is_none(tmp_path, name):
    rows = [QUESTION | {name: "x"}]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert len(load_items(tmp_path / "data.jsonl").items) == 1


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_nul_bytes_and_bytes_that_are_no_text(tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    for data in (b"id,question\x00,A\n1,\x00,b\n", b"\xff\xfeid\n", b'{"id": "\xed\xa0\x80"}\n', b"\x00" * 100):
        path.write_bytes(data)
        for read in (load_items, open_log):
            assert str(path) in (refusal(read, path) or str(path))
