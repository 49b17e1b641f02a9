"""A continuation whose beginning merges with the prompt's end is scored whole, never as certain."""

from __future__ import annotations

import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models

from vqaudit.engines.base import OptionLikelihood, Request, TextPart
from vqaudit.engines.local import load_local


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """A model whose tokenizer has `: C` as one token, but no such token for another letter."""
    characters = [*"Answer?ABCDa", ":", " ", "\n"]
    merges = [(":", " "), (": ", "C")]
    pieces = ["<end>", *dict.fromkeys(characters), ": ", ": C"]
    backend = Tokenizer(models.BPE(vocab={piece: n for n, piece in enumerate(pieces)}, merges=merges))
    backend.decoder = decoders.Fuse()
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>", pad_token="<end>")
    torch.manual_seed(5)
    config = hf.GPT2Config(
        vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, initializer_range=0.4, eos_token_id=0
    )
    folder = tmp_path_factory.mktemp("merging")
    hf.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_local(folder)


def by_hand(engine, tokens, start):
    with torch.inference_mode():
        table = engine._loaded.model(input_ids=torch.tensor([tokens])).logits[0].float().log_softmax(-1)
    return sum(float(table[n - 1, tokens[n]]) for n in range(start, len(tokens)))


def test_a_merged_token_belongs_to_the_continuation(engine):
    texts = (" A", " C", " D")
    event = OptionLikelihood(continuations=texts)
    request = Request(trial="t", parts=(TextPart(text="?"),), prefill="Answer:", event=event)
    outcome = engine.answer([request])[0]
    encode = engine._loaded.tokenizer.encode
    before = encode("?\nAnswer:")
    for text, score in zip(texts, outcome.option_scores, strict=True):
        joint = encode(f"?\nAnswer:{text}")
        shared = next(n for n, pair in enumerate(zip([*before, -1], joint, strict=False)) if pair[0] != pair[1])
        assert shared == len(before) - 1  # `:` has become `: ` or `: C`
        assert score.tokens == len(joint) - shared
        assert score.logprob == pytest.approx(by_hand(engine, joint, shared), abs=1e-4)
        assert score.logprob < -1e-3
    assert [score.tokens for score in outcome.option_scores] == [2, 1, 2]


def test_what_is_scored_after_a_prompt_does_not_depend_on_its_neighbours(engine):
    def request(*texts):
        event = OptionLikelihood(continuations=texts)
        return Request(trial="t", parts=(TextPart(text="?"),), prefill="Answer:", event=event)

    alone = [engine.answer([request(text)])[0].option_scores[0] for text in (" C", " DDDDDD", " A")]
    together = engine.answer([request(" C", " DDDDDD"), request(" A")])
    scores = [*together[0].option_scores, *together[1].option_scores]
    assert [s.logprob for s in scores] == pytest.approx([s.logprob for s in alone], abs=1e-4)
