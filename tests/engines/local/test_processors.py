"""Processors load without torchvision, and nothing stays replaced afterwards."""

from __future__ import annotations

import contextlib
import importlib

import pytest
import transformers
from transformers.utils.import_utils import is_torchvision_available

from vqaudit.engines.local.processors import empty_video_processor, without_video_processors
from vqaudit.errors import EngineError

auto = importlib.import_module("transformers.models.auto.video_processing_auto")
without_torchvision = pytest.mark.skipif(is_torchvision_available(), reason="torchvision is installed")


@without_torchvision
@pytest.mark.parametrize("name", ["qwen2_vl", "qwen3_vl", "llava_onevision", "internvl"])
def test_a_family_with_a_video_half_loads(checkpoint, name):
    folder = checkpoint(name)
    with pytest.raises((ImportError, ValueError, AttributeError)):
        transformers.AutoProcessor.from_pretrained(folder)
    with without_video_processors():
        processor = transformers.AutoProcessor.from_pretrained(folder)
    assert type(processor.image_processor).__name__.endswith("Pil")


@without_torchvision
def test_nothing_stays_replaced():
    before = auto.AutoVideoProcessor
    with without_video_processors():
        assert auto.AutoVideoProcessor is not before
    with contextlib.suppress(RuntimeError), without_video_processors():
        raise RuntimeError
    assert auto.AutoVideoProcessor is before
    assert not hasattr(transformers, "VideoProcessorMixin")


def test_a_saved_folder_names_the_real_class():
    assert empty_video_processor("InternVLVideoProcessor").to_dict() == {
        "video_processor_type": "InternVLVideoProcessor"
    }


def test_a_video_is_refused():
    with pytest.raises(EngineError, match="images only"):
        empty_video_processor("Qwen2VLVideoProcessor")(None)
