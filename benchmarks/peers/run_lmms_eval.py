"""Runs in lmms-eval's own environment: `python run_lmms_eval.py OUT MODEL PROMPTS`.

Asks its `llava_hf`, in the form for chat messages that it recommends, every prompt of PROMPTS (see `work.py`). Only
the generation is timed: neither loading nor the building of requests.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import torch
from clock import Clock
from lmms_eval.api.instance import Instance
from lmms_eval.models import get_model
from PIL import Image

NEW_TOKENS = 10


def messages(doc: dict[str, Any]) -> list[dict[str, Any]]:
    picture = Image.open(BytesIO(doc["image"])).convert("RGB")
    text = doc["text"].removeprefix("<image>")
    return [{"role": "user", "content": [{"type": "image", "url": picture}, {"type": "text", "text": text}]}]


def main() -> None:
    out, model, prompts = sys.argv[1:]
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    docs = parquet.read_table(prompts).to_pylist()
    found = get_model("llava_hf")(pretrained=model, device="cpu", device_map="cpu", dtype="float32", batch_size=1)
    found.task_dict = {"work": {"test": docs}}
    requests = [
        Instance(
            request_type="generate_until",
            arguments=("", messages, {"max_new_tokens": NEW_TOKENS, "until": []}, place, "work", "test"),
            idx=0,
            metadata={"task": "work", "doc_id": place, "repeats": 1},
        )
        for place in range(len(docs))
    ]
    found.generate_until(requests[:2])
    clock = Clock()
    with clock:
        answers = found.generate_until(requests)
    versions = {name: version(name) for name in ("lmms-eval", "torch", "transformers")}
    replies = {doc["trial"]: getattr(answer, "text", answer) for doc, answer in zip(docs, answers, strict=True)}
    report = {"versions": versions, "seconds": clock.seconds, "class": type(found).__module__, "replies": replies}
    Path(out).write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
