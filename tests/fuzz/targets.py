"""What is fuzzed: every reader of bytes that others wrote, each with small sound files to start from.

A reader may return or raise an error of `vqaudit.errors`; anything else is a find.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from vqaudit.errors import DatasetError
from vqaudit.items.cells import parse_list
from vqaudit.items.image_cells import ImageFinder
from vqaudit.items.images import image_size, open_image
from vqaudit.items.item import ImageSource
from vqaudit.items.loading import load_items
from vqaudit.lint import lint_paths
from vqaudit.logs import read_log
from vqaudit.reading import read_reply
from vqaudit.records import TRIAL_SCHEMA, RunTables, read_manifest, write_table
from vqaudit.records.files import load_table
from vqaudit.report.untrusted import bare_name, printable

FOLDER = Path(tempfile.gettempdir()) / f"vqaudit-fuzz-{os.getpid()}"
ROWS = [
    {"id": k, "question": f"What is {k}?", "A": "a cat", "B": "=1+1", "C": "nan", "answer": "ABC"[k % 3], "image": p}
    for k, p in enumerate(["x.png", "../x.png", "[1, 'x']", "iVBORw0KGgo=", "data:image/png;base64,iVBO", "1"])
]
LM_EVAL = {
    "doc_id": 0,
    "doc": {"question": "q?", "choices": ["a", "b"], "answer": 1},
    "target": "1",
    "arguments": [["q?\\nA. a\\nB. b\\nAnswer:", " A"], ["q?\\nA. a\\nB. b\\nAnswer:", " B"]],
    "resps": [[[-1.0, False]], [[-2.0, True]]],
    "filtered_resps": [[-1.0, False], [-2.0, True]],
    "acc": 0.0,
}
SAMPLE = {
    "id": 1,
    "epoch": 1,
    "input": "q?",
    "choices": ["a", "b"],
    "target": "A",
    "messages": [{"role": "user", "content": "q?\\nA) a\\nB) b"}],
    "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": "ANSWER: A"}}]},
    "scores": {"choice": {"value": "C", "answer": "A"}},
}
HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"task": "t", "model": "m", "dataset": {"name": "d"}, "config": {}, "created": "2025-01-01"},
    "plan": {"steps": [{"solver": "multiple_choice", "params": {}}], "config": {"max_tokens": 5}},
    "results": {"scores": []},
}
TABLE = 'index,question,A,B,answer,prediction,hit\n1,q?,a,b,A,A,1\n2,q?,a,b,B,"the answer is, B",1\n'
TASK = (
    "task: t\ndataset_path: d\noutput_type: multiple_choice\ndoc_to_text: '{{question}}\n\n  Answer:'\n"
    "doc_to_choice: ['A', 'B']\ndoc_to_target: !function utils.f\nfewshot_config: &x {a: 1}\nmetadata: *x\n"
    "generation_kwargs: {until: ['\\n'], max_gen_toks: 5}\nfilter_list: [{name: a, filter: [{function: regex}]}]\n"
)
OWN = "interfaces: {mine: {ending: Let me think step by step., event: id-scores}}\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One reader."""

    name: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[bytes], Any]


def _lines(*rows: Any) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


@cache
def _pictures() -> list[bytes]:
    made = []
    for kind, mode in (("PNG", "RGBA"), ("PNG", "P"), ("JPEG", "CMYK"), ("JPEG", "RGB"), ("GIF", "P")):
        made.append(_picture(kind, mode))
    return made + [_picture(*pair) for pair in (("WEBP", "RGBA"), ("BMP", "RGB"), ("TIFF", "I;16"), ("PPM", "L"))]


def _picture(kind: str, mode: str) -> bytes:
    buffer = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    image = Image.new(mode, (9, 7), 3 if mode in ("P", "L", "I;16") else None)
    image.save(buffer, kind, **({"exif": exif} if kind in ("PNG", "JPEG", "WEBP", "TIFF") else {}))
    return buffer.getvalue()


@cache
def _parquet() -> list[bytes]:
    tables = [
        pa.Table.from_pylist(ROWS),
        pa.table({"id": [1, 2], "question": ["a", "b"], "options": [["x", "y"]] * 2, "answer": [0, 1]}),
        pa.table({"id": pa.array([2**62, 1], pa.timestamp("ns")), "question": ["a", "b"], "answer": ["A", "B"]}),
    ]
    return [_as_parquet(table) for table in tables]


def _as_parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


@cache
def _trials() -> list[bytes]:
    path = FOLDER / "part.parquet"
    row = {"trial": "0" * 16, "item": "1", "outcome": "chosen", "attempt": 0, "order": [0, 1], "reply": "A"}
    write_table(path, [row], TRIAL_SCHEMA)
    return [path.read_bytes()]


@cache
def _archives() -> list[bytes]:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        archive.writestr("samples/1_epoch_1.json", json.dumps(SAMPLE))
    return [buffer.getvalue()]


@cache
def _sheets() -> list[bytes]:
    import openpyxl

    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (["index", "question", "A", "B", "answer", "prediction"], [1, "q?", "a", "b", "A", "A"]):
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return [buffer.getvalue()]


def _on_file(ending: str, read: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    def act(data: bytes) -> Any:
        FOLDER.mkdir(exist_ok=True)
        path = FOLDER / f"data{ending}"
        path.write_bytes(data)
        return read(path)

    return act


def _items(path: Path) -> Any:
    dataset = load_items(path, skip_bad_items=True)
    for item in dataset.items:
        for source in item.images:
            _picture_of(source)
    return dataset


def _picture_of(source: ImageSource) -> None:
    for read in (image_size, open_image):
        try:
            read(source)
        except DatasetError:
            continue


def _cell(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    finder = ImageFinder(root=FOLDER.resolve(), cells={"1": "x.png", "2": "1"})
    for act in (lambda: parse_list(text), lambda: finder.find(text, item="3")):
        try:
            act()
        except DatasetError:
            continue
    shown = printable(text) + printable(bare_name(text))
    assert not set(shown) & {"\x1b", "\x00", "\x9b", "\u202e"}
    shown.encode()


def _reply(data: bytes) -> Any:
    text = data.decode("utf-8", "surrogateescape")
    return read_reply(text, option_ids=("A", "B", "C"), options=("a cat", "the dog", "A"))


def _manifest(data: bytes) -> Any:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "manifest.json").write_bytes(data)
    return read_manifest(FOLDER)


def _run(data: bytes) -> Any:
    run = FOLDER / "run"
    (run / "trials").mkdir(parents=True, exist_ok=True)
    (run / "manifest.json").write_bytes(_manifests()[0])
    (run / "trials" / "w0-000000.parquet").write_bytes(data)
    load_table(run / "trials" / "w0-000000.parquet", TRIAL_SCHEMA)
    return RunTables.load(run)


def _manifests() -> list[bytes]:
    return [
        b'{"schema_version": 1, "vqaudit_version": "0.1.0", "reader_version": "1", "model": "m", "dataset": {}, '
        b'"identity": {"a": [1, null]}, "counts": {"planned": 1}, "seconds": 1.5, "command": ["x"]}'
    ]


def _log_lines() -> list[bytes]:
    lmms = LM_EVAL | {"resps": [["A"]], "filtered_resps": ["A"], "input": "q?\nA. a\nB. b"}
    llava = {"question_id": 1, "prompt": "q?\nA. a\nB. b", "text": "A", "answer_id": "x", "model_id": "m"}
    table = {"id": "1", "question": "q?", "options": ["a", "b"], "answer": "A", "reply": "B"}
    return [
        _lines(LM_EVAL, LM_EVAL),
        _lines(lmms),
        _lines(llava),
        _lines(table),
        json.dumps([table], indent=1).encode(),
    ]


def _log_documents() -> list[bytes]:
    helm = {"adapter_spec": {"model": "m"}, "request_states": [{"instance": {"input": {"text": "q"}, "id": "1"}}]}
    samples = HEADER | {"samples": [SAMPLE]}
    return [json.dumps(each).encode() for each in (helm, samples, [LM_EVAL], {"1": "A"})]


def _separated(delimiter: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([list(ROWS[0]), *(list(row.values()) for row in ROWS)])
    return text.getvalue().encode("utf-8-sig")


def _all() -> Iterator[Target]:
    keyed = json.dumps({str(row["id"]): row for row in ROWS}).encode()
    yield Target(name="items .jsonl", seeds=lambda: [_lines(*ROWS)], read=_on_file(".jsonl", _items))
    yield Target(name="items .json", seeds=lambda: [json.dumps(ROWS).encode(), keyed], read=_on_file(".json", _items))
    yield Target(name="items .csv", seeds=lambda: [_separated(",")], read=_on_file(".csv", _items))
    yield Target(name="items .tsv", seeds=lambda: [_separated("\t")], read=_on_file(".tsv", _items))
    yield Target(name="items .parquet", seeds=_parquet, read=_on_file(".parquet", _items))
    yield Target(name="pictures", seeds=_pictures, read=lambda data: _picture_of(ImageSource(data=data)))
    yield Target(name="cells", seeds=lambda: [str(list(ROWS[0].values())).encode(), b"('a', 'b')"], read=_cell)
    yield Target(name="replies", seeds=lambda: [b"The answer is (B).", b'{"answer": "A"}'], read=_reply)
    yield Target(name="manifest", seeds=_manifests, read=_manifest)
    yield Target(name="trial parts", seeds=_trials, read=_run)
    yield Target(name="logs .jsonl", seeds=_log_lines, read=_on_file(".jsonl", read_log))
    yield Target(name="logs .json", seeds=_log_documents, read=_on_file(".json", read_log))
    yield Target(name="logs .csv", seeds=lambda: [TABLE.encode()], read=_on_file(".csv", read_log))
    yield Target(name="logs .xlsx", seeds=_sheets, read=_on_file(".xlsx", read_log))
    yield Target(name="logs .eval", seeds=_archives, read=_on_file(".eval", read_log))
    lint = {".yaml": [TASK.encode(), OWN.encode()], ".jsonl": _log_lines(), ".json": _log_documents()}
    for ending, seeds in (lint | {".eval": _archives()}).items():
        yield Target(
            name=f"lint {ending}",
            seeds=lambda seeds=seeds: seeds,
            read=_on_file(ending, lambda path: lint_paths([path]).to_dict()),
        )


TARGETS = {target.name: target for target in _all()}
