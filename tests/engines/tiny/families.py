"""Tiny models with random weights, one per supported family, built in code: no download, under a second each.

Each is a stock transformers class with a tokenizer trained on a few sentences and the family's own processor.
Weights are scaled up, so that another prompt or another picture really changes the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers as hf

from .tokenizers import (
    CHATML,
    CHATML_SPECIALS,
    GEMMA,
    IDEFICS,
    PHI4,
    VICUNA,
    byte_level_tokenizer,
    chatml_tokenizer,
    idefics_tokenizer,
    phi4_tokenizer,
    qwen_tokenizer,
    sentencepiece_vocabulary,
)

_TEXT = dict(
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=1024,
    initializer_range=0.2,
)
_VISION = dict(
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=2,
    image_size=56,
    patch_size=14,
    initializer_range=0.2,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tiny:
    """A model with the object that a checkpoint keeps beside it: a processor, or the bare tokenizer of a text model."""

    model: Any
    processor: Any


def _text(tokenizer: Any, **changes: Any) -> dict[str, Any]:
    """Arguments of a text configuration over this tokenizer's vocabulary."""
    ends = dict(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return {**_TEXT, **ends, **changes}


def _image_only(processor_class: Any, video_type: str, **parts: Any) -> Any:
    """Builds a processor whose video half stands empty, as it loads where torchvision is missing."""
    from vqaudit.engines.local.processors import empty_video_processor, without_video_processors

    with without_video_processors():
        return processor_class(video_processor=empty_video_processor(video_type), **parts)


def llava() -> Tiny:
    """LLaVA 1.5: Vicuna template, SentencePiece tokenizer, no control token in the assistant's header."""
    specials = ["<unk>", "<s>", "</s>", "<pad>", "<image>"]
    vocabulary, merges = sentencepiece_vocabulary(specials)
    tokenizer = hf.LlamaTokenizer(
        vocab=vocabulary,
        merges=merges,
        pad_token="<pad>",
        extra_special_tokens={"image_token": "<image>"},
        add_bos_token=True,
    )
    processor = hf.LlavaProcessor(
        image_processor=hf.CLIPImageProcessorPil(size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56}),
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=VICUNA,
    )
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**_VISION, projection_dim=32),
        text_config=hf.LlamaConfig(**_text(tokenizer, num_key_value_heads=4)),
        image_token_index=tokenizer.image_token_id,
        image_seq_length=16,
    )
    return Tiny(model=hf.LlavaForConditionalGeneration(config), processor=processor)


def llava_onevision() -> Tiny:
    """LLaVA-OneVision: any-resolution crops, padded over the images of a batch."""
    tokenizer = chatml_tokenizer(["<image>", "<video>"], {"image_token": "<image>", "video_token": "<video>"})
    grid = [[height, width] for height in (56, 112, 168) for width in (56, 112, 168)]
    processor = _image_only(
        hf.LlavaOnevisionProcessor,
        "LlavaOnevisionVideoProcessor",
        image_processor=hf.LlavaOnevisionImageProcessorPil(size={"height": 56, "width": 56}, image_grid_pinpoints=grid),
        tokenizer=tokenizer,
        num_image_tokens=16,
        vision_feature_select_strategy="full",
        chat_template=CHATML.replace("IMAGE", "<image>\n"),
        vision_aspect_ratio="anyres_max_9",
    )
    config = hf.LlavaOnevisionConfig(
        vision_config=hf.SiglipVisionConfig(**_VISION, vision_use_head=False),
        text_config=hf.Qwen2Config(**_text(tokenizer)),
        image_grid_pinpoints=grid,
        image_token_index=tokenizer.image_token_id,
        video_token_index=tokenizer.video_token_id,
    )
    return Tiny(model=hf.LlavaOnevisionForConditionalGeneration(config), processor=processor)


def gemma3() -> Tiny:
    """Gemma 3: sliding and full attention, bidirectional image tokens, no system turn, texts are trimmed."""
    specials = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>"]
    images = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
    }
    turns = {"sot_token": "<start_of_turn>", "eot_token": "<end_of_turn>"}
    vocabulary, merges = sentencepiece_vocabulary([*specials, *images.values()])
    tokenizer = hf.GemmaTokenizer(vocab=vocabulary, merges=merges, extra_special_tokens=images | turns)
    processor = hf.Gemma3Processor(
        image_processor=hf.Gemma3ImageProcessorPil(size={"height": 56, "width": 56}),
        tokenizer=tokenizer,
        image_seq_length=4,
        chat_template=GEMMA,
    )
    text = hf.Gemma3TextConfig(
        **_text(tokenizer, num_hidden_layers=3),
        head_dim=16,
        query_pre_attn_scalar=16,
        sliding_window=24,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
    )
    config = hf.Gemma3Config(
        text_config=text,
        vision_config=hf.SiglipVisionConfig(**_VISION, vision_use_head=False),
        mm_tokens_per_image=4,
        boi_token_index=tokenizer.boi_token_id,
        eoi_token_index=tokenizer.eoi_token_id,
        image_token_index=tokenizer.image_token_id,
    )
    model = hf.Gemma3ForConditionalGeneration(config)
    # It begins as zeros, and the model would not see.
    torch.nn.init.normal_(model.model.multi_modal_projector.mm_input_projection_weight, std=0.2)
    return Tiny(model=model, processor=processor)


def _qwen_processor(processor_class: Any, tokenizer: Any, *, patch: int) -> Any:
    video = "Qwen3VLVideoProcessor" if processor_class is hf.Qwen3VLProcessor else "Qwen2VLVideoProcessor"
    return _image_only(
        processor_class,
        video,
        image_processor=hf.Qwen2VLImageProcessorPil(
            size={"shortest_edge": (4 * patch) ** 2, "longest_edge": (8 * patch) ** 2}, patch_size=patch
        ),
        tokenizer=tokenizer,
        chat_template=CHATML.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>"),
    )


def _qwen_ids(tokenizer: Any) -> dict[str, int]:
    return dict(
        image_token_id=tokenizer.image_token_id,
        video_token_id=tokenizer.video_token_id,
        vision_start_token_id=tokenizer.convert_tokens_to_ids("<|vision_start|>"),
        vision_end_token_id=tokenizer.convert_tokens_to_ids("<|vision_end|>"),
    )


def _mrope(**changes: Any) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 3, 3], **changes}


def qwen2_vl() -> Tiny:
    """Qwen2-VL: native resolution, multimodal rotary positions."""
    tokenizer = qwen_tokenizer()
    config = hf.Qwen2VLConfig(
        text_config=_text(tokenizer, rope_parameters=_mrope()),
        vision_config=dict(
            depth=2, embed_dim=32, num_heads=2, hidden_size=64, patch_size=14, mlp_ratio=2, initializer_range=0.2
        ),
        **_qwen_ids(tokenizer),
    )
    processor = _qwen_processor(hf.Qwen2VLProcessor, tokenizer, patch=14)
    return Tiny(model=hf.Qwen2VLForConditionalGeneration(config), processor=processor)


_QWEN_VISION = dict(
    depth=2, hidden_size=32, num_heads=2, intermediate_size=64, out_hidden_size=64, initializer_range=0.2
)


def qwen2_5_vl() -> Tiny:
    """Qwen2.5-VL: as Qwen2-VL, with windowed attention in the vision tower."""
    tokenizer = qwen_tokenizer()
    config = hf.Qwen2_5_VLConfig(
        text_config=_text(tokenizer, rope_parameters=_mrope()),
        vision_config=dict(**_QWEN_VISION, patch_size=14, window_size=56, fullatt_block_indexes=[1]),
        **_qwen_ids(tokenizer),
    )
    processor = _qwen_processor(hf.Qwen2_5_VLProcessor, tokenizer, patch=14)
    return Tiny(model=hf.Qwen2_5_VLForConditionalGeneration(config), processor=processor)


def qwen3_vl() -> Tiny:
    """Qwen3-VL: interleaved rotary positions, picture features added in deep layers too."""
    tokenizer = qwen_tokenizer()
    config = hf.Qwen3VLConfig(
        text_config=_text(tokenizer, head_dim=16, rope_parameters=_mrope(mrope_interleaved=True)),
        vision_config=dict(**_QWEN_VISION, patch_size=16, num_position_embeddings=64, deepstack_visual_indexes=[0]),
        **_qwen_ids(tokenizer),
    )
    processor = _qwen_processor(hf.Qwen3VLProcessor, tokenizer, patch=16)
    return Tiny(model=hf.Qwen3VLForConditionalGeneration(config), processor=processor)


def internvl() -> Tiny:
    """InternVL: one picture becomes several tiles."""
    named = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    tokenizer = chatml_tokenizer(list(named.values()), named)
    processor = _image_only(
        hf.InternVLProcessor,
        "InternVLVideoProcessor",
        image_processor=hf.GotOcr2ImageProcessorPil(
            size={"height": 56, "width": 56}, crop_to_patches=True, min_patches=1, max_patches=4
        ),
        tokenizer=tokenizer,
        image_seq_length=4,
        chat_template=CHATML.replace("IMAGE", "<IMG_CONTEXT>\n"),
    )
    vision = {**_VISION, "image_size": [56, 56], "patch_size": [14, 14]}
    config = hf.InternVLConfig(
        vision_config=vision,
        text_config=hf.Qwen2Config(**_text(tokenizer)),
        image_token_id=tokenizer.context_image_token_id,
        image_seq_length=4,
    )
    return Tiny(model=hf.InternVLForConditionalGeneration(config), processor=processor)


def _idefics(config_class: Any, model_class: Any, tokenizer: Any, processor: Any) -> Tiny:
    config = config_class(
        vision_config=_VISION,
        scale_factor=2,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        text_config=hf.LlamaConfig(**_text(tokenizer)),
    )
    return Tiny(model=model_class(config), processor=processor)


def idefics3() -> Tiny:
    """Idefics3: a picture is split into rows and columns, padded over the images of a batch."""
    tokenizer = idefics_tokenizer()
    processor = hf.Idefics3Processor(
        image_processor=hf.Idefics3ImageProcessorPil(size={"longest_edge": 112}, max_image_size={"longest_edge": 56}),
        tokenizer=tokenizer,
        image_seq_len=4,
        chat_template=IDEFICS,
    )
    return _idefics(hf.Idefics3Config, hf.Idefics3ForConditionalGeneration, tokenizer, processor)


def smolvlm() -> Tiny:
    """SmolVLM: as Idefics3; its processor needs the package num2words."""
    tokenizer = idefics_tokenizer()
    processor = _image_only(
        hf.SmolVLMProcessor,
        "SmolVLMVideoProcessor",
        image_processor=hf.SmolVLMImageProcessorPil(size={"longest_edge": 112}, max_image_size={"longest_edge": 56}),
        tokenizer=tokenizer,
        image_seq_len=4,
        chat_template=IDEFICS,
    )
    return _idefics(hf.SmolVLMConfig, hf.SmolVLMForConditionalGeneration, tokenizer, processor)


_PHI4_AUDIO = dict(
    hidden_size=16,
    intermediate_size=16,
    num_blocks=1,
    num_attention_heads=2,
    ext_pw_out_channel=16,
    depthwise_separable_out_channel=16,
    nemo_conv_channels=16,
    bias_max_distance=8,
)


def phi4(*, original_max_position_embeddings: int = 4096) -> Tiny:
    """Phi-4-multimodal: one picture becomes several crops of 256 tokens, rotary positions change with the length.

    The number of tokens is fixed for crops of 32 patches a side; small patches keep the crops small.
    """
    from vqaudit.engines.local.crops import Phi4MultimodalImageProcessorPil
    from vqaudit.engines.local.processors import without_video_processors

    tokenizer = phi4_tokenizer()
    with without_video_processors():
        processor = hf.Phi4MultimodalProcessor(
            image_processor=Phi4MultimodalImageProcessorPil(
                size={"height": 64, "width": 64}, patch_size=2, dynamic_hd=2
            ),
            audio_processor=hf.Phi4MultimodalFeatureExtractor(),
            tokenizer=tokenizer,
            chat_template=PHI4,
        )
    vision = {**_VISION, "image_size": 64, "crop_size": 64, "patch_size": 2}
    vision.pop("initializer_range")
    short, long = [1.0] * 6, [1.5, 2.0, 3.0, 4.0, 5.0, 6.0]
    config = hf.Phi4MultimodalConfig(
        **_text(tokenizer, max_position_embeddings=8192),
        original_max_position_embeddings=original_max_position_embeddings,
        partial_rotary_factor=0.75,
        rope_parameters={"rope_type": "longrope", "rope_theta": 1e4, "short_factor": short, "long_factor": long},
        vision_config=hf.Phi4MultimodalVisionConfig(**vision, image_token_id=tokenizer.image_token_id),
        audio_config=hf.Phi4MultimodalAudioConfig(**_PHI4_AUDIO, audio_token_id=tokenizer.audio_token_id),
    )
    model = hf.Phi4MultimodalForCausalLM(config)
    embedding = model.model.embed_tokens_extend.image_embed
    for extra in (embedding.global_img_feature_extensor, embedding.sub_img_feature_extensor):
        torch.nn.init.normal_(extra)  # it begins as zeros
    for weights in embedding.img_processor.encoder.parameters():
        weights.data *= 0.2  # it begins so large that rounding changes what it sees
    return Tiny(model=model, processor=processor)


def qwen2_text() -> Tiny:
    """A language model without pictures."""
    tokenizer = byte_level_tokenizer(CHATML_SPECIALS, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.chat_template = CHATML
    return Tiny(model=hf.Qwen2ForCausalLM(hf.Qwen2Config(**_text(tokenizer))), processor=tokenizer)


def base_text() -> Tiny:
    """A base language model: no chat template, absolute positions, a token that begins every text."""
    tokenizer = byte_level_tokenizer(["<|endoftext|>"], eos_token="<|endoftext|>", bos_token="<|endoftext|>")
    ends = dict(eos_token_id=tokenizer.eos_token_id, bos_token_id=tokenizer.bos_token_id)
    config = hf.GPT2Config(
        vocab_size=len(tokenizer), n_positions=512, n_embd=64, n_layer=2, n_head=4, initializer_range=0.2, **ends
    )
    return Tiny(model=hf.GPT2LMHeadModel(config), processor=tokenizer)


VISION_FAMILIES: dict[str, Callable[[], Tiny]] = {
    build.__name__: build
    for build in (
        gemma3,
        idefics3,
        internvl,
        llava,
        llava_onevision,
        phi4,
        qwen2_5_vl,
        qwen2_vl,
        qwen3_vl,
        smolvlm,
    )
}
TEXT_FAMILIES: dict[str, Callable[[], Tiny]] = {build.__name__: build for build in (base_text, qwen2_text)}
FAMILIES = VISION_FAMILIES | TEXT_FAMILIES


def save(name: str, folder: Path, *, seed: int = 0) -> Tiny:
    """Builds a family with seeded weights and saves it as a checkpoint."""
    torch.manual_seed(seed)
    tiny = FAMILIES[name]()
    tiny.model.eval().save_pretrained(folder)
    tiny.processor.save_pretrained(folder)
    return tiny
