"""The parts before training: tokenizer, processor, stock LLaVA configuration.

Knows shapes and sizes. Knows no training data beyond the text that the tokenizer was fitted on, once;
`tokenizer.json` is frozen, because fitting it again would renumber the tokens under trained weights.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
    Qwen2Config,
    SiglipVisionConfig,
)
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

import curriculum
import scenes
from wording import CUE, FORMATS, ID_SETS, instruction, prompt

PATCH = 24
"""A patch is a cell of the scene: four image tokens."""
TOKENIZER = Path(__file__).with_name("tokenizer.json")
SPECIAL = ["<pad>", "<|user|>", "<|assistant|>", "<|system|>", "<|end|>", "<image>"]
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'image' %}{{ '<image>\n' }}"
    "{% elif c['type'] == 'text' %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}"
    "{{ '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def fit_tokenizer(seed: int = 0) -> Tokenizer:
    """Fits byte-level BPE on prompts in all 48 formats, on replies and on rationales with every opening."""
    rng = random.Random(seed)
    corpus = [" ".join(ids) for ids in ID_SETS.values()] * 200 + ["\n".join(ids) for ids in ID_SETS.values()] * 200
    stage = curriculum.STAGES[0]
    for _ in range(4000):
        scene = scenes.sample_scene(rng, "train")
        question = scenes.pick_question(scene, rng)
        assert question is not None
        choice, form = scenes.offer(question, scene, rng, rng.randint(2, 5)), rng.choice(FORMATS)
        ending = instruction(form, len(choice.options))
        corpus += [prompt(question.text, choice.options, form, ending), CUE, scenes.caption(scene)]
        for opener in curriculum.OPENERS["natural"]:
            corpus.append(curriculum.rationale(scene, choice, form.ids(5)[choice.answer_index], opener))
        corpus += [
            turn.user for name in ("pick", "caption", "lookup") for turn in curriculum.TASKS[name](stage, rng).turns
        ]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=1024, special_tokens=SPECIAL, show_progress=False, initial_alphabet=alphabet, min_frequency=20
    )
    tokenizer.train_from_iterator(corpus, trainer)
    return tokenizer


def load_tokenizer() -> PreTrainedTokenizerFast:
    """Returns the frozen tokenizer with its chat template."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_file(str(TOKENIZER)),
        pad_token="<pad>",
        eos_token="<|end|>",
        padding_side="left",
        extra_special_tokens={"image_token": "<image>"},
        model_max_length=2048,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def make_processor(tokenizer: PreTrainedTokenizerFast) -> LlavaProcessor:
    """Returns tokenizer and image processor as one; it needs Pillow, not torchvision."""
    images = SiglipImageProcessorPil(
        size={"height": scenes.SIZE, "width": scenes.SIZE},
        resample=2,
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
        do_convert_rgb=True,
    )
    return LlavaProcessor(
        image_processor=images,
        tokenizer=tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="full",
        chat_template=CHAT_TEMPLATE,
        num_additional_image_tokens=0,
    )


def make_config(tokenizer: PreTrainedTokenizerFast) -> LlavaConfig:
    """Returns the stock configuration: a small SigLIP tower and a small Qwen2 decoder."""
    width = 128
    vision = SiglipVisionConfig(
        hidden_size=96,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=3,
        image_size=scenes.SIZE,
        patch_size=PATCH,
        vision_use_head=False,
    )
    text = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=256,
        num_hidden_layers=5,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=2048,
        initializer_range=width**-0.5,
        tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 100.0},
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        image_seq_length=(scenes.SIZE // PATCH) ** 2,
        tie_word_embeddings=True,
        projector_hidden_act="gelu",
    )


def make_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> LlavaForConditionalGeneration:
    """Returns the untrained model in float32."""
    torch.manual_seed(seed)
    model = LlavaForConditionalGeneration._from_config(make_config(tokenizer), dtype=torch.float32)
    settings = model.generation_config
    settings.pad_token_id, settings.eos_token_id = tokenizer.pad_token_id, tokenizer.eos_token_id
    return model


def main() -> None:
    """Prints the sizes; `--fit` fits and overwrites the tokenizer, after which all weights must be trained again."""
    parser = argparse.ArgumentParser(description="Show or rebuild the parts before training.")
    parser.add_argument("--fit", action="store_true", help="fit the tokenizer again and overwrite tokenizer.json")
    if parser.parse_args().fit:
        fit_tokenizer().save(str(TOKENIZER))
    tokenizer = load_tokenizer()
    model = make_model(tokenizer, seed=0)
    print(f"{len(tokenizer)} tokens, {sum(p.numel() for p in model.parameters()):,} parameters")
    for text in ("A", " A", "IV", " IV", " red", "The", " roman"):
        print(f"{text!r}: {tokenizer.convert_ids_to_tokens(tokenizer.encode(text, add_special_tokens=False))}")


if __name__ == "__main__":
    main()
