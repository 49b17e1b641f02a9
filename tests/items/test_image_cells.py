"""Cells into pictures, without a network and without leaving the folder."""

import base64
import json

import pytest

from vqaudit.errors import DatasetError
from vqaudit.items.image_cells import ImageFinder, looks_encoded
from vqaudit.items.item import ImageSource


@pytest.fixture
def finder(tmp_path, png):
    folder = tmp_path / "set"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "dog.png").write_bytes(png(1))
    (tmp_path / "outside.png").write_bytes(png(2))
    return ImageFinder(root=folder.resolve())


def text_of(data):
    return base64.b64encode(data).decode()


@pytest.mark.parametrize("cell", [None, "", "  ", float("nan"), "nan", "NaN", [], "[]", {"bytes": None, "path": None}])
def test_no_image(finder, cell):
    assert finder.find(cell, item="1") == ()


def test_bytes_in_every_wrapping(finder, png):
    data = png()
    encoded = text_of(data)
    wrapped = encoded[:76] + "\n" + encoded[76:]
    url_safe = base64.urlsafe_b64encode(data).decode()
    for cell in (data, {"bytes": data, "path": "x.png"}, encoded, wrapped, url_safe, encoded.rstrip("=")):
        assert finder.find(cell, item="1") == (ImageSource(data=data),)
    for kind in ("jpeg", "png", "svg+xml"):
        assert finder.find(f"data:image/{kind};base64,{encoded}", item="1") == (ImageSource(data=data),)


def test_a_tiny_picture_in_base64_is_no_path(finder):
    gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
    assert len(gif) <= 64
    assert finder.find(gif, item="1") == (ImageSource(data=base64.b64decode(gif)),)


@pytest.mark.parametrize(
    "cell", ["images/dog.png", "./images/../images/dog.png", {"bytes": None, "path": "images/dog.png"}]
)
def test_a_path_inside_the_folder(finder, cell):
    (source,) = finder.find(cell, item="1")
    assert source.path == finder.root / "images" / "dog.png"
    assert finder.find(str(finder.root / "images" / "dog.png"), item="1") == (source,)


def test_folders_are_tried_in_order(finder, png):
    (finder.root / "images" / "7").mkdir()
    (finder.root / "images" / "7" / "image.png").write_bytes(png(3))
    (source,) = finder.find("image.png", item="7", folders=("", "images/7"))
    assert source.path == finder.root / "images" / "7" / "image.png"
    (missing,) = finder.find("gone.png", item="7", folders=("", "images/7"))
    assert missing.path == finder.root / "gone.png"


@pytest.mark.parametrize("make", [list, json.dumps, repr])
def test_lists_keep_their_order(finder, png, make):
    cell = make(["images/dog.png", text_of(png())])
    assert finder.find(cell, item="1") == (
        ImageSource(path=finder.root / "images" / "dog.png"),
        ImageSource(data=png()),
    )


@pytest.mark.parametrize("cell", ["../outside.png", "images/../../outside.png", "/etc/hosts", "a\x00b"])
def test_paths_out_of_the_folder_are_errors(finder, cell):
    with pytest.raises(DatasetError, match=r"leaves the folder|not a usable path"):
        finder.find(cell, item="1")


def test_a_symbolic_link_out_of_the_folder_is_an_error(finder):
    (finder.root / "link.png").symlink_to(finder.root.parent / "outside.png")
    (finder.root / "loop").symlink_to(finder.root / "loop")
    with pytest.raises(DatasetError, match="leaves the folder"):
        finder.find("link.png", item="1")
    with pytest.raises(DatasetError, match="leaves the folder"):
        ImageFinder(root=finder.root / "images").find({"path": "../link.png"}, item="1")


@pytest.mark.parametrize(
    "url", ["https://x.org/a.png", "http://x/a", "s3://b/a.png", "file:///etc/hosts", "HTTPS://X/A"]
)
def test_urls_are_never_fetched_unasked(finder, url):
    with pytest.raises(DatasetError, match=r"never fetched unasked.*--fetch-images"):
        finder.find(url, item="1")


def test_a_short_cell_may_name_another_row(tmp_path, png):
    finder = ImageFinder(root=tmp_path, cells={"1": text_of(png()), "2": "1", "3": "2", "4": "4", "5": "images/x.png"})
    for cell in ("1", 1, 1.0):
        assert finder.find(cell, item="1000001") == (ImageSource(data=png()),)
    assert finder.find("1", item="9")[0] is finder.find("1", item="8")[0]
    assert finder.find("5", item="9") == (ImageSource(path=tmp_path / "images" / "x.png"),)
    assert finder.find("4", item="4") == (ImageSource(path=tmp_path / "4"),)
    with pytest.raises(DatasetError, match="'2', which in turn names row '1'"):
        finder.find("2", item="3")


def test_broken_base64_becomes_a_source_that_cannot_be_decoded(finder, png):
    cut = text_of(png())[:-301]
    (source,) = finder.find(cut, item="1")
    assert source.data is not None
    assert png().startswith(source.data)
    (junk,) = finder.find("A" * 400, item="1")
    assert junk.data == b"\x00" * 300
    (words,) = finder.find("no picture! " * 200, item="1")
    assert words.data is not None


def test_a_long_path_is_no_base64(finder):
    assert not looks_encoded("images/" + "very-long-name/" * 20 + "a.png")
    assert not looks_encoded("train2017/000000299207")
    (source,) = finder.find("d/" * 150 + "x.png", item="1")
    assert source.path is not None
    (unusable,) = finder.find("y" * 300 + ".png", item="1")
    assert unusable.path is not None


@pytest.mark.parametrize("cell", [True, {"x": 1}, object()])
def test_what_is_no_picture_is_an_error(finder, cell):
    with pytest.raises(DatasetError, match="an image"):
        finder.find(cell, item="1")
