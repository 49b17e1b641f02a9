"""Runs in lm-evaluation-harness's own environment: `python lm_eval_replies.py MODEL PROMPTS OUT [BATCH]`.

Asks `hf-multimodal` every prompt of PROMPTS (see `work.py`) and writes {"seconds", "loading", "replies"} to OUT.
Only the generation is timed: neither loading nor building of requests.
"""

from __future__ import annotations

import json
import os
import sys
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import lm_eval
import torch
import transformers
from lm_eval.models.hf_vlms import HFMultimodalLM
from PIL import Image

NEW_TOKENS = 10


def picture(doc: dict[str, Any]) -> list[Image.Image]:
    return [Image.open(BytesIO(doc["image"])).convert("RGB")]


def config(prompts: str) -> dict[str, Any]:
    return {
        "task": "same_work",
        "dataset_path": "parquet",
        "dataset_kwargs": {"data_files": {"test": prompts}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": lambda doc: doc["text"],
        "doc_to_target": lambda doc: doc["reply"],
        "doc_to_image": picture,
        "generation_kwargs": {"until": [], "max_gen_toks": NEW_TOKENS, "do_sample": False},
        "metric_list": [{"metric": "exact_match"}],
    }


def main() -> None:
    model, prompts, out, *batch = sys.argv[1:]
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    begun = time.perf_counter()
    lm = HFMultimodalLM(
        pretrained=model,
        dtype="float32",
        image_string="<image>",
        max_images=1,
        device="cpu",
        batch_size=int(batch[0]) if batch else 16,
    )
    loading, generate, spent = time.perf_counter() - begun, lm.generate_until, []

    def timed(*args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        found = generate(*args, **kwargs)
        spent.append(time.perf_counter() - begun)
        return found

    lm.generate_until = timed
    found = lm_eval.simple_evaluate(
        model=lm, tasks=[config(prompts)], apply_chat_template=True, bootstrap_iters=0, log_samples=True
    )
    samples = found["samples"]["same_work"]
    replies = {sample["doc"]["trial"]: sample["resps"][0][0] for sample in samples}
    versions = {"lm_eval": lm_eval.__version__, "torch": torch.__version__, "transformers": transformers.__version__}
    report = {"seconds": sum(spent), "loading": loading, "replies": replies, "versions": versions}
    Path(out).write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
