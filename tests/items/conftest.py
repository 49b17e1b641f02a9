"""Small files of every kind, made on the spot; and the real samples, where they are."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image


def write_rows(folder, rows, kind="jsonl", name="data"):
    """Writes records the way other programs do: pandas-like CSV and TSV, Arrow Parquet."""
    path = Path(folder) / f"{name}.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    elif kind == "json":
        path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        names = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names, delimiter="," if kind == "csv" else "\t")
            writer.writeheader()
            writer.writerows(
                {n: json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for n, v in row.items()}
                for row in rows
            )
    return path


def encode(image, kind="PNG", **options):
    """Returns an image as the bytes of a file."""
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.fixture
def save(tmp_path):
    """Writes rows into the test's own folder and returns the path."""

    def write(rows, kind="jsonl", name="data"):
        return write_rows(tmp_path, rows, kind, name)

    return write


@pytest.fixture
def save_text(tmp_path):
    """Writes a file as it stands and returns its path."""

    def write(text, name):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return path

    return write


@pytest.fixture
def png():
    """A noisy picture, so that its base64 is longer than any ID."""

    def make(seed=0, size=(16, 12)):
        pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        return encode(Image.fromarray(pixels))

    return make


@pytest.fixture(scope="session")
def shared():
    """The folder of real samples and cases beside the repository."""
    folder = Path(__file__).resolve().parents[3] / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("the shared samples are not beside this repository")
    return folder
