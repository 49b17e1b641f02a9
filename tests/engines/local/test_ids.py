"""How option IDs are written after a prompt: spellings, budgets, and what one position cannot tell."""

from __future__ import annotations

import json

import pytest
import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from vqaudit.engines.base import IDScores, Reply
from vqaudit.engines.local.control import ControlTokens
from vqaudit.engines.local.encoding import Prompt
from vqaudit.engines.local.ids import IDTokens
from vqaudit.engines.local.vocabulary import Vocabulary

NUMBERS, LETTERS, ROMANS = ("1", "2", "3", "4"), tuple("ABCD"), ("I", "II", "III", "IV")


def tools_for(tokenizer):
    control = ControlTokens(tokenizer)
    vocabulary = Vocabulary(tokenizer, control_ids=control.ids)
    return IDTokens(control, vocabulary), vocabulary


def prompt_ending(tail, lead=""):
    return Prompt(token_ids=(), text=tail, tail=tail, lead=lead)


def character_tokenizer(merges, characters):
    """A tokenizer over single characters and the given merges, nothing else."""
    pieces = [*characters, *("".join(pair) for pair in merges)]
    vocabulary = {piece: place for place, piece in enumerate(["<unk>", "<end>", *dict.fromkeys(pieces)])}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>"))
    backend.decoder = decoders.Fuse()
    return hf.PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", eos_token="<end>", pad_token="<end>")


@pytest.fixture(scope="module")
def llava(families):
    """Its tokenizer writes a blank before a digit as a token of its own."""
    return families.FAMILIES["llava"]().processor.tokenizer


@pytest.fixture(scope="module")
def qwen(families):
    return families.FAMILIES["qwen2_vl"]().processor.tokenizer


def test_a_blank_before_a_digit_counts_where_the_tokenizer_makes_one(llava):
    ids, _ = tools_for(llava)
    in_place = prompt_ending("? ASSISTANT:", lead=" ")
    assert ids.emitted(NUMBERS, in_place) == 2
    assert ids.paper(NUMBERS) == 1
    assert ids.emitted(("A", "B", "C"), in_place) == 1


def test_digits_of_one_token_need_a_budget_of_one(qwen):
    ids, _ = tools_for(qwen)
    header = prompt_ending("<|im_start|>assistant\n")
    assert ids.emitted(NUMBERS, header) == ids.paper(NUMBERS) == 1
    assert ids.emitted((*NUMBERS, "10"), header) == 2


def test_the_engine_resolves_every_kind_of_budget(engine_of, ask):
    engine = engine_of("llava")
    budgets = ["emitted", "paper", 3]
    requests = [ask(Reply(vocabulary=NUMBERS, budget=b), images=1, option_ids=NUMBERS) for b in budgets]
    assert [outcome.budget for outcome in engine.answer(requests)] == [2, 1, 3]


def test_ids_that_begin_with_one_blank_token_are_told_apart_along_the_sequence(llava):
    ids, vocabulary = tools_for(llava)
    plan = ids.plan(NUMBERS, prompt_ending("? ASSISTANT:", lead=" "))
    blanks = {place[0] for place in plan.in_place}
    assert len(blanks) == 1
    assert vocabulary.text(blanks.pop()).strip() == ""
    assert not plan.one_position
    assert plan.needs_sequences
    told = ids.describe(NUMBERS, prompt_ending("? ASSISTANT:", lead=" "))
    assert all(not told[i]["distinguishable_at_first_position"] for i in NUMBERS)
    assert told["1"]["same_first_token"] == ["2", "3", "4"]
    assert told["1"]["single_token"] is False
    assert told["1"]["budget"] == {"emitted": 2, "paper": 1}
    json.dumps(told)


def test_letters_are_told_apart_at_the_first_position(qwen):
    ids, _ = tools_for(qwen)
    header = prompt_ending("<|im_start|>assistant\n")
    plan = ids.plan(LETTERS, header)
    assert plan.one_position
    assert not plan.needs_sequences
    assert plan.contexts == ()
    told = ids.describe(LETTERS, header)
    assert all(told[i]["single_token"] and told[i]["distinguishable_at_first_position"] for i in LETTERS)
    assert {text.strip() for text in told["A"]["spellings"]} == {"A"}


def test_numerals_made_of_the_same_letter_need_what_comes_after():
    """I, II, III and IV share a first token, and I begins all: one position could never tell them apart."""
    ids, vocabulary = tools_for(character_tokenizer([], "IV "))
    plan = ids.plan(ROMANS, prompt_ending(" "))
    one, five = vocabulary.spellings("I")[0], vocabulary.spellings("V")[0]
    assert plan.in_place == ((one,), (one, one), (one, one, one), (one, five))
    assert plan.needs_sequences
    assert plan.extending[0] == {one, five}
    assert plan.extending[1] == {one}
    assert plan.extending[2:] == (frozenset(), frozenset())
    assert (one, one) in plan.contexts


def test_no_spelling_begins_with_another_of_the_same_id(llava, qwen):
    for tokenizer in (llava, qwen):
        ids, _ = tools_for(tokenizer)
        for tail in ("<x>answer: ", "ASSISTANT:"):
            for option_ids in (NUMBERS, LETTERS, ROMANS, ("9", "10", "11")):
                for ways in ids.plan(option_ids, prompt_ending(tail, lead=" ")).sequences:
                    assert ways
                    assert not [1 for a in ways for b in ways if a != b and b[: len(a)] == a]


def test_an_id_that_merges_with_the_prompt_has_no_spelling_of_its_own_place():
    ids, vocabulary = tools_for(character_tokenizer([("(", "A")], "(AB "))
    plan = ids.plan(("A", "B"), prompt_ending("("))
    assert plan.in_place == (None, (vocabulary.spellings("B")[0],))
    assert plan.singles[0] == vocabulary.spellings("A")
    assert plan.one_position
    assert ids.describe(("A", "B"), prompt_ending("("))["A"]["in_place"] is None


def test_words_are_watched_by_their_first_tokens_but_not_by_white_space(llava):
    ids, vocabulary = tools_for(llava)
    first = ids.first_tokens(("7", "quick"), prompt_ending("? ASSISTANT:", lead=" "))
    texts = {vocabulary.text(token).strip() for token in first}
    assert "7" in texts
    assert "" not in texts
    assert any(text and "quick".startswith(text) for text in texts)


def test_the_manifest_learns_how_ids_are_written(engine_of):
    told = engine_of("qwen2_text").describe_ids(("1", "10"))
    assert told["1"]["extended_by"] == ["10"]
    assert told["10"]["bare"] == ["1", "0"]
    assert told["10"]["spellings"] == []
    assert told["10"]["single_token"] is False


def test_ids_of_several_tokens_are_scored_along_the_sequence(engine_of, ask):
    outcome = engine_of("qwen2_text").answer([ask(IDScores(), option_ids=("9", "10"))])[0]
    nine, ten = outcome.id_scores
    assert len(nine.token_ids) == 1
    assert nine.rank is not None
    assert len(ten.token_ids) == 2
    assert ten.rank is None  # a sequence has no rank in the vocabulary
    assert ten.spelling == "10"
    assert ten.logprob < 0


def test_unused_pre_tokenizers_do_not_matter():
    """A tokenizer that splits at white space writes the same IDs after any word."""
    tokenizer = character_tokenizer([], "AB xyz")
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", behavior="isolated")
    ids, _ = tools_for(tokenizer)
    assert ids.plan(("A", "B"), prompt_ending("xyz ")).in_place == ids.plan(("A", "B"), prompt_ending("zyx ")).in_place
