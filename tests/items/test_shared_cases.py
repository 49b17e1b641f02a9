"""The failure shapes that concern items, each read from the list of cases and checked against its expected value."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from vqaudit.errors import DatasetError, ImageError
from vqaudit.items import load_items, open_image
from vqaudit.items.item import ImageSource, Item
from vqaudit.items.options import read_options
from vqaudit.items.references import position_dependent
from vqaudit.items.screening import screen


@pytest.fixture(scope="module")
def cases(shared):
    lines = (shared / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


@pytest.fixture
def load(save):
    def run(*rows):
        return load_items(save([{"id": f"i{n}", "question": "What?", **row} for n, row in enumerate(rows)]))

    return run


def decode(image, kind="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return open_image(ImageSource(data=buffer.getvalue()))


def test_60_none_is_an_option(cases, save_text):
    case = cases[60]
    (item,) = load_items(save_text(case["input"]["tsv"], "x.tsv"))
    assert list(item.options) == case["expected"]["options"]
    assert item.answer == case["expected"]["gold_index"]


def test_61_missing_cells(cases, load):
    case = cases[61]
    (item,) = load(case["input"]["row"])
    assert item.n_options == len(case["expected"]["option_ids"])
    shown = " ".join([item.question, item.hint or "", *item.options])
    assert not any(word in shown for word in case["expected"]["prompt_must_not_contain"])


def test_63_a_python_list_as_text(cases):
    case = cases[63]
    options = read_options({"o": case["input"]["options_field"]}, "o").texts
    assert list(options) == case["expected"]["options"]


def test_65_labels_are_stripped_by_pattern(cases):
    case = cases[65]
    assert list(read_options({"o": case["input"]["raw_options"]}, "o").texts) == case["expected"]["options"]


def test_68_a_placeholder_in_the_question_is_text(cases, load, png):
    import base64

    case = cases[68]
    (item,) = load(
        {"question": case["input"]["question"], "image": base64.b64encode(png()).decode()}
        | {"options": ["x", "y"], "answer": "A"}
    )
    assert len(item.images) == case["expected"]["image_slots"]
    assert case["expected"]["literal_text_kept"] in item.question
    assert not item.has_image_places


def test_70_options_that_speak_of_others(cases):
    case = cases[70]
    options = case["input"]["options"]
    assert list(position_dependent(options)) == case["expected"]["position_dependent_options"]
    assert not screen(Item(id="1", question="What?", options=tuple(options), answer=0)).permutable


def test_73_a_gold_beyond_the_options(cases, load):
    case = cases[73]
    with pytest.raises(DatasetError, match="'J' is not among A to I") as caught:
        load(case["input"]["sample"])
    assert caught.value.item == case["expected"]["sample_id"]


def test_75_labels_of_the_row(cases, load):
    case = cases[75]
    rows = [{**row, "options": ["w", "x", "y", "z"]} for row in case["input"]["rows"]]
    assert [item.answer for item in load(*rows)] == case["expected"]["gold_index"]


def test_78_nan_as_an_option(cases, load):
    case = cases[78]
    dataset = load(case["input"]["sample"])
    (item,) = dataset
    assert item.n_options == case["expected"]["options_kept"]
    assert item.answer == case["expected"]["gold_index"]
    assert any(case["expected"]["warning"] in warning for warning in dataset.warnings)


def test_80_16_bit_grey(cases):
    case = cases[80]
    pixels = np.array([case["input"]["pixels"]], np.uint16)
    for kind in ("PNG", "TIFF"):
        levels = np.asarray(decode(Image.fromarray(pixels), kind).pixels)[0, :, 0].astype(int)
        assert np.abs(levels - case["expected"]["rgb_grey_levels"]).max() <= case["expected"]["tolerance"]


def test_81_transparency(cases):
    case = cases[81]
    pixels = np.array([case["input"]["pixels"]], np.uint8)
    assert np.asarray(decode(Image.fromarray(pixels)).pixels)[0].tolist() == case["expected"]["rgb_pixels"]


def test_83_animation(cases):
    case = cases[83]
    frames = [Image.new("RGB", (5, 5), colour).convert("P") for colour in ("red", "blue")]
    picture = decode(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert picture.pixels.mode == case["expected"]["mode"]
    assert list(picture.pixels.getpixel((2, 2))) == case["expected"]["centre_pixel"]
    assert case["expected"]["warning"] in picture.notes[0]


def test_85_one_broken_picture(cases, load, png):
    import base64

    case = cases[85]
    cells = [base64.b64encode(png(n)).decode() for n in range(case["input"]["n_samples"])]
    for broken in case["input"]["broken_ids"]:
        cells[broken] = cells[broken][:200]
    dataset = load(*[{"image": cell, "options": ["x", "y"], "answer": "AB"[n % 2]} for n, cell in enumerate(cells)])
    assert len(dataset) == case["expected"]["n_records"]
    errors = 0
    for item in dataset:
        try:
            open_image(item.images[0])
        except ImageError:
            errors += 1
    assert errors == case["expected"]["statuses"]["image_error"]


def test_86_duplicate_ids(cases, load):
    case = cases[86]
    for ids in (case["input"]["ids"], [7, 8, "8", 9], [7, 8, 8.0, 9]):
        with pytest.raises(DatasetError, match="duplicate IDs: 8 "):
            load(*[{"id": name, "options": ["x", "y"], "answer": "A"} for name in ids])
