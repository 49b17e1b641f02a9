"""The packaged demonstration loads like any other file."""

import pytest

from vqaudit.errors import DatasetError
from vqaudit.items import DEMO_MODELS, demo, demo_items, demo_model_path, open_image


def test_the_packaged_items_load_with_their_pictures():
    dataset = demo_items()
    assert dataset.name == "demo"
    assert dataset.skipped == ()
    assert len(demo_items(limit=3)) == 3
    for item in demo_items(limit=3):
        assert all(open_image(source).pixels.mode == "RGB" for source in item.images)


@pytest.mark.parametrize("name", DEMO_MODELS)
def test_a_packaged_model_is_a_folder_of_transformers_with_a_card(name):
    folder = demo_model_path(name)
    assert (folder / "config.json").is_file()
    assert "Formats never trained" in (folder / "README.md").read_text(encoding="utf-8")


def test_the_packaged_weights_stay_small():
    assert sum((demo_model_path(name) / "model.safetensors").stat().st_size for name in DEMO_MODELS) <= 8 * 2**20


def test_an_installation_without_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "_demo_folder", lambda: tmp_path)
    for load in (demo_items, demo_model_path):
        with pytest.raises(DatasetError, match="reinstall"):
            load()
