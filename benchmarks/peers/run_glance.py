"""Runs in glance-vlm's own environment: `python run_glance.py OUT MODEL PROMPTS KIND`.

Reads the labels' logits of every prompt of PROMPTS with the backend KIND: `generic` (any model, one prompt a pass) or
`qwen` (prefix cache on, the model in the place of the built-in tiers). Loading is not timed.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from clock import Clock
from glance import prompts as wording
from glance.config import load_config
from glance.images import load_images
from glance.schema import ImageRef

FLOOR = 432
"""Most picture tokens; the processor of the benchmark's model makes no more of its picture."""


def backend(model: str, kind: str) -> Any:
    # both backends look for tokens of Yes and No when they are made; these models have none, and none is read here
    wording.YES_VARIANTS = wording.NO_VARIANTS = ["A"]
    if kind == "generic":
        from glance.backends.generic_hf import GenericVlmBackend

        return GenericVlmBackend(load_config(), model_id=model, device="cpu")
    from glance.backends.vlm_hf import VlmBackend

    without_videos()
    tier = {"id": model, "revision": "main", "dtype": "float32", "image_token_budget": FLOOR}
    models = {"vlm_tiers": {"cuda_24gb": tier}, "tier_override": "cuda_24gb"}
    return VlmBackend(load_config(None, {"models": models, "vlm": {"prefix_cache": True}}), device="cpu")


def without_videos() -> None:
    """Lets a Qwen processor load beside a torch that no torchvision fits: its video half alone needs one."""
    from transformers import processing_utils
    from transformers.models.auto.video_processing_auto import AutoVideoProcessor
    from transformers.video_processing_utils import VideoProcessorMixin

    class Nothing(VideoProcessorMixin):
        merge_size, temporal_patch_size = 2, 2

        def __init__(self) -> None:
            """Holds nothing."""

    AutoVideoProcessor.from_pretrained = classmethod(lambda *_, **__: Nothing())
    processing_utils.transformers_module.VideoProcessorMixin = VideoProcessorMixin


def ask(found: Any, group: dict[str, Any]) -> dict[str, Any]:
    images = load_images([ImageRef(id="img0", path=group["image"])], load_config().limits)
    scores = found.score_labels(images, None, group["texts"], group["labels"])
    return {"logits": scores.logits.tolist(), "off_mass": scores.off_mass.tolist(), "tokens": scores.usage.image_tokens}


def main() -> None:
    out, model, prompts, kind = sys.argv[1:]
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    groups = json.loads(Path(prompts).read_text(encoding="utf-8"))
    found = backend(model, kind)
    ask(found, groups[0] | {"texts": groups[0]["texts"][:2]})
    if kind == "qwen":
        found._prefix_cache.clear()
    clock, answers = Clock(), []
    for group in groups:
        try:
            with clock:
                answers.append(ask(found, group))
        except ValueError as error:
            answers.append({"error": str(error)})
    versions = {name: version(name) for name in ("glance-vlm", "torch", "transformers")}
    prefix = found.tokenizer.decode(getattr(found, "label_prefix_ids", []))
    report = {"versions": versions, "seconds": clock.seconds, "answers": answers, "prefix": prefix}
    Path(out).write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
