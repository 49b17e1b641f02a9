"""Pictures of many rows, kept once."""

import base64

from vqaudit.items.benchmarks.packing import PictureStore


def test_the_same_picture_is_kept_once_however_it_is_written(png):
    store, data = PictureStore(("image", "image_2")), png(1)
    text = base64.b64encode(data).decode()
    cells = [{"image": text}, {"image": data}, {"image": {"bytes": data, "path": "x.png"}}, {"image_2": text}]
    packed = [store.pack(row) for row in cells]
    kept = packed[0]["image"]
    assert kept == data
    assert packed[1]["image"] is kept
    assert packed[2]["image"] == {"bytes": data, "path": "x.png"}
    assert packed[2]["image"]["bytes"] is kept
    assert packed[3]["image_2"] is kept


def test_what_is_no_encoded_picture_stays(png):
    store = PictureStore("image")
    long = "word " * 200
    row = {"image": "17", "question": long, "other": png(2)}
    assert store.pack(row) == row
    assert store.pack({"image": "images/1.png"}) == {"image": "images/1.png"}
    assert store.pack({"image": None, "question": "q"}) == {"image": None, "question": "q"}
    assert PictureStore(None).pack(row) is row
