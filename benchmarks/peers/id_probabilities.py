"""glance-vlm beside vqaudit: the probabilities of shown IDs as the next token, prompt by prompt.

Twice: on the packaged model (of LLaVA's family) with the peer's backend for any model, and on a small Qwen2-VL of
random weights with its backend for Qwen models, which computes picture and question once as vqaudit does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from peers.clock import Clock, ask_peer
from PIL import Image as Pixels
from prefix_models import save
from scipy.special import logsumexp

from vqaudit.asking.formats import FORMATS
from vqaudit.asking.orders import apply_order, circular_orders
from vqaudit.engines.base import IDScores, Image, ImagePart, Outcome, Request, TextPart
from vqaudit.engines.local import LocalEngine, load_local
from vqaudit.items import Item, demo_items, demo_model_path
from vqaudit.items.images import open_image

LABEL = "Image `img0`:"
"""What the peer writes before a picture (`prompts.IMAGE_LABEL`); vqaudit is asked with it too."""
TOKENS = 432


def measure(python: str, folder: Path, *, items: int) -> dict[str, Any]:
    """Returns the comparison for both models."""
    chosen = demo_items(limit=items).items
    packaged = [group for item in chosen for group in _groups(item, _picture(item, folder / f"{item.id}.png"), FORMATS)]
    big = _noise(folder / "noise.png")
    letters = [form for form in FORMATS if form.id_set.name == "upper"]
    shared = [group for item in chosen[: max(1, items // 5)] for group in _groups(item, big, letters)]
    texts = [text for group in shared for text in (LABEL, *group["texts"])]
    save("qwen2-vl-style", folder / "qwen", texts, image_tokens=TOKENS)
    return {
        "demo": _compare(python, folder, demo_model_path(), packaged, "generic"),
        "qwen2-vl-style": _compare(python, folder, folder / "qwen", shared, "qwen"),
    }


def _groups(item: Item, picture: Path, formats: Sequence[Any]) -> list[dict[str, Any]]:
    """One group for each ID set: all its prompts show the same picture and the same IDs."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for form in formats:
        ids = form.id_set.first(item.n_options)
        for order in circular_orders(item.n_options):
            shown = form.list_options(apply_order(order, item.options), ids)
            text = f"{item.question}\n{shown}\nAnswer with the option's {form.id_set.kind}."
            groups.setdefault(ids, []).append(text)
    return [{"image": str(picture), "labels": list(ids), "texts": texts} for ids, texts in groups.items()]


def _picture(item: Item, path: Path) -> Path:
    open_image(item.images[0]).pixels.save(path)
    return path


def _noise(path: Path) -> Path:
    """A picture of 18 x 24 = 432 tokens of 28 x 28 pixels."""
    pixels = np.random.default_rng(0).integers(0, 256, (28 * 18, 28 * 24, 3), dtype=np.uint8)
    Pixels.fromarray(pixels).save(path)
    return path


def _compare(python: str, folder: Path, model: Path, groups: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """Both sides' log-probabilities; in `same_event` vqaudit begins the reply as the peer does."""
    prompts = folder / f"{kind}.json"
    prompts.write_text(json.dumps(groups), encoding="utf-8")
    peer = ask_peer(python, "run_glance.py", folder / f"{kind}-peer.json", model, prompts, kind)
    asked = [_requests(group, place, prefill="") for place, group in enumerate(groups)]
    outcomes, seconds = _timed(model, asked)
    found = {
        "versions": peer["versions"],
        "prompts": sum(len(group) for group in asked),
        "picture_tokens": peer["answers"][0].get("tokens"),
        "peer_begins_the_reply_with": peer["prefix"],
        "refused": sorted({answer["error"] for answer in peer["answers"] if "error" in answer}),
        "as_it_comes": _by_set(groups, peer["answers"], outcomes),
        "seconds": {"peer": peer["seconds"], "vqaudit": seconds},
    }
    if peer["prefix"]:
        begun = [_requests(group, place, prefill=peer["prefix"]) for place, group in enumerate(groups)]
        found["same_event"] = _by_set(groups, peer["answers"], _timed(model, begun)[0])
    return found


def _timed(model: Path, asked: list[list[Request]]) -> tuple[list[list[Outcome]], dict[str, float]]:
    """Returns the outcomes by group; a first model warms up, a second begins with nothing kept."""
    warm = load_local(model)
    _answers(warm, asked[0][:2])
    warm.close()
    engine, clock = load_local(model), Clock()
    with clock:
        found = _answers(engine, [request for group in asked for request in group])
    engine.close()
    return [[found[request.trial] for request in group] for group in asked], clock.seconds


def _requests(group: dict[str, Any], place: int, *, prefill: str) -> list[Request]:
    picture = Image(digest=group["image"], pixels=Pixels.open(group["image"]).convert("RGB"))
    return [
        Request(
            trial=f"{place}-{number}",
            parts=(TextPart(text=LABEL), ImagePart(index=0), TextPart(text=text)),
            images=(picture,),
            option_ids=tuple(group["labels"]),
            event=IDScores(),
            prefill=prefill,
        )
        for number, text in enumerate(group["texts"])
    ]


def _answers(engine: LocalEngine, requests: Sequence[Request]) -> dict[str, Outcome]:
    return {outcome.trial: outcome for batch in engine.batches(requests) for outcome in engine.answer(batch)}


def _by_set(
    groups: list[dict[str, Any]], answers: list[dict[str, Any]], outcomes: list[list[Outcome]]
) -> dict[str, dict[str, Any]]:
    """By ID set, named by its first ID: the prompts, how many choices are equal, and the largest differences."""
    found: dict[str, dict[str, Any]] = {}
    for group, given, ours in zip(groups, answers, outcomes, strict=True):
        if "error" in given:
            continue
        kept = found.setdefault(group["labels"][0], {"prompts": 0, "same_choice": 0})
        for name, value in _difference(given, ours).items():
            kept[name] = max(kept.get(name, 0.0), value) if "largest" in name else kept[name] + value
    return found


def _difference(given: dict[str, Any], outcomes: list[Outcome]) -> dict[str, Any]:
    """Log-probabilities over the whole vocabulary: the peer gives logits and the mass of everything else."""
    logits = np.array(given["logits"])
    mass = 1 - np.array(given["off_mass"])
    theirs = logits - logsumexp(logits, axis=1, keepdims=True) + np.log(np.clip(mass, 1e-300, None))[:, None]
    ours = np.array([[score.logprob for score in outcome.id_scores] for outcome in outcomes], dtype=float)
    return {
        "prompts": len(outcomes),
        "same_choice": int((theirs.argmax(axis=1) == ours.argmax(axis=1)).sum()),
        "largest_difference_nats": float(np.abs(theirs - ours).max()),
        "largest_difference_of_mass": float(np.abs(mass - np.array([outcome.id_mass for outcome in outcomes])).max()),
    }
