"""What tokens read as, white space included."""

from __future__ import annotations

import pytest
import transformers as hf
from tokenizers import Tokenizer, decoders, models

from vqaudit.engines.local.vocabulary import Vocabulary


@pytest.fixture(scope="module", params=["llava", "gemma3", "qwen2_vl"])
def tokenizer(request, families):
    return families.FAMILIES[request.param]().processor.tokenizer


@pytest.fixture(scope="module")
def vocabulary(tokenizer):
    return Vocabulary(tokenizer, control_ids=tokenizer.all_special_ids)


def test_a_blank_before_a_word_is_kept(vocabulary, tokenizer):
    ids = tokenizer.encode("the fox", add_special_tokens=False)
    texts = [vocabulary.text(token) for token in ids]
    assert "".join(texts).strip() == "the fox"
    assert vocabulary.decode(ids).strip() == "the fox"
    assert " " in "".join(texts[1:])


def test_control_tokens_read_as_nothing(vocabulary, tokenizer):
    ids = tokenizer.encode("cat", add_special_tokens=False)
    assert vocabulary.decode([tokenizer.eos_token_id, *ids, tokenizer.pad_token_id]) == vocabulary.decode(ids)
    assert vocabulary.text(tokenizer.eos_token_id) == ""
    assert vocabulary.text(10**9) == ""


def test_spellings_are_exactly_the_tokens_that_read_as_the_word(vocabulary):
    for word in ("A", "B", "1", "I", "II"):
        expected = {token for token, text in enumerate(vocabulary.texts) if text.strip() == word}
        assert set(vocabulary.spellings(word)) == expected
    assert vocabulary.spellings("А") == ()  # the Cyrillic capital is another letter
    assert vocabulary.spellings("") == ()
    assert not set(vocabulary.spellings("A")) & set(vocabulary.spellings("a"))


def test_what_carries_an_id_on(vocabulary):
    towards_iii = {vocabulary.text(token) for token in vocabulary.continuing("II")}
    assert {"I"} <= towards_iii
    assert not {text for text in towards_iii if text.startswith(" ")}  # a blank ends the ID
    assert not {text for text in towards_iii if text.strip("I.:),") != ""}
    towards_ten = {vocabulary.text(token) for token in vocabulary.continuing("0")}
    assert towards_ten >= {"0"}
    assert "1" not in towards_ten


def test_a_longer_word_does_not_carry_an_id_on():
    """`It` after `I` makes no numeral, but `I.` ends one and `II` passes through one."""
    pieces = ["a", "I", "t", ".", "It", "I.", "II", " I"]
    backend = Tokenizer(models.BPE(vocab={piece: n for n, piece in enumerate(pieces)}, merges=[]))
    backend.decoder = decoders.Fuse()
    vocabulary = Vocabulary(hf.PreTrainedTokenizerFast(tokenizer_object=backend), control_ids=())
    assert {vocabulary.text(token) for token in vocabulary.continuing("I")} == {"I", "I."}
    assert {vocabulary.text(token) for token in vocabulary.continuing("II")} == {"I", "II"}
