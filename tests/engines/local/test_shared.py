"""The shared path gives what the plain path gives, for every family; and where it would not, it is not taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
import torch

from vqaudit.asking.formats import FORMATS
from vqaudit.asking.orders import apply_order, circular_orders
from vqaudit.engines.base import Generation, IDScores, ImagePart, OptionLikelihood, Reply, TextPart
from vqaudit.engines.local import LocalSpec, load_local
from vqaudit.engines.local.batching import Shared
from vqaudit.engines.local.branches import Branch, Network
from vqaudit.engines.local.paths import choose_paths
from vqaudit.engines.local.plain import PlainPath

OPTIONS = ("red", "blue", "green and white", "yellow")
STRATEGIES = ("cascade", "expanded")
TOLERANCE = 1e-4


def grid(formats=FORMATS):
    """Every format in every circular order, as one question is asked in a full grid."""
    for form in formats:
        ids = form.id_set.first(len(OPTIONS))
        for order in circular_orders(len(OPTIONS)):
            yield ids, f"What color is the car?\n{form.list_options(apply_order(order, OPTIONS), ids)}\nAnswer:"


def ask_all(engine, requests):
    """As a run asks: in the engine's own batches."""
    outcomes = {o.trial: o for batch in engine.batches(requests) for o in engine.answer(batch)}
    return [outcomes[request.trial] for request in requests]


def numbers(outcome):
    return [
        *(score.logprob for score in outcome.id_scores),
        *(score.logprob for score in outcome.option_scores),
        *(top.logprob for top in outcome.top_tokens),
    ]


def largest_difference(one, other):
    return max(abs(a - b) for x, y in zip(one, other, strict=True) for a, b in zip(numbers(x), numbers(y), strict=True))


def margin(outcome):
    first, second, *_ = outcome.top_tokens
    return first.logprob - second.logprob


def pair_of(engine_of, name, strategy="auto"):
    plain, shared = engine_of(name, prefix_sharing="off"), engine_of(name, prefix_sharing=strategy)
    assert shared.describe()["prefix_sharing"]["strategy"] == ("cascade" if strategy == "auto" else strategy)
    return plain, shared


def test_a_whole_grid_is_scored_as_without_sharing(family, shown, engine_of, ask):
    plain, shared = pair_of(engine_of, family)
    requests = [
        ask(IDScores(), text, images=shown, option_ids=ids, trial=str(n)) for n, (ids, text) in enumerate(grid())
    ]
    expected, found = ask_all(plain, requests), ask_all(shared, requests)
    assert largest_difference(expected, found) < TOLERANCE
    reused = [outcome.tokens_reused for outcome in found]
    assert sum(reused) > 0.9 * 192 * max(reused)


def test_replies_are_those_without_sharing(family, shown, engine_of, ask):
    """Where they differ, the plain model itself must be at a tie."""
    plain, shared = pair_of(engine_of, family)
    requests = [
        ask(Reply(vocabulary=("A", "B", "C", "D"), further=3), text, images=shown, option_ids=ids, trial=str(n))
        for n, (ids, text) in enumerate(grid(FORMATS[::4]))
    ]
    expected, found = ask_all(plain, requests), ask_all(shared, requests)
    assert largest_difference(expected, found) < TOLERANCE
    differing = [a for a, b in zip(expected, found, strict=True) if a.reply != b.reply]
    assert not [a for a in differing if margin(a) > 1e-3], "replies differ where the plain margin is clear"
    assert len(differing) <= 0.02 * len(requests)


@pytest.mark.parametrize(("strategy", "images"), [("cascade", 0), ("cascade", 1), ("cascade", 3), ("expanded", 1)])
def test_every_event_agrees(family, families, engine_of, ask, strategy, images):
    if family not in families.VISION_FAMILIES:
        if (strategy, images) in (("cascade", 1), ("cascade", 3)):
            pytest.skip("a text model has no pictures")
        images = 0
    plain, shared = pair_of(engine_of, family, strategy)
    events = [
        IDScores(watch=("The",)),
        Reply(vocabulary=("A", "B", "C", "D"), further=2),
        Generation(max_tokens=9),
        OptionLikelihood(continuations=(" red", " blue and a very long text", "\nyellow", " no")),
    ]
    # three of Phi-4's pictures are thousands of tokens, which the plain path computes for every prompt
    prompts = list(grid(FORMATS[::5]))[:: 12 if (family, images) == ("phi4", 3) else 4]
    requests = [
        ask(event, text, images=images, option_ids=ids, trial=f"{e}-{n}")
        for e, event in enumerate(events)
        for n, (ids, text) in enumerate(prompts)
    ]
    expected, found = ask_all(plain, requests), ask_all(shared, requests)
    assert all(outcome.error is None for outcome in found)
    assert largest_difference(expected, found) < TOLERANCE
    same = Counter(
        a.reply == b.reply and a.end_given_id == pytest.approx(b.end_given_id, abs=1e-4)
        for a, b in zip(expected, found, strict=True)
    )
    assert same[False] <= 0.02 * len(requests)


def test_several_questions_about_one_picture_share_it(vision_family, engine_of, ask):
    plain, shared = pair_of(engine_of, vision_family)
    questions = ["What color is the car? " * 9, "Is it a cat or is it a dog that sits there? " * 9, "How many? " * 12]
    requests = [
        ask(IDScores(), f"{q}\n{tail}", images=1, trial=f"{q[:3]}{n}")
        for q in questions
        for n, tail in enumerate(("A. red\nB. blue", "(A) red, (B) blue", "A: red; B: blue", "A) red\nB) blue"))
    ]
    batches = list(shared.batches(requests))
    assert max(len(batch.shared.chain) for batch in batches) == 2
    assert largest_difference(ask_all(plain, requests), ask_all(shared, requests)) < TOLERANCE


def test_pictures_within_the_options_are_computed_whole(engine_of, ask):
    """No beginning may end before a picture does."""
    plain, shared = pair_of(engine_of, "qwen2_vl")

    def parts(first, second, n):
        texts = ["Which picture is darker? Take your time and look at both with care.\nA. ", f"{n}\nB. "]
        return (TextPart(text=texts[0]), ImagePart(index=first), TextPart(text=texts[1]), ImagePart(index=second))

    requests = [
        ask(IDScores(), parts=parts(*places, n), images=2, trial=f"{n}-{places}")
        for places in ((0, 1), (1, 0))
        for n in range(3)
    ]
    assert not any(batch.shared.chain for batch in shared.batches(requests))
    assert largest_difference(ask_all(plain, requests), ask_all(shared, requests)) < TOLERANCE


def test_another_picture_is_another_beginning(vision_family, engine_of, ask, pictures):
    """Positions and keys of the picture before must not be left over."""
    plain, shared = pair_of(engine_of, vision_family)
    requests = [
        ask(IDScores(), text, images=1, trial=f"{k}-{n}") for n, (_, text) in enumerate(grid(FORMATS[:2])) for k in (0,)
    ]
    for picture in (pictures[0], pictures[2], pictures[1], pictures[0]):
        asked = [replace(request, images=(picture,)) for request in requests]
        assert largest_difference(ask_all(plain, asked), ask_all(shared, asked)) < TOLERANCE


def test_tokens_are_counted_the_same_whatever_was_asked_before(engine_of, ask):
    _, shared = pair_of(engine_of, "qwen2_vl")
    requests = [ask(IDScores(), text, images=1, option_ids=ids, trial=str(n)) for n, (ids, text) in enumerate(grid())]
    first, second = ([(o.tokens_computed, o.tokens_reused) for o in ask_all(shared, requests)] for _ in range(2))
    assert first == second
    beginning = next(batch.shared.chain[-1] for batch in shared.batches(requests) if batch.shared.chain)
    assert sum(computed for computed, _ in first) < beginning + 192 * 60


def test_batches_keep_the_kv_budget(engine_of, ask):
    requests = [ask(IDScores(), text, images=1, option_ids=ids, trial=str(n)) for n, (ids, text) in enumerate(grid())]
    engine = engine_of("llava", prefix_sharing="expanded", kv_budget=0.001)
    tokens = 0.001 * 2**30 / Network(engine._loaded.model).bytes_per_token
    for batch in engine.batches(requests):
        longest = max(engine.count_tokens(request) for request in batch)
        assert len(batch) == 1 or len(batch) * longest <= tokens
    assert len(list(engine.batches(requests))) > len(list(engine_of("llava").batches(requests)))


def test_a_shared_batch_that_does_not_fit_is_halved(checkpoint, ask, monkeypatch):
    engine = load_local(checkpoint("llava"))
    requests = [ask(IDScores(), text, images=1, option_ids=ids, trial=str(n)) for n, (ids, text) in enumerate(grid())]
    expected = ask_all(engine, requests)
    forward, sizes = Branch._forward, []

    def small(self, ids, *rest):
        sizes.append(len(ids))
        if len(ids) > 20:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(self, ids, *rest)

    monkeypatch.setattr(Branch, "_forward", small)
    found = ask_all(engine, requests)
    assert max(sizes) > 40
    assert all(outcome.error is None for outcome in found)
    assert largest_difference(expected, found) < TOLERANCE


# What must not be taken for the model: each of these gives numbers, and wrong ones.


def wrong_positions(monkeypatch):
    prefill = PlainPath.prefill
    monkeypatch.setattr(PlainPath, "prefill", lambda self, row: replace(prefill(self, row), offset=0))


def stale_positions(monkeypatch):
    """The offset of whatever picture came last, instead of this one's."""
    prefill, offsets = PlainPath.prefill, [7]

    def stale(self, row):
        prefix = prefill(self, row)
        offsets.append(prefix.offset)
        return replace(prefix, offset=offsets[-2])

    monkeypatch.setattr(PlainPath, "prefill", stale)


def no_window(monkeypatch):
    before = Network.__init__

    def blind(self, model):
        before(self, model)
        self.window, self.hybrid = None, False

    monkeypatch.setattr(Network, "__init__", blind)


def yes_or_no_mask(monkeypatch):
    monkeypatch.setattr(Network, "_form", lambda self, mask: mask[:, None])


def no_mask_of_the_rows_own_filling(monkeypatch):
    mask = Network.mask

    def blind(self, near, *rest):
        return mask(self, torch.ones_like(near), *rest)

    monkeypatch.setattr(Network, "mask", blind)


MUTANTS = [
    ("qwen2_vl", {}, wrong_positions),
    ("qwen2_5_vl", {}, wrong_positions),
    ("qwen3_vl", {}, wrong_positions),
    ("qwen2_vl", {}, stale_positions),
    ("gemma3", {}, no_window),
    ("llava", {"attn_implementation": "eager"}, yes_or_no_mask),
    ("llava", {}, no_mask_of_the_rows_own_filling),
]


@pytest.mark.parametrize(("name", "options", "mutate"), MUTANTS, ids=lambda v: getattr(v, "__name__", str(v)))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_check_at_the_start_catches(name, options, mutate, strategy, checkpoint, monkeypatch):
    if options and strategy == "cascade":
        pytest.skip("eager attention is never split")
    spec = LocalSpec.model_validate({**options, "prefix_sharing": strategy})
    assert load_local(checkpoint(name), spec=spec).describe()["prefix_sharing"]["strategy"] == strategy
    mutate(monkeypatch)
    told = load_local(checkpoint(name), spec=spec).describe()["prefix_sharing"]
    assert told["strategy"] == "plain"
    assert told["checked"][0]["error"] or told["checked"][0]["max_abs_diff"] > 10 * told["checked"][0]["tolerance"]


def test_a_model_that_cannot_be_shared_is_asked_plainly_and_says_why(checkpoint, ask, monkeypatch):
    def refuse(*_, **__):
        raise ValueError("this attention takes no mask")

    monkeypatch.setattr(Branch, "step", refuse)
    engine = load_local(checkpoint("llava"))
    told = engine.describe()["prefix_sharing"]
    assert told["strategy"] == "plain"
    assert [check["error"] for check in told["checked"]] == ["ValueError: this attention takes no mask"] * 2
    requests = [
        ask(IDScores(), text, images=1, option_ids=ids, trial=str(n)) for n, (ids, text) in enumerate(grid(FORMATS[:2]))
    ]
    assert all(o.error is None and o.tokens_reused == 0 for o in ask_all(engine, requests))


def test_numbers_that_are_none_never_agree(engine_of, monkeypatch):
    engine = engine_of("llava")
    plain = engine._paths.plain
    rows = [engine._sample_groups(plain)[0][0][0]] * 2
    monkeypatch.setattr(Branch, "step", lambda self, tokens, keep=1: torch.full((len(tokens), keep, 9), torch.nan))
    monkeypatch.setattr(PlainPath, "next_logprobs", lambda self, rows: torch.zeros(len(rows), 9))
    paths = choose_paths(plain, [(rows, Shared((3,)))], ends=(), sharing="auto")
    assert paths.shared is None
    assert paths.tried[0].max_abs_diff == torch.inf


def test_what_cannot_be_checked_is_not_shared(engine_of):
    paths = choose_paths(engine_of("llava")._paths.plain, [], ends=(), sharing="auto")
    assert paths.shared is None
    assert "nothing is checked" in paths.tried[0].error


def test_half_precision_is_checked_against_its_own_rounding(checkpoint, ask):
    spec = LocalSpec(dtype="bfloat16")
    engine, plain = (
        load_local(checkpoint("llava"), spec=spec),
        load_local(checkpoint("llava"), spec=LocalSpec(dtype="bfloat16", prefix_sharing="off")),
    )
    assert engine.describe()["prefix_sharing"]["strategy"] != "plain"
    requests = [
        ask(IDScores(), text, images=1, option_ids=ids, trial=str(n))
        for n, (ids, text) in enumerate(grid(FORMATS[::6]))
    ]
    assert largest_difference(ask_all(plain, requests), ask_all(engine, requests)) < 0.3
