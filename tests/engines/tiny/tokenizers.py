"""Tokenizers trained on a few sentences, and chat templates like those of the families."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

CORPUS = [
    "The quick brown fox jumps over the lazy dog. Question: What color is the car in the picture?",
    "Options: A. red, B. blue, C. green, D. yellow; (A) cat (B) dog (C) bird (D) fish",
    "Answer with the option letter from the given choices directly. I. II. III. IV. 1) 2) 3) 4) a: b: c: d:",
    "USER: ASSISTANT: user assistant system You are a helpful assistant. model Answer: A Answer: B Answer: C",
] * 4

CHATML = (
    "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'image' %}IMAGE{% else %}{{ c['text'] }}{% endif %}{% endfor %}"
    "{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
VICUNA = (
    "{% for m in messages %}{% if m['role'] != 'system' %}{{ m['role'].upper() + ': ' }}{% endif %}"
    "{% for c in m['content'] %}{% if c['type'] == 'image' %}{{ '<image>\n' }}{% endif %}{% endfor %}"
    "{% for c in m['content'] %}{% if c['type'] == 'text' %}{{ c['text'] + ' ' }}{% endif %}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for m in messages %}{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
    "{% if role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{{ '<start_of_turn>' + role + '\n' }}{% if m['content'] is string %}{{ m['content'] | trim }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'image' %}{{ '<start_of_image>' }}"
    "{% elif c['type'] == 'text' %}{{ c['text'] | trim }}{% endif %}{% endfor %}{% endif %}{{ '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
PHI4 = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'image' %}{{ '<|image|>' }}{% else %}{{ c['text'] }}{% endif %}"
    "{% endfor %}{% endif %}{{ '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
IDEFICS = (
    "<|im_start|>{% for m in messages %}{{ m['role'] | capitalize }}{% if m['content'][0]['type'] == 'image' %}{{ ':' }}"
    "{% else %}{{ ': ' }}{% endif %}{% for c in m['content'] %}{% if c['type'] == 'text' %}{{ c['text'] }}"
    "{% elif c['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>\n{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)


def byte_level_tokenizer(specials: Sequence[str], named: dict[str, str] | None = None, **kwargs: Any) -> Any:
    """A byte-level BPE tokenizer, as Qwen, SmolLM and InternVL have."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=540,
        special_tokens=list(specials),
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    backend.train_from_iterator(CORPUS, trainer)
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=backend, extra_special_tokens=named or {}, padding_side="left", **kwargs
    )


def sentencepiece_vocabulary(specials: Sequence[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """A vocabulary in which a blank before a digit is a token of its own, as in Llama 2 and Gemma."""
    backend = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(prepend_scheme="always"), pre_tokenizers.Digits(individual_digits=True)]
    )
    characters = [chr(code) for code in range(33, 127)] + ["▁", "\n"]
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=640,
        special_tokens=[*specials, *fallback],
        show_progress=False,
        initial_alphabet=characters,
    )
    backend.train_from_iterator(CORPUS, trainer)
    merges = json.loads(backend.to_str())["model"]["merges"]
    return backend.get_vocab(), [tuple(pair) for pair in merges]


CHATML_SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def chatml_tokenizer(specials: Sequence[str], named: dict[str, str]) -> Any:
    return byte_level_tokenizer([*CHATML_SPECIALS, *specials], named, eos_token="<|im_end|>", pad_token="<|endoftext|>")


def qwen_tokenizer() -> Any:
    named = {
        "image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
        "vision_bos_token": "<|vision_start|>",
        "vision_eos_token": "<|vision_end|>",
    }
    return chatml_tokenizer(["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"], named)


def idefics_tokenizer() -> Any:
    named = {
        "fake_image_token": "<fake_token_around_image>",
        "image_token": "<image>",
        "end_of_utterance_token": "<end_of_utterance>",
        "global_image_token": "<global-img>",
        "video_token": "<video>",
    }
    tiles = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    specials = ["<unk>", "<|im_start|>", "<pad>", *named.values(), *tiles]
    ends = dict(bos_token="<|im_start|>", eos_token="<end_of_utterance>", pad_token="<pad>", unk_token="<unk>")
    return byte_level_tokenizer(specials, named, **ends)


def phi4_tokenizer() -> Any:
    named = {"image_token": "<|image|>", "audio_token": "<|audio|>"}
    turns = ["<|endoftext|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    return byte_level_tokenizer([*turns, *named.values()], named, eos_token="<|end|>", pad_token="<|endoftext|>")
