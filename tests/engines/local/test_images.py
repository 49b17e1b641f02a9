"""Pictures are read once, together, and kept within bounds."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from vqaudit.engines.base import IDScores, Reply
from vqaudit.engines.local import images as images_module
from vqaudit.engines.local.images import PictureReader, Pictures, merge_pictures
from vqaudit.engines.local.outcomes import BadInput


class Processor:
    """Counts its calls; makes one row of pixels for each picture."""

    image_token = "<image>"

    def __init__(self, *, fails=False):
        self.calls = 0
        self.fails = fails

    def __call__(self, *, text, images, **options):
        self.calls += 1
        if self.fails:
            raise ValueError("too thin")
        n = len(images[0])
        return {
            "pixel_values": torch.zeros(n, 256),
            "unknown": torch.zeros(n),
            "input_ids": torch.zeros(1, n),
            "text_replacement_offsets": [[{"replacement": "<image>" * 4}] * n],
        }


def picture(name):
    return SimpleNamespace(digest=name, pixels=None)


def test_the_same_pictures_are_read_once():
    processor = Processor()
    reader = PictureReader(processor, accepted=frozenset({"pixel_values", "input_ids"}))
    first = reader.read([picture("a"), picture("b")])
    assert reader.read([picture("a"), picture("b")]) is first
    assert processor.calls == 1
    assert set(first.tensors) == {"pixel_values"}
    assert first.places == ("<image>" * 4,) * 2
    reader.read([picture("b"), picture("a")])
    assert processor.calls == 2


def test_only_so_many_bytes_are_kept(monkeypatch):
    monkeypatch.setattr(images_module, "_KEPT_BYTES", 3000)
    processor = Processor()
    reader = PictureReader(processor, accepted=frozenset({"pixel_values"}))
    for name in "abc":  # a kilobyte each
        reader.read([picture(name)])
    reader.read([picture("c")])
    assert processor.calls == 3
    reader.read([picture("a")])
    assert processor.calls == 4


def test_a_picture_that_the_processor_refuses_is_bad_input():
    reader = PictureReader(Processor(fails=True), accepted=frozenset())
    with pytest.raises(BadInput, match="too thin"):
        reader.read([picture("a")])


def test_a_picture_is_read_once_for_all_its_prompts(checkpoint, ask, monkeypatch):
    from vqaudit.engines.local import load_local

    engine = load_local(checkpoint("qwen2_vl"))
    reader = engine._tools.encoder._reader
    calls = []
    process = reader._process
    monkeypatch.setattr(reader, "_process", lambda images: calls.append(len(images)) or process(images))
    requests = [ask(Reply(vocabulary=("A",)), f"Question {n}?", images=1, trial=str(n)) for n in range(12)]
    requests += [ask(IDScores(), f"Question {n}?", images=1, trial=str(n)) for n in range(12)]
    for batch in engine.batches(requests):
        assert all(outcome.error is None for outcome in engine.answer(batch))
    assert calls == [1]


def test_unequal_numbers_of_tiles_are_filled_with_zeros():
    def made(tiles, size):
        return Pictures(digests=(), places=(), tensors={"pixel_values": torch.ones(1, tiles, size, size)})

    merged = merge_pictures([made(2, 3), made(3, 2)])["pixel_values"]
    assert merged.shape == (2, 3, 3, 3)
    assert merged[0].sum() == 2 * 9
    assert merged[1].sum() == 3 * 4
    assert merged[0, 2].sum() == 0
    assert merge_pictures([]) == {}


def test_equal_shapes_are_put_behind_one_another():
    patches = [Pictures(digests=(), places=(), tensors={"x": torch.full((n, 2), float(n))}) for n in (1, 3)]
    assert merge_pictures(patches)["x"].tolist() == [[1, 1]] + [[3, 3]] * 3
