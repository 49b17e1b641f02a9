"""Thumbnails: of the run's own pictures alone, small, and written once."""

import io
from pathlib import Path

import pytest
from PIL import Image

from vqaudit.errors import RecordError
from vqaudit.items.item import ImageSource, Item
from vqaudit.records import ITEM_SCHEMA, Manifest, write_manifest, write_table
from vqaudit.run.thumbs import write_thumbnails


def picture(colour: str, size: tuple[int, int] = (900, 300)) -> ImageSource:
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return ImageSource(data=buffer.getvalue())


def item(name: str, *images: ImageSource) -> Item:
    return Item(id=name, question="?", options=("a", "b"), answer=0, images=images)


def run_of(path: Path, *items: Item) -> Path:
    rows = [{"item": i.id, "cluster": i.id, "images": [image.digest() for image in i.images]} for i in items]
    write_table(path / "items.parquet", rows, ITEM_SCHEMA)
    write_manifest(path, Manifest(vqaudit_version="0", reader_version="1", model="m"))
    return path


def test_only_the_runs_pictures_are_kept_small_and_once(tmp_path: Path) -> None:
    red, blue = picture("red"), picture("blue", (40, 20))
    run = run_of(tmp_path, item("1", red, blue))
    data = [item("1", red, blue), item("2", picture("green")), item("3", red)]
    assert write_thumbnails(run, data) == 2
    assert write_thumbnails(run, data) == 0
    assert sorted(path.stem for path in (run / "thumbs").iterdir()) == sorted([red.digest(), blue.digest()])
    sizes = {}
    for path in (run / "thumbs").iterdir():
        with Image.open(path) as image:
            sizes[path.stem] = image.size
    assert sizes == {red.digest(): (256, 85), blue.digest(): (40, 20)}


def test_pictures_that_cannot_be_read_have_none(tmp_path: Path) -> None:
    broken, gone = ImageSource(data=b"no picture"), ImageSource(path=tmp_path / "gone.png")
    run = run_of(tmp_path, item("1", broken))
    assert write_thumbnails(run, [item("1", broken), item("2", gone)]) == 0
    assert not (run / "thumbs").exists()


def test_what_is_no_run_and_what_cannot_be_written_say_so(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"manifest\.json"):
        write_thumbnails(tmp_path / "none", [])
    red = picture("red")
    run = run_of(tmp_path / "run", item("1", red))
    (run / "thumbs").write_text("", encoding="utf-8")
    with pytest.raises(RecordError, match="cannot be written"):
        write_thumbnails(run, [item("1", red)])
