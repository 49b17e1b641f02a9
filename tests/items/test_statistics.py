"""What is counted in the data, against what was put into it."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from vqaudit.items import load_items
from vqaudit.items.grouping import group_by_picture
from vqaudit.items.images import ImageError, image_size
from vqaudit.items.item import ImageSource, Item
from vqaudit.items.statistics import dataset_statistics


@pytest.fixture
def sized(tmp_path):
    """Ten questions with pictures of known sizes, one of them broken, one shown twice, one question without."""
    rng, rows, sizes = np.random.default_rng(3), [], []
    for number in range(10):
        width, height = (int(side) for side in rng.integers(5, 60, 2))
        Image.new("RGB", (width, height), (number, 0, 0)).save(tmp_path / f"{number}.png")
        rows.append(
            {
                "id": number,
                "question": "q?",
                "options": ["a", "b", "c"][: 2 + number % 2],
                "answer": number % 2,
                "image": f"{number}.png",
            }
        )
        sizes.append((width, height))
    (tmp_path / "8.png").write_bytes(b"no picture")
    rows[9]["image"], sizes[9] = "0.png", sizes[0]
    rows.append({"id": 10, "question": "q?", "options": ["a", "all of the above"], "answer": 0, "image": None})
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return load_items(path, answers="index0"), np.array([size for n, size in enumerate(sizes) if n != 8])


def test_counts_and_mean_sizes(sized):
    dataset, sizes = sized
    found = dataset_statistics(dataset)
    assert (found.questions, found.images, found.distinct_images, found.unreadable_images) == (11, 10, 9, 1)
    assert (found.without_image, found.several_images, found.not_permutable) == (1, 0, 1)
    assert found.options == {2: 6, 3: 5}
    assert found.answer_places == {0: 6, 1: 5}
    assert (found.all_rotations, found.rotations) == (27, 26)
    assert found.mean_width == pytest.approx(sizes[:, 0].mean())
    assert found.mean_height == pytest.approx(sizes[:, 1].mean())
    assert json.loads(json.dumps(found.to_dict()))["options"] == {"2": 6, "3": 5}


def test_no_picture_has_no_mean():
    items = (Item(id="1", question="q", options=("a", "b"), answer=0),)
    from dataclasses import replace

    from vqaudit.items import demo_items

    found = dataset_statistics(replace(demo_items(limit=1), items=items))
    assert (found.mean_width, found.mean_height, found.images) == (None, None, 0)


def test_a_turned_picture_has_the_size_that_is_seen():
    buffer = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 10)).save(buffer, "JPEG", exif=exif)
    assert image_size(ImageSource(data=buffer.getvalue())) == (10, 40)
    with pytest.raises(ImageError, match="size cannot be told"):
        image_size(ImageSource(data=b"<svg></svg>"))


def test_groups_are_named_by_content_and_leave_given_groups():
    def item(name, data, group=None):
        images = tuple(ImageSource(data=part) for part in data)
        return Item(id=name, question="q", options=("a", "b"), answer=0, images=images, group=group)

    items = [item("1", [b"x"]), item("2", [b"x"]), item("3", [b"x", b"y"]), item("4", [b"x"], "own"), item("5", [])]
    groups = [one.group for one in group_by_picture(items)]
    assert groups[0] == groups[1] == f"picture {ImageSource(data=b'x').digest()[:16]}"
    assert groups[2:] == [None, "own", None]
