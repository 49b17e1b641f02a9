"""The model that the package carries answers, and better than by guessing."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources

import pytest
from PIL import Image as PixelImages

from vqaudit.asking.prompts import instruction
from vqaudit.engines.base import IDScores, Image, Reply, Request, TextPart

N_ITEMS = 60


@pytest.fixture(scope="module")
def items():
    file = resources.files("vqaudit") / "demo_data" / "items.jsonl"
    if not file.is_file():
        pytest.skip("this build carries no demo data")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if len(row["options"]) == 4][:N_ITEMS]


def _request(row, event):
    letters = tuple("ABCDEFGH"[: len(row["options"])])
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip(letters, row["options"], strict=True))
    text = f"{row['question']}\n{listed}\n{instruction('letter', letters, images=1)}"
    with (resources.files("vqaudit") / "demo_data" / row["image"]).open("rb") as handle:
        pixels = PixelImages.open(handle).convert("RGB")
    image = Image(digest=row["id"], pixels=pixels)
    return Request(trial=row["id"], parts=(TextPart(text=text),), images=(image,), option_ids=letters, event=event)


def test_replies_and_scores_are_right_far_more_often_than_chance(demo, items):
    """Chance is 0.25; the bound leaves room for retrained weights and none for a model that does not see."""
    answers = {row["id"]: row["answer"] for row in items}
    replies = demo.answer([_request(row, Reply(vocabulary=tuple("ABCDE"))) for row in items])
    scores = demo.answer([_request(row, IDScores()) for row in items])
    assert all(outcome.error is None for outcome in [*replies, *scores])
    right = sum(outcome.reply.strip() == answers[outcome.trial] for outcome in replies) / len(items)
    best = {o.trial: max(o.id_scores, key=lambda score: score.logprob).option_id for o in scores}
    chosen = sum(best[trial] == answer for trial, answer in answers.items()) / len(items)
    assert right > 0.5
    assert chosen > 0.5
    assert sum(outcome.id_mass for outcome in scores) / len(items) > 0.9
    agree = sum(best[o.trial] == o.reply.strip() for o in replies) / len(items)
    assert agree > 0.9


def test_the_end_after_an_id_is_probable(demo, items):
    """A model that says an ID and no more must end there; the probability is read one token after the ID."""
    outcomes = demo.answer([_request(row, Reply(vocabulary=tuple("ABCDE"))) for row in items])
    said = [outcome for outcome in outcomes if outcome.reply in tuple("ABCDE")]
    assert len(said) > len(items) / 2
    for outcome in said:
        assert 0.0 < outcome.end_given_id <= 1.0
        if outcome.finish_reason == "stop" and not outcome.prefixes:
            assert outcome.end_given_id > 0.01  # it was the most probable of all tokens


def test_another_picture_gives_another_answer(demo, items):
    """Right replies must come from the picture: with a neighbour's picture most of them are lost."""
    requests = [_request(row, Reply(vocabulary=tuple("ABCDE"))) for row in items]
    swapped = [replace(one, images=requests[n - 1].images) for n, one in enumerate(requests)]
    right = [
        sum(o.reply.strip() == row["answer"] for o, row in zip(demo.answer(asked), items, strict=True))
        for asked in (requests, swapped)
    ]
    assert right[1] < 0.75 * right[0]
