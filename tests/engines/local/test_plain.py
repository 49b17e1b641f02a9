"""Forward passes and generation: padding does not matter, and nothing of a checkpoint's habits is inherited."""

from __future__ import annotations

import json
import math
import shutil

import pytest
import torch
import transformers as hf

from vqaudit.engines.base import Generation, IDScores, Reply
from vqaudit.engines.local import load_local
from vqaudit.engines.local.plain import PlainPath, TokenRoles
from vqaudit.engines.local.sessions import Row

HABITS = {
    "do_sample": True,
    "temperature": 0.3,
    "repetition_penalty": 5.0,
    "no_repeat_ngram_size": 1,
    "min_new_tokens": 4,
    "suppress_tokens": list(range(5, 400)),
    "bad_words_ids": [[400]],
    "num_beams": 3,
}


@pytest.fixture(scope="module")
def path(families):
    torch.manual_seed(3)
    tiny = families.FAMILIES["qwen2_text"]()
    roles = TokenRoles(pad=0, ends=(2,))
    return PlainPath(tiny.model.eval(), roles=roles, type_key=None, token_budget=64, max_batch=3)


ROWS = [Row(token_ids=tuple(range(10, 10 + n))) for n in (3, 9, 1, 30, 5)]


def test_padding_does_not_change_the_next_token(path):
    together = path.next_logprobs(ROWS)
    for row, logprobs in zip(ROWS, together, strict=True):
        alone = path._model(input_ids=torch.tensor([row.token_ids])).logits[0, -1].float().log_softmax(-1)
        assert torch.allclose(logprobs, alone, atol=1e-4)
    assert together.dtype == torch.float32


def test_absolute_positions_are_counted_from_the_first_real_token(engine_of, ask):
    """The model of this family has learned positions: counting its padding would change every answer."""
    engine = engine_of("base_text")
    short, long = (ask(IDScores(), text) for text in ("A?", "A much longer question, with many more words. " * 5))
    together, alone = engine.answer([short, long])[0], engine.answer([short])[0]
    for one, other in zip(together.id_scores, alone.id_scores, strict=True):
        assert one.logprob == pytest.approx(other.logprob, abs=1e-4)


def test_continuations_are_read_at_their_own_tokens(path):
    lengths = [2, 4, 0, 7, 1]
    seen = {}
    for index, logprobs in path.continuation_logprobs(ROWS, lengths):
        seen[index] = logprobs
    assert sorted(seen) == [0, 1, 2, 3, 4]
    for index, (row, length) in enumerate(zip(ROWS, lengths, strict=True)):
        table = path._model(input_ids=torch.tensor([row.token_ids])).logits[0].float().log_softmax(-1)
        assert len(seen[index]) == length + 1
        assert torch.allclose(seen[index], table[len(row.token_ids) - length - 1 :], atol=1e-4)


def test_generation_is_what_greedy_decoding_step_by_step_gives(path):
    for row, generated in zip(ROWS, path.generate(ROWS, max_tokens=5), strict=True):
        tokens, ends = list(row.token_ids), []
        for _ in range(5):
            with torch.inference_mode():
                logprobs = path._model(input_ids=torch.tensor([tokens])).logits[0, -1].float().log_softmax(-1)
            ends.append(float(logprobs[2].exp()))
            tokens.append(int(logprobs.argmax()))
            if tokens[-1] == 2:
                break
        new = tokens[len(row.token_ids) :]
        assert generated.tokens == tuple(token for token in new if token != 2)
        assert generated.ended == (2 in new)
        assert generated.end_probabilities == pytest.approx(ends, abs=1e-5)
        assert generated.finite


def test_a_reply_ends_at_any_end_token(families):
    torch.manual_seed(3)
    model = families.FAMILIES["qwen2_text"]().model.eval()
    free = PlainPath(model, roles=TokenRoles(pad=0, ends=()), type_key=None, token_budget=64, max_batch=8)
    (whole,) = free.generate(ROWS[:1], max_tokens=6)
    assert not whole.ended
    stop = whole.tokens[3]
    first = whole.tokens.index(stop)
    ending = PlainPath(model, roles=TokenRoles(pad=0, ends=(2, stop)), type_key=None, token_budget=64, max_batch=8)
    (cut,) = ending.generate(ROWS[:1], max_tokens=6)
    assert cut.ended
    assert cut.tokens == whole.tokens[:first]
    assert len(cut.end_probabilities) == first + 1
    assert cut.end_probabilities[-1] > 0.0


def test_nothing_of_the_checkpoints_generation_habits_is_inherited(checkpoint, tmp_path, ask, engine_of):
    folder = tmp_path / "habits"
    shutil.copytree(checkpoint("qwen2_text"), folder)
    config = folder / "generation_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text(encoding="utf-8")), **HABITS}), encoding="utf-8")
    request = [ask(Reply(vocabulary=tuple("ABCD"))), ask(Generation(max_tokens=8))]
    for one, other in zip(load_local(folder).answer(request), engine_of("qwen2_text").answer(request), strict=True):
        assert (one.reply, one.prefixes, one.finish_reason) == (other.reply, other.prefixes, other.finish_reason)


def test_end_tokens_of_the_generation_configuration_count(checkpoint, tmp_path):
    folder = tmp_path / "ends"
    shutil.copytree(checkpoint("qwen2_text"), folder)
    config = folder / "generation_config.json"
    config.write_text(json.dumps({"eos_token_id": [0, 2]}), encoding="utf-8")
    assert load_local(folder).describe()["end_tokens"] == ["<|endoftext|>", "<|im_end|>"]


def test_logits_that_are_not_finite_are_no_answer(checkpoint, ask):
    engine = load_local(checkpoint("qwen2_text"))
    with torch.no_grad():
        engine._loaded.model.get_output_embeddings().weight[7] = math.nan
    reply, scores = engine.answer([ask(Reply(vocabulary=tuple("ABCD"))), ask(IDScores())])
    assert reply.reply is None
    assert not reply.bad_input
    assert "not finite" in reply.error
    assert all(math.isnan(score.logprob) for score in scores.id_scores)


def test_rows_with_pictures_leave_positions_to_a_model_that_counts_them_by_picture(engine_of):
    assert engine_of("qwen2_vl")._paths.plain._own_positions
    assert not engine_of("llava")._paths.plain._own_positions
    assert isinstance(engine_of("llava")._loaded.model.generation_config, hf.GenerationConfig)
