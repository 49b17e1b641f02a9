"""Lets image processors load where torchvision is missing.

Knows transformers' private names for the halves of a processor, and is the only module that does. vqaudit
never shows a video, but `AutoProcessor` builds the video half of Qwen-VL, LLaVA-OneVision, InternVL and SmolVLM
whatever it is used for, and that half alone needs torchvision. An empty one stands in for it while a processor
is built, and `crops` for the image half of Phi-4-multimodal, which transformers has over torchvision only; where
torchvision is installed nothing is replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from transformers import Phi4MultimodalConfig
from transformers.utils.import_utils import is_torchvision_available
from transformers.video_processing_utils import VideoProcessorMixin

from vqaudit.engines.local.crops import Phi4MultimodalImageProcessorPil
from vqaudit.errors import EngineError

__all__ = ["empty_video_processor", "without_video_processors"]


_PHI4 = {"torchvision": "Phi4MultimodalImageProcessor", "pil": Phi4MultimodalImageProcessorPil}


class EmptyVideoProcessor(VideoProcessorMixin):
    """The video half of a processor that will see no video."""

    # SmolVLM's chat template and Qwen's processors read these even where there is no video.
    merge_size, temporal_patch_size, num_frames, fps = 2, 2, 1, 1

    def __init__(self, video_type: str = "Qwen2VLVideoProcessor") -> None:
        self.video_type = video_type

    def to_dict(self) -> dict[str, Any]:
        """Returns the name of the real class, so that a saved folder loads where torchvision is installed."""
        return {"video_processor_type": self.video_type}

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        raise EngineError("a video was passed to a processor that was loaded for images only")

    @classmethod
    def from_pretrained(cls, *_args: Any, **_kwargs: Any) -> EmptyVideoProcessor:
        """Returns an empty video half, whatever the folder holds."""
        return cls()


def empty_video_processor(video_type: str) -> Any:
    """Returns a stand-in for the named class of transformers, such as `Qwen2VLVideoProcessor`."""
    return EmptyVideoProcessor(video_type)


@contextmanager
def without_video_processors() -> Iterator[None]:
    """While it is open, processors can be built if torchvision is missing: the video half is an empty one.

    Phi-4-multimodal's image half is ours.
    """
    if is_torchvision_available():
        yield
        return
    # As `Any`: these modules are lazy, and what is replaced are names that they look up when they build a processor.
    auto: Any = import_module("transformers.models.auto.video_processing_auto")
    package: Any = import_module("transformers")
    real = auto.AutoVideoProcessor
    registered = import_module("transformers.models.auto.image_processing_auto").IMAGE_PROCESSOR_MAPPING._extra_content
    auto.AutoVideoProcessor = EmptyVideoProcessor
    package.VideoProcessorMixin = VideoProcessorMixin
    registered[Phi4MultimodalConfig] = _PHI4
    try:
        yield
    finally:
        del registered[Phi4MultimodalConfig]
        auto.AutoVideoProcessor = real
        del package.VideoProcessorMixin  # of its own it has none without torchvision
