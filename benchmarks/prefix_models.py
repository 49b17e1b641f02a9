"""Two small vision-language models with random weights, of stock transformers classes, for benchmarks of prefixes.

Their language models are as small as a CPU allows; what matters is in proportion to real ones: hundreds of picture
tokens, a vision tower that costs more than the language model, and about 45 tokens behind the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from vqaudit.engines.local.processors import empty_video_processor, without_video_processors

CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'image' %}IMAGE{% else %}{{ c['text'] }}{% endif %}{% endfor %}"
    "{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEXT = dict(
    hidden_size=256, intermediate_size=688, num_hidden_layers=6, num_attention_heads=4, max_position_embeddings=16384
)


def tokenizer_of(texts: Sequence[str], named: dict[str, str]) -> Any:
    """A tokenizer whose tokens are mostly words, as those of real models are for English, roles of the chat included.

    The trials' own tokens behind the question are then 48 on average; SmolLM2's tokenizer makes 49 of them.
    """
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        min_frequency=1,
        special_tokens=[*SPECIALS, *named.values()],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    backend.train_from_iterator([*texts, *["user assistant"] * 100, *["assistant"] * 100], trainer)
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        extra_special_tokens=named,
        padding_side="left",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
    )


def qwen2_vl(texts: Sequence[str], *, image_tokens: int) -> tuple[Any, Any]:
    """Native resolution, multimodal rotary positions; a picture of 28 x 28 pixels is one token."""
    named = {
        "image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
        "vision_bos_token": "<|vision_start|>",
        "vision_eos_token": "<|vision_end|>",
    }
    tokenizer = tokenizer_of(texts, named)
    config = hf.Qwen2VLConfig(
        text_config=dict(
            **TEXT,
            num_key_value_heads=2,
            vocab_size=len(tokenizer),
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            rope_parameters={"rope_type": "default", "rope_theta": 1e6, "mrope_section": [8, 12, 12]},
        ),
        vision_config=dict(depth=4, embed_dim=256, num_heads=4, hidden_size=256, patch_size=14, mlp_ratio=4),
        image_token_id=tokenizer.image_token_id,
        video_token_id=tokenizer.video_token_id,
        vision_start_token_id=tokenizer.convert_tokens_to_ids("<|vision_start|>"),
        vision_end_token_id=tokenizer.convert_tokens_to_ids("<|vision_end|>"),
    )
    pixels = {"shortest_edge": 28 * 28, "longest_edge": max(16384, image_tokens + 8) * 28 * 28}
    with without_video_processors():
        processor = hf.Qwen2VLProcessor(
            image_processor=hf.Qwen2VLImageProcessorPil(size=pixels, patch_size=14),
            video_processor=empty_video_processor("Qwen2VLVideoProcessor"),
            tokenizer=tokenizer,
            chat_template=CHAT.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>"),
        )
    return hf.Qwen2VLForConditionalGeneration(config), processor


def llava(texts: Sequence[str], *, image_tokens: int) -> tuple[Any, Any]:
    """A square picture of fixed size; one patch is one token."""
    side = 14 * round(image_tokens**0.5)
    tokenizer = tokenizer_of(texts, {"image_token": "<image>"})
    processor = hf.LlavaProcessor(
        image_processor=hf.CLIPImageProcessorPil(
            size={"shortest_edge": side}, crop_size={"height": side, "width": side}
        ),
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT.replace("IMAGE", "<image>\n"),
    )
    vision = hf.CLIPVisionConfig(
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=4,
        num_attention_heads=4,
        image_size=side,
        patch_size=14,
        projection_dim=256,
    )
    config = hf.LlavaConfig(
        vision_config=vision,
        text_config=hf.LlamaConfig(
            **TEXT, num_key_value_heads=4, vocab_size=len(tokenizer), eos_token_id=tokenizer.eos_token_id
        ),
        image_token_index=tokenizer.image_token_id,
        image_seq_length=round(image_tokens**0.5) ** 2,
    )
    return hf.LlavaForConditionalGeneration(config), processor


MODELS = {"qwen2-vl-style": (qwen2_vl, 432), "llava-style": (llava, 576)}


def save(name: str, folder: Path, texts: Sequence[str], *, image_tokens: int | None = None) -> int:
    """Builds a model with seeded weights, saves it, and returns how many parameters it has."""
    make, usual = MODELS[name]
    torch.manual_seed(0)
    model, processor = make(texts, image_tokens=image_tokens or usual)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(3.0)  # else all prompts would be answered almost alike
    model.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    return sum(parameter.numel() for parameter in model.parameters())
