"""Shared prefixes against asking plainly: `python benchmarks/bench_prefix.py [--quick] [--json FILE] [--threads N]`.

One four-option question in all 48 formats and 4 circular orders, its ID scores read (one new token), and its replies
(nine new tokens). Everything is measured in one run on one machine; what counts are the ratios. The others:

generate            transformers' processor and `generate`, one prompt at a time
batched generate    the same, 16 prompts at a time, left-padded
vision shared       batched generate whose vision tower runs once for the picture
token limit         the vision tower once, and every token that differs once, at the time that a token costs where
                    batched generate shares the vision tower

Where a GPU is, it is used. `--quick` measures the slow ones on fewer prompts and leaves the growth curves out.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image as PixelImages
from prefix_models import MODELS, save

from vqaudit.asking.formats import FORMATS
from vqaudit.asking.orders import apply_order, circular_orders
from vqaudit.engines.base import Event, IDScores, Image, ImagePart, Reply, Request, TextPart
from vqaudit.engines.local import LocalEngine, LocalSpec, load_local

BATCH = 16
QUESTION = "Looking at the table in the middle of the room, which of these objects stands nearest to the open window?"
OPTIONS = ("cup", "lamp", "book", "plate", "clock", "key", "pen", "box", "hat", "vase")


def requests_of(*, options: int = 4, formats: int = 48, event: Event | None = None) -> list[Request]:
    """One question under every variant; the instruction is paper 1's."""
    found = []
    for form in FORMATS[:formats]:
        ids = form.id_set.first(options)
        ending = f"Answer with the option's {form.id_set.kind} from the given choices directly based on the image: "
        for order in circular_orders(options):
            shown = form.list_options(apply_order(order, OPTIONS[:options]), ids)
            found.append(
                Request(
                    trial=str(len(found)),
                    parts=(ImagePart(index=0), TextPart(text=f"{QUESTION}\n{shown}\n{ending}{', '.join(ids)}.")),
                    images=(picture(),),
                    option_ids=ids,
                    event=event or IDScores(),
                )
            )
    return found


def picture(tokens: int = 432) -> Image:
    """Noise, four to three, of about so many tokens of 28 x 28 pixels."""
    width = round((tokens * 4 / 3) ** 0.5)
    size = (28 * round(tokens / width), 28 * width, 3)
    pixels = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)
    return Image(digest=f"noise-{tokens}", pixels=PixelImages.fromarray(pixels))


class Plain:
    """transformers alone, as its documentation shows."""

    def __init__(self, folder: Path, engine: LocalEngine) -> None:
        self.model, self.processor = engine._loaded.model, engine._loaded.processor

    def inputs(self, requests: Sequence[Request]) -> Any:
        """What the processor makes of some prompts, as it makes them for anyone."""
        texts = [
            self.processor.apply_chat_template(
                [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": request.parts[1].text}]}],
                add_generation_prompt=True,
            )
            for request in requests
        ]
        images = [[request.images[0].pixels] for request in requests]
        made = self.processor(text=texts, images=images, padding=True, return_tensors="pt")
        return made.to(self.model.device)

    @torch.inference_mode()
    def generate(self, requests: Sequence[Request], *, batch: int, new: int) -> torch.Tensor:
        """Returns the log-probabilities of the first new token."""
        first = []
        for start in range(0, len(requests), batch):
            out = self.model.generate(
                **self.inputs(requests[start : start + batch]),
                max_new_tokens=new,
                min_new_tokens=new,
                do_sample=False,
                output_logits=True,
                return_dict_in_generate=True,
                pad_token_id=self.processor.tokenizer.pad_token_id,
            )
            first.append(out.logits[0].float().log_softmax(-1).cpu())
        return torch.cat(first)

    @contextmanager
    def vision_once(self, request: Request) -> Iterator[None]:
        """While it is open, the vision tower answers with what it made of the picture at the beginning."""
        tower = getattr(self.model.model, "visual", None) or self.model.model.vision_tower
        forward, seen = tower.forward, []

        def watched(*args: Any, **kwargs: Any) -> Any:
            out = forward(*args, **kwargs)
            seen.append((type(out), dict(out.items())))  # a copy, since the model goes on to cut what it gets
            return out

        tower.forward = watched
        with torch.inference_mode():
            self.model(**self.inputs([request]))

        def repeated(*args: Any, grid_thw: torch.Tensor | None = None, **_: Any) -> Any:
            pixels = args[0] if grid_thw is None else grid_thw
            kind, parts = seen[0]
            return kind(**{key: repeat(value, len(pixels)) for key, value in parts.items()})

        tower.forward = repeated
        try:
            yield
        finally:
            del tower.forward


def repeat(value: Any, times: int) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.cat([value] * times)
    return tuple(repeat(each, times) for each in value) if isinstance(value, tuple) else value


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - begun, result


def ours(engine: LocalEngine, requests: Sequence[Request]) -> list[Any]:
    """From text and picture to outcomes, nothing kept from before."""
    if engine._paths.shared is not None:
        engine._paths.shared.store._kept.clear()
    engine._tools.encoder._kept.clear()
    engine._tools.encoder._reader._kept.clear()
    outcomes = [outcome for batch in engine.batches(requests) for outcome in engine.answer(batch)]
    assert not any(outcome.error for outcome in outcomes), outcomes[0].error
    return outcomes


def unique_tokens(engine: LocalEngine, requests: Sequence[Request]) -> int:
    prompts = sorted(prompt.token_ids for prompt in engine._tools.encoder.encode(requests))
    total = len(prompts[0])
    for before, after in pairwise(prompts):
        common = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
        total += len(after) - common
    return total


def measure(name: str, folder: Path, *, quick: bool) -> list[dict[str, Any]]:
    """The table's rows for one model: ID scores, and replies."""
    requests = requests_of()
    parameters = save(name, folder, [part.text for r in requests for part in r.parts[1:]])
    engine = load_local(folder, spec=LocalSpec())
    plain = Plain(folder, engine)
    some = requests[:: 16 if quick else 4]
    ours(engine, requests[:16]), plain.generate(requests[:2], batch=2, new=1)  # warm
    rows = []
    for event, new in ((IDScores(), 1), (Reply(vocabulary=("A", "B", "C", "D")), 9)):
        asked = requests_of(event=event)
        shared = min(seconds(lambda asked=asked: ours(engine, asked))[0] for _ in range(3))
        scale = len(requests) / len(some)
        single, _ = seconds(lambda new=new: plain.generate(some, batch=1, new=new))
        batched, logprobs = seconds(lambda new=new: plain.generate(some, batch=BATCH, new=new))
        with plain.vision_once(requests[0]):
            lm_only, _ = seconds(lambda new=new: plain.generate(some, batch=BATCH, new=new))
        row = {
            "model": name,
            "event": type(event).__name__,
            "new_tokens": new,
            "prompts": len(requests),
            "prompts_of_the_plain_ones": len(some),
            "parameters": parameters,
            "seconds": shared,
            "vs_generate": single * scale / shared,
            "vs_batched_generate": batched * scale / shared,
            "vs_batched_vision_shared": lm_only * scale / shared,
        }
        if new == 1:
            row |= against_limit(engine, plain, requests, shared, lm_only * scale)
            row |= {"max_abs_diff": largest_difference(engine, some, logprobs)}
        rows.append(row)
    return rows


def against_limit(
    engine: LocalEngine, plain: Plain, requests: Sequence[Request], shared: float, lm_only: float
) -> dict[str, Any]:
    lengths = [len(prompt.token_ids) for prompt in engine._tools.encoder.encode(requests)]
    with_vision = min(seconds(lambda: plain.generate(requests[:1], batch=1, new=1))[0] for _ in range(3))
    with plain.vision_once(requests[0]):
        without = min(seconds(lambda: plain.generate(requests[:1], batch=1, new=1))[0] for _ in range(3))
    unique = unique_tokens(engine, requests)
    limit = max(0.0, with_vision - without) + unique * lm_only / sum(lengths)
    shared_with = next(batch.shared.chain[-1] for batch in engine.batches(requests) if batch.shared.chain)
    return {
        "vs_token_limit": shared / limit,
        "tokens": sum(lengths),
        "unique_tokens": unique,
        "prefix_tokens": shared_with,
        "strategy": engine.describe()["prefix_sharing"]["strategy"],
    }


def largest_difference(engine: LocalEngine, requests: Sequence[Request], logprobs: torch.Tensor) -> float:
    outcomes = {outcome.trial: outcome for outcome in ours(engine, requests)}
    return max(
        abs(top.logprob - float(row[top.token_id]))
        for request, row in zip(requests, logprobs, strict=True)
        for top in outcomes[request.trial].top_tokens
    )


def growth(folder: Path) -> list[dict[str, Any]]:
    """How the gain over the plain path of this package grows, which reads the picture's pixels once as well."""
    rows = []
    name = "qwen2-vl-style"
    for changes in (
        *({"image_tokens": n} for n in (100, 400, 1000, 4000)),
        *({"options": n} for n in (2, 4, 10)),
        *({"formats": n} for n in (1, 6, 48)),
    ):
        sizes = {"image_tokens": 432, "options": 4, "formats": 48} | changes
        requests = requests_of(options=sizes["options"], formats=sizes["formats"])
        shown = picture(sizes["image_tokens"])
        asked = [
            Request(trial=r.trial, parts=r.parts, images=(shown,), option_ids=r.option_ids, event=r.event)
            for r in requests
        ]
        save(name, folder, [part.text for r in requests for part in r.parts[1:]], image_tokens=sizes["image_tokens"])
        quick, plain = load_local(folder), load_local(folder, spec=LocalSpec(prefix_sharing="off"))
        some = asked[:: max(1, len(asked) // 4)]
        shared = min(seconds(lambda quick=quick, asked=asked: ours(quick, asked))[0] for _ in range(2))
        whole = seconds(lambda plain=plain, some=some: ours(plain, some))[0] * len(asked) / len(some)
        rows.append(
            {
                "model": name,
                **sizes,
                "prompts": len(asked),
                "varied": next(iter(changes)),
                "vs_plain_path": whole / shared,
            }
        )
        print(rows[-1], flush=True)
    return rows


def memory(name: str, way: str) -> int:
    """Peak memory of a process that asks in one way, in KiB, beyond what loading takes."""
    out = subprocess.run(
        [sys.executable, __file__, "--only", f"{name}:{way}"], capture_output=True, text=True, check=True
    )
    return max(1, int(out.stdout.split()[-1]))


def only(name: str, way: str) -> None:
    requests = requests_of()
    with tempfile.TemporaryDirectory() as folder:
        save(name, Path(folder), [part.text for r in requests for part in r.parts[1:]])
        engine = load_local(folder)
        plain = Plain(Path(folder), engine)
        plain.generate(requests[:1], batch=1, new=1)
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        before = kibibytes("VmRSS")
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak so far
        if way == "ours":
            ours(engine, requests)
        else:
            plain.generate(requests[: 2 * BATCH], batch=BATCH, new=1)
        print(kibibytes("VmHWM") - before)


def kibibytes(field: str) -> int:
    """A line of Linux's account of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description="Shared prefixes against asking plainly.")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    if arguments.only:
        only(*arguments.only.split(":"))
        return
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            rows = measure(name, Path(folder), quick=arguments.quick)
            rows[0]["peak_memory_ratio"] = memory(name, "ours") / memory(name, "batched")
            for row in rows:
                print({key: round(v, 7) if isinstance(v, float) else v for key, v in row.items()}, flush=True)
            results += rows
        curves = [] if arguments.quick else growth(Path(folder))
    report = {
        "results": results,
        "growth": curves,
        "command": " ".join(["python", "benchmarks/bench_prefix.py", *sys.argv[1:]]),
        "threads": arguments.threads,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine(),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
