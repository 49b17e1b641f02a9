"""The engine behind its protocol: one outcome per request, whatever happens to one of them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from PIL import Image as PixelImages

from vqaudit.engines.base import (
    Engine,
    ForcedToken,
    Generation,
    IDScores,
    Image,
    OptionLikelihood,
    Reply,
)
from vqaudit.engines.local import LocalSpec, load_local
from vqaudit.engines.local.sessions import Row
from vqaudit.errors import EngineError, UnsupportedEvent

LETTERS = tuple("ABCD")
EVENTS = [
    Reply(vocabulary=LETTERS),
    IDScores(watch=("The", "Let")),
    ForcedToken(),
    OptionLikelihood(continuations=(" red", " dark blue")),
    Generation(max_tokens=3),
]


@pytest.fixture(scope="module")
def engine(engine_of):
    return engine_of("qwen2_vl")


def every_kind(ask, n=4):
    return [
        ask(event, f"{'very ' * k}long question {k}?", images=k % 2, trial=f"{place}-{k}")
        for place, event in enumerate(EVENTS)
        for k in range(n)
    ]


def same(one, other):
    return replace(one, seconds=None) == replace(other, seconds=None)


def test_it_is_an_engine(engine):
    assert isinstance(engine, Engine)
    assert engine.batch_sensitive
    engine.check(EVENTS)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Reply(vocabulary=()), "needs the IDs"),
        (Reply(vocabulary=LETTERS, budget=0), "needs 1 or more"),
        (Generation(max_tokens=0), "needs 1 or more"),
    ],
)
def test_an_event_that_lacks_what_it_needs_is_refused_before_anything_is_spent(engine, event, words):
    with pytest.raises(UnsupportedEvent, match=words):
        engine.check([IDScores(), event])


def test_every_request_gets_one_outcome_in_order(engine, ask):
    requests = every_kind(ask)
    outcomes = engine.answer(requests)
    assert [outcome.trial for outcome in outcomes] == [request.trial for request in requests]
    assert all(outcome.error is None for outcome in outcomes)
    assert all(outcome.tokens_reused >= 0 and outcome.tokens_computed > 0 for outcome in outcomes)
    assert sum(outcome.seconds for outcome in outcomes) > 0
    assert engine.answer([]) == []


def test_batches_are_a_pure_function_that_loses_nothing(engine, ask):
    requests = every_kind(ask, n=6)
    batches = [list(batch) for batch in engine.batches(requests)]
    assert sorted(r.trial for batch in batches for r in batch) == sorted(r.trial for r in requests)
    assert batches == [list(batch) for batch in engine.batches(list(requests))]
    for batch in batches:
        assert len({type(request.event) for request in batch}) == 1
        assert len({bool(request.images) for request in batch}) == 1


def test_batches_keep_the_token_budget(engine_of, ask):
    engine = engine_of("qwen2_vl", token_budget=300, prefix_sharing="off")
    requests = [ask(Reply(vocabulary=LETTERS), f"{'word ' * k}?", trial=str(k)) for k in range(20)]
    batches = list(engine.batches(requests))
    assert len(batches) > 3
    for batch in batches:
        longest = max(engine.count_tokens(request) for request in batch)
        assert len(batch) == 1 or len(batch) * (longest + 9) <= 300


def test_the_same_batch_gives_the_same_outcomes(engine, ask, checkpoint):
    requests = every_kind(ask)
    again = load_local(checkpoint("qwen2_vl"))
    for one, other in zip(engine.answer(requests), again.answer(requests), strict=True):
        assert same(one, other)


def test_what_was_asked_before_does_not_matter(engine, ask):
    requests = every_kind(ask)
    before = engine.answer(requests)
    engine.answer([ask(Generation(max_tokens=4), "Something else?", images=2)])
    assert all(same(one, other) for one, other in zip(before, engine.answer(requests), strict=True))


def test_a_reply_keeps_how_it_went_on(engine, ask):
    reply = engine.answer([ask(Reply(vocabulary=LETTERS), images=1)])[0]
    long = engine.answer([ask(Generation(max_tokens=9), images=1)])[0]
    assert reply.budget == 1
    assert reply.finish_reason == "length"
    assert len(reply.prefixes) == 8
    assert reply.prefixes[-1] == long.reply
    assert all(text.startswith(reply.reply.rstrip("\ufffd")) for text in reply.prefixes)


def test_a_reply_that_ends_keeps_no_more_than_it_said(checkpoint, ask):
    engine = load_local(checkpoint("qwen2_text"))
    whole = engine.answer([ask(Generation(max_tokens=9))])[0]
    path = engine._paths.plain
    prompt = engine._tools.encoder.encode([ask(ForcedToken())])[0]
    tokens = path.generate([Row(token_ids=prompt.token_ids)], max_tokens=9)[0].tokens
    path._roles = replace(path._roles, ends=(*path._roles.ends, tokens[3]))
    reply = engine.answer([ask(Reply(vocabulary=LETTERS))])[0]
    said = tokens[: tokens.index(tokens[3])]
    assert reply.finish_reason == "stop"
    assert len(reply.prefixes) == max(0, len(said) - 1)
    assert whole.reply.startswith((reply.prefixes or (reply.reply,))[-1].rstrip("\ufffd"))


def test_no_id_at_the_beginning_no_probability_of_an_end(engine, ask):
    reply = engine.answer([ask(Reply(vocabulary=LETTERS), option_ids=("zzz",), images=1)])[0]
    assert reply.end_given_id is None
    assert reply.id_scores == ()


def test_scores_without_shown_ids_are_refused(engine, ask):
    outcome = engine.answer([ask(IDScores(), option_ids=())])[0]
    assert outcome.bad_input
    assert "no option IDs" in outcome.error


def test_words_are_watched_beside_the_ids(engine, ask):
    plain, watched, ids = engine.answer(
        [ask(IDScores()), ask(IDScores(watch=("the", "quick"))), ask(IDScores(watch=LETTERS))]
    )
    assert plain.watch_mass is None
    assert 0.0 < watched.watch_mass < 1.0
    assert ids.watch_mass == 0.0  # a token that is a shown ID is not counted twice


def test_a_long_prompt_is_bad_input_and_the_others_go_on(engine, ask):
    for event in EVENTS:
        long, short = ask(event, "word " * 2000, trial="long"), ask(event, trial="short")
        refused, answered = engine.answer([long, short])
        assert refused.bad_input
        assert "the model takes 1024" in refused.error
        assert answered.error is None


def test_a_prompt_just_within_the_context_is_answered(engine, ask):
    spare = engine._loaded.max_positions - engine.count_tokens(ask(ForcedToken()))
    outcomes = engine.answer([ask(Generation(max_tokens=n)) for n in (spare, spare + 1)])
    assert [outcome.bad_input for outcome in outcomes] == [False, True]


def test_text_that_cannot_be_encoded_is_bad_input(engine, ask):
    requests = [ask(ForcedToken(), text) for text in ("fine", "\ud800 alone", "x\ufdd0y", "fine too")]
    assert [outcome.bad_input for outcome in engine.answer(requests)] == [False, True, True, False]
    assert engine.count_tokens(requests[1]) is None
    assert sum(len(batch) for batch in engine.batches(requests)) == 4


def test_a_picture_that_the_family_refuses_is_bad_input(engine, ask, pictures):
    thin = Image(digest="thin", pixels=PixelImages.new("RGB", (2000, 3)))
    refused, answered = engine.answer([replace(ask(ForcedToken()), images=(i,)) for i in (thin, pictures[0])])
    assert refused.bad_input
    assert "image processor refuses" in refused.error
    assert answered.error is None


def test_an_empty_continuation_is_refused_not_certain(engine, ask):
    refused, answered = engine.answer(
        [ask(OptionLikelihood(continuations=(" red", ""))), ask(OptionLikelihood(continuations=(" red",)))]
    )
    assert refused.bad_input
    assert "no token of its own" in refused.error
    assert answered.option_scores[0].logprob < 0
    assert engine.answer([ask(OptionLikelihood(continuations=()))])[0].bad_input


class Flaky:
    """Stands in for a model's forward pass; fails on batches of more than so many rows."""

    def __init__(self, forward, *, rows, message):
        self.forward, self.rows, self.message = forward, rows, message
        self.sizes = []

    def __call__(self, *args, **kwargs):
        size = len(kwargs["input_ids"])
        self.sizes.append(size)
        if size > self.rows:
            raise RuntimeError(self.message)
        return self.forward(*args, **kwargs)


OUT_OF_MEMORY = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes. Error code 12"


@pytest.mark.parametrize("event", [IDScores(), OptionLikelihood(continuations=(" red",))])
def test_a_batch_that_does_not_fit_is_halved(checkpoint, ask, monkeypatch, event):
    engine = load_local(checkpoint("qwen2_text"), spec=LocalSpec(prefix_sharing="off"))
    requests = [ask(event, f"Question {k}?", trial=str(k)) for k in range(10)]
    expected = engine.answer(requests)
    flaky = Flaky(engine._paths.plain._forward, rows=3, message=OUT_OF_MEMORY)
    monkeypatch.setattr(engine._paths.plain, "_forward", lambda rows, keep: flaky(input_ids=rows, rows=rows, keep=keep))
    flaky.forward = lambda input_ids, rows, keep, f=flaky.forward: f(rows, keep=keep)
    outcomes = engine.answer(requests)
    assert max(flaky.sizes) == 10
    for one, other in zip(outcomes, expected, strict=True):
        assert one.trial == other.trial
        assert one.error is None
        scores = [(s.logprob, o.logprob) for s, o in zip(one.id_scores, other.id_scores, strict=True)]
        scores += [(s.logprob, o.logprob) for s, o in zip(one.option_scores, other.option_scores, strict=True)]
        assert all(a == pytest.approx(b, abs=1e-4) for a, b in scores)


def test_a_single_request_that_does_not_fit_fails_and_is_not_bad_input(checkpoint, ask, monkeypatch):
    engine = load_local(checkpoint("qwen2_text"))

    def never(**_):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(engine._loaded.model, "generate", never)
    outcome = engine.answer([ask(ForcedToken())])[0]
    assert outcome.error == "out of memory, even alone"
    assert not outcome.bad_input


def test_an_error_of_one_request_is_its_own(checkpoint, ask, monkeypatch):
    engine = load_local(checkpoint("qwen2_text"))
    generate = engine._loaded.model.generate
    poison = engine.count_tokens(ask(ForcedToken(), "poison pill number nine"))

    def picky(**kwargs):
        if (kwargs["attention_mask"].sum(-1) == poison).any():
            raise ValueError("image features and image tokens do not match")
        return generate(**kwargs)

    monkeypatch.setattr(engine._loaded.model, "generate", picky)
    texts = ["one", "poison pill number nine", "three"]
    outcomes = engine.answer([ask(ForcedToken(), text) for text in texts])
    assert [outcome.error is None for outcome in outcomes] == [True, False, True]
    assert "do not match" in outcomes[1].error


def test_a_lost_device_ends_the_run(checkpoint, ask, monkeypatch):
    engine = load_local(checkpoint("qwen2_text"))

    def lost(**_):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(engine._loaded.model, "generate", lost)
    with pytest.raises(EngineError, match="device is lost"):
        engine.answer([ask(ForcedToken())])


def test_what_the_manifest_keeps_is_json(family, engine_of):
    engine = engine_of(family)
    told = json.loads(json.dumps(engine.describe()))
    assert told["model"] == engine.name
    assert told["dtype"] == "float32"
    assert told["device"] == "cpu"
    assert told["parameters"] > 100_000
    assert set(told["weights"]) == {"model.safetensors"}
    assert len(told["weights"]["model.safetensors"]["sha256"]) == 64
    assert told["spec"]["system_turn"] == "template"
    assert (told["chat_template"] is None) == (told["chat_template_sha256"] is None)
    assert (told["image_processor"] is None) == family.endswith("text")


def test_nothing_is_printed(checkpoint, ask, capfd):
    for name in ("qwen2_vl", "gemma3", "base_text"):
        engine = load_local(checkpoint(name))
        requests = [ask(event, images=int(name != "base_text")) for event in EVENTS]
        assert all(outcome.error is None for outcome in engine.answer(requests))
    assert capfd.readouterr() == ("", "")


def test_the_light_half_of_the_package_loads_no_torch():
    code = "import sys, vqaudit.engines, vqaudit.engines.base; assert not {'torch', 'transformers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_package_is_named_with_its_pip_line():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from vqaudit.errors import EngineUnavailable\n"
        "try:\n    import vqaudit.engines.local\n"
        "except EngineUnavailable as error:\n    assert \"pip install 'vqaudit[local]'\" in str(error)\n"
        "else:\n    raise SystemExit('torch was not missed')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_closed_engine_holds_no_weights(checkpoint):
    engine = load_local(checkpoint("qwen2_text"))
    engine.close()
    assert all(weights.device.type == "meta" for weights in engine._loaded.model.parameters())
