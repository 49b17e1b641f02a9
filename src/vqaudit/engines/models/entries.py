"""The models that vqaudit knows by name, as data.

Knows configurations and traps. Any other hub ID or folder works without an entry. Numbers of parameters follow from
the configurations (tests build them without weights); licences are as the model cards state them.
"""

from __future__ import annotations

from collections.abc import Mapping

from vqaudit.engines.models.entry import ModelEntry
from vqaudit.engines.models.memory import Shape

__all__ = ["MODELS"]

_M_ROPE = (
    "Positions have three axes and jump after a picture: tokens are not counted on from the picture's end. The engine "
    "takes them from the model for every picture anew, and checks itself against the plain path at every start."
)
_PIXELS = (
    "The processor scales pictures between two limits of pixels; another limit is another measurement. "
    "`--image-max-pixels` is applied before it and recorded."
)
_SLIDING = (
    "Sliding-window layers and a picture that is seen in both directions: masks are made for each kind of layer, and "
    "the picture is never cut apart."
)
_TILES = "Large pictures are cut into tiles, each with its own tokens: prompts become long, and sharing prefixes pays."
_ONE_TOKEN = (
    "Coverage is 0 in all its number cells of paper 1: a blank token before the digit, which a reply budget counted on "
    "bare IDs does not allow for, would do that. The default budget counts IDs as the model emits them."
)
_DEFAULT_SYSTEM = "The chat template adds a system prompt of its own where none is given."

_QWEN_PICTURE = "one per 28 x 28 pixels"
_QWEN3_PICTURE = "one per 32 x 32 pixels"
_GEMMA_PICTURE = "256 (one view; crops of pan-and-scan are off unless the processor turns them on)"


def _gemma(size: str, shape: Shape, *, paper: str = "") -> ModelEntry:
    return ModelEntry(
        name=f"gemma-3-{size}",
        title=f"Gemma 3 {size.upper()}",
        hub=f"google/gemma-3-{size}-it",
        family="gemma3",
        year=2025,
        shape=shape,
        context=131_072,
        picture=_GEMMA_PICTURE,
        licence="Gemma terms of use (gated on the hub)",
        paper=paper,
        traps=(_SLIDING, "The checkpoint is gated: accept its terms on the hub and log in with `hf auth login`."),
    )


def _qwen(version: str, size: str, shape: Shape, *, paper: str = "", licence: str = "Apache-2.0") -> ModelEntry:
    dotted = {"2": "Qwen2-VL", "2.5": "Qwen2.5-VL", "3": "Qwen3-VL"}[version]
    family = {"2": "qwen2_vl", "2.5": "qwen2_5_vl", "3": "qwen3_vl"}[version]
    traps = (_M_ROPE, _PIXELS) if version == "3" else (_M_ROPE, _PIXELS, _DEFAULT_SYSTEM)
    return ModelEntry(
        name=f"{dotted.casefold()}-{size.casefold()}",
        title=f"{dotted} {size}",
        hub=f"Qwen/{dotted}-{size}-Instruct",
        family=family,
        year=2024 if version == "2" else 2025,
        shape=shape,
        context=262_144 if version == "3" else 32_768 if version == "2" else 128_000,
        picture=_QWEN3_PICTURE if version == "3" else _QWEN_PICTURE,
        licence=licence,
        paper=paper,
        traps=traps,
    )


_PAPER_ONE = (
    _gemma("4b", Shape(parameters=4_300_079_472, layers=34, kv_heads=4, head_size=256), paper="paper 1: Gemma-3"),
    ModelEntry(
        name="llava-1.5-7b",
        title="LLaVA-1.5 7B",
        hub="llava-hf/llava-1.5-7b-hf",
        family="llava",
        year=2023,
        shape=Shape(parameters=7_063_427_072, layers=32, kv_heads=32, head_size=128),
        context=4_096,
        picture="576, whatever its size (336 x 336 pixels)",
        licence="Llama 2 community licence",
        paper="paper 1: LLaVA-1.5; paper 2: L7",
        traps=(
            _ONE_TOKEN,
            "Keys and values have as many heads as queries: a token takes nine times the memory of Qwen2-VL's.",
            "4,096 tokens in all, of which a picture takes 576.",
        ),
    ),
    ModelEntry(
        name="llava-onevision-7b",
        title="LLaVA-OneVision 7B",
        hub="llava-hf/llava-onevision-qwen2-7b-ov-hf",
        family="llava_onevision",
        year=2024,
        shape=Shape(parameters=8_030_348_832, layers=28, kv_heads=4, head_size=128),
        context=32_768,
        picture="729 to about 7,300 (one overview and up to 9 crops)",
        licence="Apache-2.0",
        paper="paper 1: LLaVA-OV",
        traps=(
            "Paper 1 names lmms-lab/llava-onevision-qwen2-7b-ov, whose files transformers cannot read; this is its "
            "conversion, with a processor of its own.",
            _TILES,
        ),
    ),
    ModelEntry(
        name="phi-3.5-vision",
        title="Phi-3.5-vision",
        hub="microsoft/Phi-3.5-vision-instruct",
        family="phi3_v",
        year=2024,
        engine="vllm",
        tried="no",
        shape=Shape(parameters=4_146_621_440, layers=32, kv_heads=32, head_size=96),
        context=131_072,
        picture="144 per crop and an overview; up to 16 crops, 4 are advised with several pictures",
        licence="MIT",
        paper="paper 1: Phi-3.5",
        traps=(
            "transformers does not have the family: it needs the checkpoint's own code, which does not fit today's "
            "transformers. vLLM has it: `vllm serve microsoft/Phi-3.5-vision-instruct --trust-remote-code`.",
            _ONE_TOKEN,
        ),
    ),
    ModelEntry(
        name="phi-4-multimodal",
        title="Phi-4-multimodal",
        hub="microsoft/Phi-4-multimodal-instruct",
        family="phi4_multimodal",
        year=2025,
        shape=Shape(parameters=5_574_460_384, layers=32, kv_heads=8, head_size=128),
        context=131_072,
        picture="about 256 per crop of 448 x 448 pixels and an overview; 4,000 to 6,500 for large pictures",
        licence="MIT",
        paper="paper 1: Phi-4",
        traps=(
            "A vision adapter (LoRA) lies beside the weights and must be on for every token, text included: without it "
            "on the options every answer may change. The engine loads it (extra `peft`) and leaves it on.",
            "The repository also holds code of its own, which is never run. Where transformers does not read its main "
            "revision, one with converted files is needed, such as `--revision refs/pr/70` (not checked here).",
            "Its picture processor needs torchvision, of the build that fits torch.",
            "Positions beyond 4,096 change the keys of all tokens (LongRoPE): prompts across the limit are not shared.",
        ),
    ),
    _qwen("2", "7B", Shape(parameters=8_291_375_616, layers=28, kv_heads=4, head_size=128), paper="paper 1: Qwen-2-VL"),
    _qwen(
        "2.5",
        "7B",
        Shape(parameters=8_292_166_656, layers=28, kv_heads=4, head_size=128),
        paper="paper 1: Qwen-2.5-VL; paper 2: Q7",
    ),
)
_PAPER_TWO = (
    _qwen(
        "2.5",
        "3B",
        Shape(parameters=3_754_622_976, layers=36, kv_heads=2, head_size=128),
        paper="paper 2: Q3",
        licence="Qwen research licence (non-commercial)",
    ),
)
_OTHERS = (
    _qwen("3", "2B", Shape(parameters=2_127_532_032, layers=28, kv_heads=8, head_size=128)),
    _qwen("3", "4B", Shape(parameters=4_437_815_808, layers=36, kv_heads=8, head_size=128)),
    _qwen("3", "8B", Shape(parameters=8_767_123_696, layers=36, kv_heads=8, head_size=128)),
    _qwen("2", "2B", Shape(parameters=2_208_985_600, layers=28, kv_heads=2, head_size=128)),
    _gemma("12b", Shape(parameters=12_187_325_040, layers=48, kv_heads=8, head_size=256)),
    _gemma("27b", Shape(parameters=27_432_406_640, layers=62, kv_heads=16, head_size=128)),
    ModelEntry(
        name="llava-1.5-13b",
        title="LLaVA-1.5 13B",
        hub="llava-hf/llava-1.5-13b-hf",
        family="llava",
        year=2023,
        shape=Shape(parameters=13_351_494_656, layers=40, kv_heads=40, head_size=128),
        context=4_096,
        picture="576, whatever its size (336 x 336 pixels)",
        licence="Llama 2 community licence",
        traps=(_ONE_TOKEN,),
    ),
    ModelEntry(
        name="internvl3-2b",
        title="InternVL3 2B",
        hub="OpenGVLab/InternVL3-2B-hf",
        family="internvl",
        year=2025,
        shape=Shape(parameters=2_088_957_440, layers=28, kv_heads=2, head_size=128),
        context=32_768,
        picture="256 per tile of 448 x 448 pixels, up to 12 tiles and an overview",
        licence="as the model card states (Qwen2.5 inside)",
        traps=(_TILES, "The repository without `-hf` brings code of its own; this is its conversion."),
    ),
    ModelEntry(
        name="internvl3-8b",
        title="InternVL3 8B",
        hub="OpenGVLab/InternVL3-8B-hf",
        family="internvl",
        year=2025,
        shape=Shape(parameters=7_944_373_760, layers=28, kv_heads=4, head_size=128),
        context=32_768,
        picture="256 per tile of 448 x 448 pixels, up to 12 tiles and an overview",
        licence="as the model card states (Qwen2.5 inside)",
        traps=(_TILES, "The repository without `-hf` brings code of its own; this is its conversion."),
    ),
    ModelEntry(
        name="internvl3.5-8b",
        title="InternVL3.5 8B",
        hub="OpenGVLab/InternVL3_5-8B-HF",
        family="internvl",
        year=2025,
        shape=Shape(parameters=8_528_318_464, layers=36, kv_heads=8, head_size=128),
        context=40_960,
        picture="256 per tile of 448 x 448 pixels, up to 12 tiles and an overview",
        licence="Apache-2.0",
        traps=(_TILES, "The repository without `-HF` brings code of its own; this is its conversion."),
    ),
    ModelEntry(
        name="smolvlm2-2.2b",
        title="SmolVLM2 2.2B",
        hub="HuggingFaceTB/SmolVLM2-2.2B-Instruct",
        family="smolvlm",
        year=2025,
        shape=Shape(parameters=2_246_784_880, layers=24, kv_heads=32, head_size=64),
        context=8_192,
        picture="81 per tile of 384 x 384 pixels, and an overview",
        licence="Apache-2.0",
        traps=(_TILES, "Its processor needs the package num2words (part of the extra `local`)."),
    ),
    ModelEntry(
        name="smolvlm-256m",
        title="SmolVLM 256M",
        hub="HuggingFaceTB/SmolVLM-256M-Instruct",
        family="idefics3",
        year=2025,
        shape=Shape(parameters=256_484_928, layers=30, kv_heads=3, head_size=64),
        context=8_192,
        picture="64 per tile of 512 x 512 pixels, and an overview",
        licence="Apache-2.0",
        traps=(_TILES, "Small enough for a processor; expect coverage to be the story."),
    ),
    ModelEntry(
        name="smolvlm-500m",
        title="SmolVLM 500M",
        hub="HuggingFaceTB/SmolVLM-500M-Instruct",
        family="idefics3",
        year=2025,
        shape=Shape(parameters=507_482_304, layers=32, kv_heads=5, head_size=64),
        context=8_192,
        picture="64 per tile of 512 x 512 pixels, and an overview",
        licence="Apache-2.0",
        traps=(_TILES,),
    ),
    ModelEntry(
        name="idefics3-8b",
        title="Idefics3 8B",
        hub="HuggingFaceM4/Idefics3-8B-Llama3",
        family="idefics3",
        year=2024,
        shape=Shape(parameters=8_462_086_384, layers=32, kv_heads=8, head_size=128),
        context=10_240,
        picture="169 per tile of 364 x 364 pixels, and an overview",
        licence="Apache-2.0 (Llama 3 inside)",
        traps=(_TILES,),
    ),
    ModelEntry(
        name="minicpm-v-4.5",
        title="MiniCPM-V 4.5",
        hub="openbmb/MiniCPM-V-4_5",
        family="minicpmv",
        year=2025,
        engine="vllm",
        tried="no",
        shape=Shape(parameters=8_700_000_000, layers=36, kv_heads=8, head_size=128),
        context=40_960,
        picture="64 per slice, up to 9 slices and an overview",
        licence="as the model card states",
        traps=(
            "transformers does not have the family without the checkpoint's own code; vLLM has it.",
            "It can think before it answers: turn that off with --chat-kwargs '{\"enable_thinking\": false}', or a "
            "reply's first token is that of a thought.",
            "The number of parameters is rounded.",
        ),
    ),
)
MODELS: Mapping[str, ModelEntry] = {entry.name: entry for entry in (*_PAPER_ONE, *_PAPER_TWO, *_OTHERS)}
"""Short name -> entry: the papers' eight first."""
