"""Pictures named by URL: asked for or refused, fetched once, and a failure that is one picture's and nobody else's."""

import hashlib
import json
import os
import struct
import zlib
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from typer.testing import CliRunner

import vqaudit as va
from vqaudit.cli import app
from vqaudit.errors import DatasetError, ImageError
from vqaudit.items import load_items, open_image
from vqaudit.items.fetching import FetchedPictures, PictureFetcher
from vqaudit.items.item import ImageSource
from vqaudit.records import RunTables, read_manifest
from vqaudit.report.facts import run_facts

_spec = spec_from_file_location("picture_site", Path(__file__).with_name("picture_site.py"))
site_module = module_from_spec(_spec)
_spec.loader.exec_module(site_module)
answer, serve = site_module.answer, site_module.serve

HTML = b"<!DOCTYPE html><html><script>alert(1)</script></html>"
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/hosts"/></svg>'


def url(name: str) -> str:
    return f"http://pictures.test/{name}"


def row(name: str, image, **more) -> dict:
    return {"id": name, "question": f"{name}?", "options": ["a", "b"], "answer": "A", "image": image} | more


@pytest.fixture
def site(png, monkeypatch):
    """Pictures and what only pretends to be one; everything that loads data fetches from here."""
    pages = {
        "/1.png": answer(png(1), Content_Type="text/html"),
        "/2.png": answer(png(2)),
        "/moved.png": answer(status="301 Moved", Location="http://cdn.test/2.png"),
        "/page.png": answer(HTML, Content_Type="image/png"),
        "/drawing.png": answer(SVG, Content_Type="image/png"),
        "/huge.png": answer(bomb()),
    }
    with serve(pages) as found:
        monkeypatch.setattr("vqaudit.items.loading.PictureFetcher", partial(PictureFetcher, wire=found.wire()))
        yield found


def bomb() -> bytes:
    """The header of a PNG of 100,000 x 100,000 pixels, and no pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def test_without_the_option_nothing_is_asked_for_and_the_sentence_names_it(site, save) -> None:
    for image in (url("1.png"), [url("1.png")], {"bytes": None, "path": url("1.png")}):
        with pytest.raises(DatasetError, match=r"never fetched unasked.*--fetch-images \(fetch_images\)"):
            load_items(save([row("x", image)]))
    assert not site.asked


def test_a_picture_is_fetched_once_under_the_hash_of_its_url(site, save, tmp_path, png) -> None:
    rows = [
        row("one", url("1.png")),
        row("same", url("1.png")),
        row("two", [url("2.png"), url("moved.png")]),
        row("struct", {"bytes": None, "path": url("2.png")}),
        row("none", None),
    ]
    kept = tmp_path / "deep" / "kept"
    data = load_items(save(rows), fetch_images=kept)
    assert site.asked == {"/1.png": 1, "/2.png": 2, "/moved.png": 1}
    sources = [source for item in data for source in item.images]
    assert [source.read() for source in sources] == [png(1), png(1), png(2), png(2), png(2)]
    assert sources[0].path == kept / hashlib.sha256(url("1.png").encode()).hexdigest()
    assert sources[0].path.stat().st_mode & 0o044 == 0o044 & ~_umask()
    assert not list(kept.glob(".*"))
    assert data.fetched == FetchedPictures(pictures=3, failed=0, origins=("http://cdn.test", "http://pictures.test"))
    assert data.warnings == ()
    again = load_items(save(rows), fetch_images=str(kept))
    assert sum(site.asked.values()) == 4
    assert (again.fetched, again.digest) == (data.fetched, data.digest)
    assert load_items(save([row("none", None)]), fetch_images=kept).fetched is None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


FAILURES = {
    "page.png": "http://pictures.test/page.png: it is a web page, not a raster picture",
    "drawing.png": "it is an SVG drawing, not a raster picture",
    "huge.png": "the picture has 100000 x 100000 pixels|decompression bomb",
    "gone.png?key=secret": r"http://pictures.test/gone.png: pictures.test answered with status 404",
}


@pytest.mark.parametrize(("name", "words"), FAILURES.items())
def test_a_failure_is_that_pictures_error(site, save, tmp_path, png, name, words) -> None:
    data = load_items(save([row("bad", url(name)), row("good", url("2.png"))]), fetch_images=tmp_path / "kept")
    bad, good = data.items
    with pytest.raises(ImageError, match=words) as caught:
        open_image(bad.images[0])
    assert "secret" not in str(caught.value)
    assert good.images[0].read() == png(2)
    assert (data.fetched.pictures, data.fetched.failed) == (1, 1)
    (warning,) = data.warnings
    assert "could not be fetched for 1 item (first: 'bad'); the answers will be recorded as bad input" in warning
    assert len(list((tmp_path / "kept").iterdir())) == 2, "the good picture and its note, and nothing of the other"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://127.0.0.1/a.png", "127.0.0.1, a loopback address"),
        ("https://[::ffff:127.0.0.1]/a.png", "loopback address"),
        ("http://169.254.169.254/latest", "link-local address"),
        ("http://2130706433/", "is a number"),
        ("file:///etc/hosts", "only https and http are fetched"),
        ("s3://bucket/a.png", "only https and http are fetched"),
        ("http:\\\\10.0.0.1\\a.png", "names no host"),
        ("https://me:secret@pictures.test/", "user name or a password"),
    ],
)
def test_a_refused_address_is_that_pictures_error_too(save, tmp_path, address, words) -> None:
    """The true wire: nothing here is let through to be asked."""
    (item,) = load_items(save([row("bad", address)]), fetch_images=tmp_path / "kept").items
    with pytest.raises(ImageError, match=words) as caught:
        open_image(item.images[0])
    assert "secret" not in str(caught.value)


def test_rows_that_are_left_out_fetch_nothing(site, save, tmp_path) -> None:
    rows = [row("1", url("1.png")), row("bad", url("2.png"), answer="Z"), row("3", url("2.png"))]
    with pytest.raises(DatasetError, match="Z"):
        load_items(save(rows), fetch_images=tmp_path / "kept")
    assert not site.asked
    load_items(save(rows), fetch_images=tmp_path / "kept", skip_bad_items=True, limit=1)
    assert site.asked == {"/1.png": 1}


def test_all_pictures_together_have_a_limit(site, png, tmp_path) -> None:
    fetcher = PictureFetcher(tmp_path / "kept", wire=site.wire(), most=len(png(1)) + len(png(2)) - 1)
    items = [
        va.Item(id=name, question="?", options=("a", "b"), answer=0, images=(fetcher.source(url(f"{name}.png")),))
        for name in ("1", "2")
    ]
    mended, found = fetcher.settle(items)
    assert (found.pictures, found.failed) == (1, 1)
    problems = [item.images[0].problem for item in mended if item.images[0].problem]
    assert len(problems) == 1
    assert "bytes in all, the most that is fetched" in problems[0]


def test_a_host_that_never_answers_is_left_alone_after_a_while(site, tmp_path) -> None:
    site.pages["/busy"] = answer(status="503 Busy")
    fetcher = PictureFetcher(tmp_path / "kept", wire=site.wire())
    items = [
        va.Item(id=str(n), question="?", options=("a", "b"), answer=0, images=(fetcher.source(url(f"busy?{n}")),))
        for n in range(60)
    ]
    site.pages |= {f"/busy?{n}": answer(status="503 Busy") for n in range(60)}
    mended, found = fetcher.settle(items)
    assert (found.pictures, found.failed) == (0, 60)
    assert len(site.asked) <= 5 + 8, "eight are under way when the fifth has failed"
    assert "not asked again" in mended[-1].images[0].problem


def test_a_folder_that_cannot_be_written_is_one_sentence(site, save, tmp_path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"fetched pictures cannot be kept here.*another folder"):
        load_items(save([row("1", url("1.png"))]), fetch_images=tmp_path / "file")


def test_a_misspelt_place_is_no_silence(save) -> None:
    with pytest.raises(TypeError, match="fetch_image"):
        load_items(save([row("1", None)]), fetch_image="kept")


def test_an_image_is_one_of_three() -> None:
    for fields in ({}, {"data": b"1", "problem": "gone"}, {"path": Path("a"), "problem": "gone"}):
        with pytest.raises(DatasetError, match="either bytes or a path"):
            ImageSource(**fields)


def test_a_run_tells_where_its_pictures_came_from_and_records_those_that_failed(site, save, tmp_path) -> None:
    file = save([row("1", url("1.png")), row("2", url("page.png")), row("3", url("moved.png"))])
    data = load_items(file, fetch_images=tmp_path / "kept")
    va.audit(va.ScriptedEngine(lambda request: request.option_ids[0]), data, out=tmp_path / "run", progress=False)
    tables = RunTables.load(tmp_path / "run")
    by_item = dict(tables.trials.select("item", "outcome").iter_rows())
    assert by_item == {"1": "chosen", "2": "bad_input", "3": "chosen"}
    assert "it is a web page" in tables.trials.filter(tables.trials["item"] == "2")["error"].item()
    manifest = read_manifest(tmp_path / "run")
    origins = ["http://cdn.test", "http://pictures.test"]
    assert manifest.dataset["fetched"] == {"pictures": 2, "failed": 1, "origins": origins}
    assert ("pictures fetched from", ", ".join(origins)) in run_facts(manifest)


def test_the_command_line_fetches_where_it_is_told_to(site, save, tmp_path) -> None:
    file = save([row("1", url("1.png")), row("2", url("2.png"))])
    refused = CliRunner().invoke(app, ["data", str(file), "--stats"])
    assert "--fetch-images" in str(refused.exception)
    done = CliRunner().invoke(app, ["data", str(file), "--stats", "--json", "--fetch-images", str(tmp_path / "kept")])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["counted"]["distinct_images"] == 2
    assert "pictures named by URL: 2 in" in done.stderr
    named = CliRunner().invoke(app, ["data", f"mmstar={file}", "--stats", "--fetch-images", str(tmp_path / "kept")])
    assert named.exit_code == 0, named.output
    assert sum(site.asked.values()) == 2
