"""Hidden states are those of transformers, on either path, and the lens reads what norm and head say of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vqaudit.asking.formats import FORMATS
from vqaudit.engines.base import IDScores, StateKeeper
from vqaudit.engines.local.states import Caught, Lens, catching
from vqaudit.errors import UnsupportedEvent

TEXTS = [
    f"What color is the car?\n{form.list_options(('red', 'blue', 'green and white', 'yellow'), form.id_set.first(4))}"
    for form in FORMATS[:6]
]


def requests_of(ask, images, depth):
    return [
        ask(IDScores(states=depth, watch=("The",)), text, images=images, trial=str(n)) for n, text in enumerate(TEXTS)
    ]


def answered(engine, requests):
    """As a run asks: in the engine's own batches."""
    found = {o.trial: o for batch in engine.batches(requests) for o in engine.answer(batch)}
    assert all(outcome.error is None for outcome in found.values())
    return [found[request.trial] for request in requests]


def direct_states(engine, request):
    """What transformers itself returns for the prompt, alone."""
    prompt = engine._tools.encoder.encode([request])[0]
    path = engine._paths.plain
    inputs = path._inputs([engine._asked(request, prompt).row()])
    with torch.inference_mode():
        out = engine._loaded.model(**inputs, output_hidden_states=True)
    return torch.stack([hidden[0, -1].float() for hidden in out.hidden_states]).cpu()


def test_states_are_those_of_transformers_whatever_is_shared(family, shown, engine_of, ask):
    plain, shared = engine_of(family, prefix_sharing="off"), engine_of(family)
    requests = requests_of(ask, shown, "all")
    alone = answered(plain, requests)
    together = answered(shared, requests)
    assert any(outcome.tokens_reused for outcome in together)
    for request, one, other in zip(requests, alone, together, strict=True):
        if family != "phi4":  # transformers' Phi-4 cannot return hidden states of a prompt with a picture
            expected = direct_states(plain, request).numpy()
            np.testing.assert_allclose(one.states.values, expected, atol=2e-4)
        else:
            expected = one.states.values
        np.testing.assert_allclose(other.states.values, expected, atol=2e-4)


@torch.no_grad()
def test_the_last_layer_is_what_the_output_embedding_multiplies(family, shown, engine_of, ask):
    engine = engine_of(family)
    for one, every in zip(
        answered(engine, requests_of(ask, shown, "last")), answered(engine, requests_of(ask, shown, "all")), strict=True
    ):
        assert one.states.values.shape[0] == 1
        assert one.states.lens == ()
        np.testing.assert_allclose(one.states.values[0], every.states.values[-1], atol=1e-6)
    head = engine._loaded.model.get_output_embeddings()
    logits = head(torch.from_numpy(one.states.values[0]))
    logprobs = logits.log_softmax(-1)
    for top in one.top_tokens:
        assert top.logprob == pytest.approx(float(logprobs[top.token_id]), abs=1e-4)


def test_asking_for_states_changes_no_score(engine_of, ask):
    engine = engine_of("qwen2_vl")
    without = answered(
        engine, [ask(IDScores(watch=("The",)), text, images=1, trial=str(n)) for n, text in enumerate(TEXTS)]
    )
    for bare, kept in zip(without, answered(engine, requests_of(ask, 1, "all")), strict=True):
        assert bare.states is None
        assert bare.id_scores == kept.id_scores
        assert bare.id_mass == kept.id_mass


@torch.no_grad()
def test_the_lens_ends_in_the_scores_and_begins_at_the_embeddings(demo, ask):
    engine = demo
    for outcome in answered(engine, requests_of(ask, 1, "all")):
        lens = outcome.states.lens
        assert len(lens) == outcome.states.values.shape[0] == engine.readout("ABCD").layers + 1
        assert list(lens[-1].id_logprobs) == pytest.approx([s.logprob for s in outcome.id_scores], abs=1e-6)
        assert list(lens[-1].id_ranks) == [s.rank for s in outcome.id_scores]
        assert lens[-1].id_mass == pytest.approx(outcome.id_mass)
        assert lens[-1].watch_mass == pytest.approx(outcome.watch_mass)
        decoder, head = engine._loaded.model.get_decoder(), engine._loaded.model.get_output_embeddings()
        first = head(decoder.norm(torch.from_numpy(outcome.states.values[0]))).log_softmax(-1)
        token = outcome.id_scores[0].token_ids[0]
        assert lens[0].id_ranks[0] <= int((first > first[token]).sum()) + 1


def test_a_head_that_is_more_than_its_norm_gives_no_lens(engine_of, ask):
    engine = engine_of("llava")
    lens = Lens(engine._loaded.model)
    states = torch.randn(2, 3, engine.readout("AB").width)
    vocabulary = engine._loaded.model.get_output_embeddings().weight.shape[0]
    assert list(lens.read(Caught(torch.randn(2, vocabulary).log_softmax(-1), states))) == []


def test_the_readout_gives_the_scores_of_the_model(family, shown, engine_of, ask):
    engine = engine_of(family)
    assert isinstance(engine, StateKeeper)
    readout = engine.readout("ABCD")
    if not all(readout.token_ids.values()):
        pytest.skip("this tokenizer writes a letter as several tokens")
    for outcome in answered(engine, requests_of(ask, shown, "last"))[:1]:
        state = outcome.states.values[0]
        logits = [
            np.logaddexp.reduce([readout.rows[t] @ state + readout.biases[t] for t in readout.token_ids[letter]])
            for letter in "ABCD"
        ]
        scores = [score.logprob for score in outcome.id_scores]
        np.testing.assert_allclose(np.diff(logits), np.diff(scores), atol=1e-4)


def test_an_id_of_several_tokens_has_no_rows(engine_of):
    tokens = engine_of("llava").readout(("A", "a long name of an option")).token_ids
    assert tokens["A"] != ()
    assert tokens["a long name of an option"] == ()


def test_a_model_without_blocks_to_be_found_is_refused(engine_of):
    model = engine_of("llava")._loaded.model

    class Hidden:
        config = model.config

        def get_decoder(self):
            return torch.nn.Linear(2, 2)

        def get_output_embeddings(self):
            return model.get_output_embeddings()

    with catching(Hidden(), "last"):
        pass
    with pytest.raises(UnsupportedEvent, match="keep those of the last layer alone"), catching(Hidden(), "all"):
        pass


def test_hooks_are_gone_even_after_an_error(engine_of):
    model = engine_of("llava")._loaded.model

    def hooks():
        return [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()]

    before = hooks()
    with catching(model, "all"):
        assert hooks() != before
    assert hooks() == before

    def break_off():
        with catching(model, "all"):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        break_off()
    assert hooks() == before
