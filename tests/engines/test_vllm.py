"""vLLM's offline engine, against a module of the shape that its documentation records.

No vLLM runs here: the fake below has the documented names and types (`LLM.chat`, `SamplingParams`, `RequestOutput`
with `outputs`, `prompt_token_ids`, `prompt_logprobs`, `num_cached_tokens`) and a model that is a table.
"""

import math
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from PIL import Image as Pillow

from vqaudit.engines.base import (
    ForcedToken,
    Generation,
    IDScores,
    Image,
    ImagePart,
    OptionLikelihood,
    Reply,
    Request,
    TextPart,
)
from vqaudit.engines.vllm import VLLMEngine, VLLMSpec
from vqaudit.errors import EngineError, EngineUnavailable, UnsupportedEvent

PROBABILITIES = {"A": 0.2, "B": 0.7, "C": 0.05, "x": 0.05}


class Tokenizer:
    """A token per character."""

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [1] * add_special_tokens + [ord(c) for c in text]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))


def fake_vllm(*, writes: str = "B.", cut_prompts: int | None = None) -> ModuleType:
    module: Any = ModuleType("vllm")
    module.__version__ = "0.15.0"
    module.calls = []
    module.SamplingParams = lambda **given: SimpleNamespace(
        **({"logprobs": None, "prompt_logprobs": None, "max_tokens": 16} | given)
    )
    logprob = lambda token, p: SimpleNamespace(logprob=math.log(p), rank=1, decoded_token=chr(token))  # noqa: E731

    class LLM:
        def __init__(self, model: str, **arguments: Any) -> None:
            if model == "missing":
                raise OSError("no such repository\nsecond line")
            module.arguments = {"model": model, **arguments}

        def get_tokenizer(self) -> Tokenizer:
            return Tokenizer()

        def chat(self, messages, sampling_params, use_tqdm=True, chat_template_kwargs=None, **how):
            module.calls.append({"messages": messages, "params": sampling_params, **how})
            return [self._one(m, p, **how) for m, p in zip(messages, sampling_params, strict=True)]

        def _one(self, messages, params, add_generation_prompt=True, continue_final_message=False):
            assert add_generation_prompt is not continue_final_message
            user = messages[0]["content"]
            text = user if isinstance(user, str) else "".join(part.get("text", "#") for part in user)
            if "too long" in text:
                raise ValueError("The decoder prompt (length 9000) is longer than the maximum model length of 4096.")
            tokens = [ord(c) for c in text + ">" + (messages[-1]["content"] if continue_final_message else "")]
            new = [ord(c) for c in writes][: params.max_tokens]
            lists = [
                {ord(t): logprob(ord(t), p) for t, p in (PROBABILITIES if n == 0 else {chr(token): 1.0}).items()}
                for n, token in enumerate(new)
            ]
            prompt = [None, *({t: logprob(t, 1 / (t % 7 + 1))} for t in tokens[1:])]
            return SimpleNamespace(
                prompt_token_ids=tokens,
                prompt_logprobs=None if params.prompt_logprobs is None else prompt[:cut_prompts],
                num_cached_tokens=2,
                outputs=[
                    SimpleNamespace(
                        text="".join(map(chr, new)),
                        token_ids=new,
                        logprobs=None if params.logprobs is None else lists,
                        finish_reason="length" if len(new) < len(writes) else "stop",
                    )
                ],
            )

    module.LLM = LLM
    return module


@pytest.fixture
def install(monkeypatch):
    def put(**changes):
        module = fake_vllm(**changes)
        monkeypatch.setitem(sys.modules, "vllm", module)
        return module

    return put


def ask(event, text: str = "Which?", **more) -> Request:
    parts = more.pop("parts", (TextPart(text=text),))
    return Request(trial=more.pop("trial", text), parts=parts, option_ids=("A", "B", "C"), event=event, **more)


def test_prefixes_are_cached_and_log_probabilities_are_raw(install) -> None:
    module = install()
    VLLMEngine("microsoft/Phi-3.5-vision-instruct", VLLMSpec(engine_args={"max_model_len": 4096}))
    given = module.arguments
    assert given["enable_prefix_caching"] is True
    assert given["logprobs_mode"] == "raw_logprobs"
    assert (given["max_logprobs"], given["max_model_len"]) == (20, 4096)


def test_id_scores_replies_and_generations(install) -> None:
    module = install()
    engine = VLLMEngine("m")
    scored, replied, forced, free = engine.answer(
        [
            ask(IDScores(), trial="s"),
            ask(Reply(vocabulary=("A", "B", "C"), further=3), trial="r"),
            ask(ForcedToken(), trial="f"),
            ask(Generation(max_tokens=9), trial="g"),
        ]
    )
    assert [score.logprob for score in scored.id_scores] == pytest.approx([math.log(p) for p in (0.2, 0.7, 0.05)])
    assert scored.id_mass == pytest.approx(0.95)
    assert (replied.reply, replied.prefixes, replied.budget) == ("B", ("B.",), 1)
    assert forced.reply == "B"
    assert (free.reply, free.finish_reason) == ("B.", "stop")
    assert (scored.tokens_computed, scored.tokens_reused, scored.tokens_written) == (7 - 2 + 1, 2, 1)
    limits = {p.max_tokens for p in module.calls[0]["params"]}
    assert limits == {1, 4, 9}
    assert all(p.temperature == 0.0 for p in module.calls[0]["params"])


def test_likelihoods_run_over_the_options_own_tokens(install) -> None:
    install()
    engine = VLLMEngine("m")
    (outcome,) = engine.answer([ask(OptionLikelihood(continuations=("cat", "ox")))])
    expected = [sum(-math.log(ord(c) % 7 + 1) for c in text) for text in ("cat", "ox")]
    assert [score.logprob for score in outcome.option_scores] == pytest.approx(expected)
    assert [(score.tokens, score.characters) for score in outcome.option_scores] == [(3, 3), (2, 2)]


def test_prompt_log_probabilities_of_the_uncached_tail_alone_fail(install) -> None:
    install(cut_prompts=3)
    (outcome,) = VLLMEngine("m").answer([ask(OptionLikelihood(continuations=("cat",)))])
    assert outcome.error == "3 log-probabilities for a prompt of 7 tokens"
    assert not outcome.bad_input


def test_pictures_are_handed_over_as_they_are_and_begun_turns_go_on(install) -> None:
    module = install()
    pixels = Pillow.new("RGB", (8, 8), "red")
    request = ask(
        IDScores(), parts=(ImagePart(index=0), TextPart(text="What?")), images=(Image(digest="d", pixels=pixels),),
        prefill="Let me think.", trial="p",
    )  # fmt: skip
    VLLMEngine("m").answer([request])
    call = module.calls[-1]
    assert call["messages"][0][0]["content"][0] == {"type": "image_pil", "image_pil": pixels}
    assert call["messages"][0][1] == {"role": "assistant", "content": "Let me think."}
    assert (call["add_generation_prompt"], call["continue_final_message"]) == (False, True)


def test_one_prompt_that_is_too_long_does_not_take_its_batch_with_it(install) -> None:
    install()
    outcomes = VLLMEngine("m").answer([ask(IDScores()), ask(IDScores(), "too long"), ask(IDScores(), "Other?")])
    assert [outcome.bad_input for outcome in outcomes] == [False, True, False]
    assert "longer than the maximum" in outcomes[1].error


def test_ids_are_described_in_place_and_bare(install) -> None:
    install()
    told = VLLMEngine("m").describe_ids(("A", "10"))
    assert told["10"] == {"bare": ["1", "0"], "in_place": ["1", "0"], "budget": {"emitted": 2, "paper": 2}}


def test_what_it_cannot_do_is_refused(install) -> None:
    install()
    with pytest.raises(UnsupportedEvent, match="use a local model"):
        VLLMEngine("m").check([IDScores(states="last")])
    with pytest.raises(EngineError, match="cannot load 'missing': no such repository"):
        VLLMEngine("missing")


def test_without_vllm_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'vqaudit\[vllm\]'"):
        VLLMEngine("m")


def test_batches_hold_every_request_once_and_put_beginnings_together(install) -> None:
    install()
    requests = [ask(IDScores(), f"Q{q}\n{o}", trial=f"{q}{o}") for o in "ba" for q in (1, 2)]
    requests.append(ask(Generation(), "Q1\nc", trial="g"))
    batches = list(VLLMEngine("m").batches(requests))
    assert [[request.trial for request in batch] for batch in batches] == [["1a", "1b", "2a", "2b"], ["g"]]
