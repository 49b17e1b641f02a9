"""What a run directory says of itself before the first record."""

from pathlib import Path

import pytest
from PIL import ImageFile

import vqaudit as va
from vqaudit.items import demo_items


@pytest.mark.parametrize("filled_up", [False, True])
def test_whether_pillow_fills_up_cut_pictures_is_noted(tmp_path: Path, monkeypatch, filled_up: bool) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", filled_up)
    engine = va.ScriptedEngine(lambda request: request.option_ids[0])
    run = va.audit(engine, demo_items(limit=1), out=tmp_path / "run", design="reference", progress=False)
    assert run.tables().manifest.environment == {"pillow": {"load_truncated_images": filled_up}}
