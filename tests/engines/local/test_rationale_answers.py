"""A rationale, a cue, and the IDs behind both: equal to asking for each by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vqaudit.asking.designs import Reference
from vqaudit.asking.formats import find_format
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, make_plan
from vqaudit.asking.prompts import render
from vqaudit.engines.base import Generation, IDScores, RationaleScores
from vqaudit.engines.local import LocalSpec, load_local
from vqaudit.engines.local.rationale_answers import kept_rationale
from vqaudit.items import demo_items, demo_model_path
from vqaudit.run.requests import AskSpec, Pictures, make_request

EVENT = RationaleScores(cue="The answer is", max_tokens=60, watch=("The",))
REFERENCE = Reference(format=find_format("upper/dot/line_break"), orders="dataset")


def _requests(names, number=3, **spec):
    items = demo_items(limit=number).items
    plan = make_plan(items, [Arm(interface=find_interface(name), design=REFERENCE) for name in names])
    pictures = Pictures(max_pixels=None)
    return [
        make_request(
            plan, t, render(items[t.item], t.variant), pictures.of(items[t.item]), AskSpec(max_tokens=60, **spec)
        )
        for t in plan.trials
    ]


@pytest.mark.parametrize(
    ("rationale", "kept"),
    [
        ("It is red. The answer is B.", "It is red."),
        ("The answer is not A. It is red.\nSo the answer is B", "The answer is not A. It is red.\nSo"),
        ("It is red.\n", "It is red."),
        ("The answer is B.", ""),
        ("", ""),
    ],
)
def test_a_rationale_is_kept_up_to_where_it_names_its_answer(rationale, kept):
    assert kept_rationale(rationale, "The answer is") == kept


def test_it_is_the_generation_and_then_the_scores_behind_it(demo):
    requests = _requests(["cot-then-scores"], watch=("The",))
    outcomes = demo.answer(requests)
    written = demo.answer([replace(r, event=Generation(max_tokens=60)) for r in requests])
    for request, outcome, free in zip(requests, outcomes, written, strict=True):
        assert outcome.error is None
        assert outcome.reply == kept_rationale(free.reply, "The answer is")
        assert outcome.finish_reason == free.finish_reason
        by_hand = replace(request, event=IDScores(), prefill=f"{outcome.reply}\nThe answer is")
        expected = demo.answer([by_hand])[0]
        for one, other in zip(outcome.id_scores, expected.id_scores, strict=True):
            assert one.logprob == pytest.approx(other.logprob, abs=1e-4)
        assert outcome.id_mass == pytest.approx(expected.id_mass, abs=1e-4)
        assert 0 <= outcome.watch_mass <= 1
        assert outcome.tokens_computed > free.tokens_computed


def test_shared_and_plain_evaluation_agree(demo):
    plain = load_local(demo_model_path(), spec=LocalSpec(device="cpu", prefix_sharing="off"), name="demo")
    requests = _requests(["cot-then-scores", "cot-prefix"])
    shared = {outcome.trial: outcome for batch in demo.batches(requests) for outcome in demo.answer(batch)}
    for outcome in plain.answer(requests):
        other = shared[outcome.trial]
        assert outcome.reply == other.reply
        for one, two in zip(outcome.id_scores, other.id_scores, strict=True):
            assert one.logprob == pytest.approx(two.logprob, abs=1e-3)


def test_a_rationale_that_is_cut_is_scored_all_the_same(demo):
    request = replace(_requests(["cot-then-scores"], 1)[0], event=replace(EVENT, max_tokens=2))
    outcome = demo.answer([request])[0]
    assert outcome.finish_reason == "length"
    assert all(score.logprob is not None for score in outcome.id_scores)


def test_without_shown_ids_there_is_nothing_to_score(demo):
    request = replace(_requests(["cot-then-scores"], 1)[0], option_ids=())
    outcome = demo.answer([request])[0]
    assert outcome.bad_input
    assert "no option IDs" in outcome.error


def test_a_prompt_that_leaves_no_room_for_the_rationale_is_refused(demo):
    request = replace(_requests(["cot-then-scores"], 1)[0], event=replace(EVENT, max_tokens=100_000))
    outcome = demo.answer([request])[0]
    assert outcome.bad_input
    assert "takes" in outcome.error


def test_all_interfaces_of_a_question_share_what_they_begin_with(demo):
    names = ["direct", "bare-scores", "cot-prefix", "scores:answer-cue", "scores:reasoning-cue/assistant", "free:cot"]
    names += ["cot-then-scores", "full-string:cot", "scores:work-out", "free:lets-think", "forced:cot", "scores:cot"]
    requests = _requests(names, 1)
    batches = list(demo.batches(requests))
    outcomes = {outcome.trial: outcome for batch in batches for outcome in demo.answer(batch)}
    prompts = {request.trial: demo.count_tokens(request) for request in requests}
    first_parts = [demo._tools.encoder.encode([request])[0].token_ids for request in requests]
    shared = min(len(ids) for ids in first_parts)
    picture = {token for token in demo._loaded.image_token_ids}
    last_picture = max(place for place, token in enumerate(first_parts[0][:shared]) if token in picture)
    chains = [batch.shared.chain for batch in batches]
    # every batch begins behind the picture, and the beginning is computed for one of them alone
    assert all(chain and chain[0] > last_picture for chain in chains)
    assert len({chain[0] for chain in chains}) == 1
    assert sum(outcome.tokens_reused for outcome in outcomes.values()) >= (len(batches) - 1) * chains[0][0]
    assert sum(prompts.values()) > sum(o.tokens_computed for o in outcomes.values() if o.reply is None)


@pytest.mark.parametrize(
    "text", ["s it red?", " It is red.", "\n\nB", "é", "It shows an <image> and <|im_end|>.\nThe answer is"]
)
def test_what_was_written_changes_nothing_of_what_was_given(demo, text):
    encoder = demo._tools.encoder
    prompt = encoder.encode(_requests(["cot-then-scores"], 1))[0]
    longer = encoder.extend(prompt, text)
    length = len(prompt.token_ids)
    assert longer.token_ids[:length] == prompt.token_ids
    own = longer.token_ids[length:]
    assert demo._tools.vocabulary.decode(own) == text
    assert not set(own) & demo._loaded.image_token_ids  # a quoted mark is text
    assert longer.lead == ("" if text[-1].isspace() else " ")
