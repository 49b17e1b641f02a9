"""Models by name: names, memory, and numbers that the configurations themselves must give."""

import pytest

from vqaudit.engines.models import MODELS, Shape, find_model, known_model, local_model, memory_needed, resolve_model
from vqaudit.engines.models.memory import BYTES
from vqaudit.errors import EngineError

GIB = 2**30


def test_the_papers_eight_come_first():
    papers = [entry.paper for entry in MODELS.values()][:8]
    assert all(papers)
    names = " ".join(papers)
    for name in ("Gemma-3", "LLaVA-1.5", "LLaVA-OV", "Phi-3.5", "Phi-4", "Qwen-2-VL", "Qwen-2.5-VL", "Q3", "Q7", "L7"):
        assert name in names
    assert not any(entry.paper for entry in list(MODELS.values())[8:])


def test_names_and_hub_ids_are_unique():
    assert len({entry.hub for entry in MODELS.values()}) == len(MODELS)
    assert all(known_model(entry.hub) is known_model(entry.name) is entry for entry in MODELS.values())


def test_short_names(tmp_path, monkeypatch):
    assert resolve_model("Qwen2.5-VL 7B") == "Qwen/Qwen2.5-VL-7B-Instruct"
    assert resolve_model("someone/else") == "someone/else"
    assert resolve_model("gpt2") == "gpt2"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gemma-3-4b").mkdir()
    assert resolve_model("gemma-3-4b") == "gemma-3-4b"
    with pytest.raises(EngineError, match=r"no model is called 'llava-1.5-8b'; did you mean 'llava-1.5-7b'"):
        resolve_model("llava-1.5-8b")
    with pytest.raises(EngineError, match="any hub ID or folder works"):
        find_model("entirely-unknown")


def test_what_transformers_lacks_is_refused_with_the_way():
    for name in ("phi-3.5-vision", "microsoft/Phi-3.5-vision-instruct"):
        with pytest.raises(EngineError, match=r"--model vllm:microsoft/Phi-3.5-vision-instruct, or serve it"):
            local_model(name)


def test_loading_by_a_short_name_asks_for_the_hub_id(monkeypatch):
    pytest.importorskip("torch")
    import vqaudit.engines.local as local
    from vqaudit.auditing import load_model

    asked = []
    monkeypatch.setattr(local, "load_local", lambda model, **_: asked.append(model))
    load_model("llava-1.5-7b")
    assert asked == ["llava-hf/llava-1.5-7b-hf"]
    with pytest.raises(EngineError, match="does not have the family"):
        load_model("phi-3.5-vision")


@pytest.mark.parametrize(
    ("name", "prefix", "rows", "copied"),
    [
        ("llava-1.5-7b", 650, 192, 66.6),
        ("llava-1.5-7b", 650, 48, 16.6),
        ("qwen2-vl-7b", 1300, 192, 13.9),
        ("qwen2-vl-7b", 1300, 48, 3.5),
        ("llava-onevision-7b", 3700, 192, 38.6),
        ("phi-4-multimodal", 4000, 48, 24),
    ],
)
def test_memory_agrees_with_what_a_prototype_was_given(name, prefix, rows, copied):
    assert memory_needed(MODELS[name].shape, prefix=prefix, rows=rows).expanded == pytest.approx(copied, rel=0.02)


def test_memory_grows_as_it_must():
    shape = Shape(parameters=10**9, layers=4, kv_heads=2, head_size=8)
    one = memory_needed(shape, prefix=100, rows=1)
    assert one.shared == one.expanded
    many = memory_needed(shape, prefix=100, rows=10)
    assert many.shared < many.expanded == pytest.approx(10 * one.expanded)
    assert memory_needed(shape, prefix=100, dtype="float32").weights == pytest.approx(4e9 / GIB)


def test_bytes_of_keys_and_values_are_those_that_a_cache_holds():
    torch = pytest.importorskip("torch")
    hf = pytest.importorskip("transformers")
    config = hf.LlamaConfig(
        hidden_size=48, intermediate_size=32, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2,
        vocab_size=50,
    )  # fmt: skip
    model = hf.LlamaForCausalLM(config).eval()
    cache = hf.DynamicCache()
    with torch.no_grad():
        model(torch.arange(7)[None], past_key_values=cache, use_cache=True)
    held = sum(tensor.nbytes for layer in cache.layers for tensor in (layer.keys, layer.values))
    shape = Shape(parameters=1, layers=3, kv_heads=2, head_size=8)
    assert held == 7 * shape.kv_bytes_per_token("float32")
    assert set(BYTES) == {"float32", "bfloat16", "float16"}


def _text(hidden, inner, layers, heads, kv, vocabulary, **more):
    return {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        "vocab_size": vocabulary,
        **more,
    }


def _qwen2(hf, hidden, *, version, tied=False):
    text = {
        3584: _text(3584, 18944, 28, 28, 4, 152064),
        2048: _text(2048, 11008, 36, 16, 2, 151936),
        1536: _text(1536, 8960, 28, 12, 2, 151936),
    }[hidden]
    rope = {"rope_type": "default", "type": "mrope", "mrope_section": [16, 24, 24]}
    text |= {"rope_scaling": rope, "tie_word_embeddings": tied}
    if version == "2":
        vision = {"depth": 32, "embed_dim": 1280, "hidden_size": hidden, "num_heads": 16, "patch_size": 14}
        config = hf.Qwen2VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=tied)
        return hf.Qwen2VLForConditionalGeneration, config
    vision = {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "out_hidden_size": hidden}
    config = hf.Qwen2_5_VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=tied)
    return hf.Qwen2_5_VLForConditionalGeneration, config


def _qwen3(hf, hidden, inner, layers, heads, *, vision, tied):
    rope = {"rope_type": "default", "mrope_interleaved": True, "mrope_section": [24, 20, 20]}
    text = _text(hidden, inner, layers, heads, 8, 151936, head_dim=128, rope_scaling=rope, tie_word_embeddings=tied)
    config = hf.Qwen3VLConfig(
        text_config=text,
        vision_config={**vision, "out_hidden_size": hidden, "patch_size": 16},
        tie_word_embeddings=tied,
    )
    return hf.Qwen3VLForConditionalGeneration, config


def _gemma3(hf, hidden, inner, layers, heads, kv, head):
    vision = {
        "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16,
        "image_size": 896, "patch_size": 14, "vision_use_head": False,
    }  # fmt: skip
    text = _text(hidden, inner, layers, heads, kv, 262208, head_dim=head, tie_word_embeddings=True)
    config = hf.Gemma3Config(text_config=text, vision_config=vision, tie_word_embeddings=True)
    return hf.Gemma3ForConditionalGeneration, config


def _llava(hf, text):
    return hf.LlavaForConditionalGeneration, hf.LlavaConfig(text_config=hf.LlamaConfig(**text))


def _internvl(hf, text):
    return hf.InternVLForConditionalGeneration, hf.InternVLConfig(text_config=text, tie_word_embeddings=False)


def _idefics3(hf, text, vision, scale):
    config = hf.Idefics3Config(text_config=hf.LlamaConfig(**text), scale_factor=scale, vision_config=vision)
    return hf.Idefics3ForConditionalGeneration, config


def _siglip(size, layers):
    return {
        "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": layers, "num_attention_heads": 16,
        "image_size": size, "patch_size": 14,
    }  # fmt: skip


def _smolvlm2(hf):
    text = hf.LlamaConfig(**_text(2048, 8192, 24, 32, 32, 49280))
    config = hf.SmolVLMConfig(text_config=text, scale_factor=3, vision_config=_siglip(384, 27))
    return hf.SmolVLMForConditionalGeneration, config


def _onevision(hf):
    vision = hf.SiglipVisionConfig(**_siglip(384, 26), vision_use_head=False)
    text = hf.Qwen2Config(**_text(3584, 18944, 28, 28, 4, 152000))
    return hf.LlavaOnevisionForConditionalGeneration, hf.LlavaOnevisionConfig(vision_config=vision, text_config=text)


_BASE = {
    "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
    "image_size": 512, "patch_size": 16,
}  # fmt: skip
_SMALL = {"depth": 24, "hidden_size": 1024, "intermediate_size": 4096, "deepstack_visual_indexes": [5, 11, 17]}
_LARGE = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "deepstack_visual_indexes": [8, 16, 24]}
BUILDS = {
    "llava-1.5-7b": lambda hf: _llava(hf, _text(4096, 11008, 32, 32, 32, 32064)),
    "llava-1.5-13b": lambda hf: _llava(hf, _text(5120, 13824, 40, 40, 40, 32064)),
    "qwen2-vl-7b": lambda hf: _qwen2(hf, 3584, version="2"),
    "qwen2-vl-2b": lambda hf: _qwen2(hf, 1536, version="2", tied=True),
    "qwen2.5-vl-7b": lambda hf: _qwen2(hf, 3584, version="2.5"),
    "qwen2.5-vl-3b": lambda hf: _qwen2(hf, 2048, version="2.5", tied=True),
    "qwen3-vl-2b": lambda hf: _qwen3(hf, 2048, 6144, 28, 16, vision=_SMALL, tied=True),
    "qwen3-vl-4b": lambda hf: _qwen3(hf, 2560, 9728, 36, 32, vision=_SMALL, tied=True),
    "qwen3-vl-8b": lambda hf: _qwen3(hf, 4096, 12288, 36, 32, vision=_LARGE, tied=False),
    "gemma-3-4b": lambda hf: _gemma3(hf, 2560, 10240, 34, 8, 4, 256),
    "gemma-3-12b": lambda hf: _gemma3(hf, 3840, 15360, 48, 16, 8, 256),
    "gemma-3-27b": lambda hf: _gemma3(hf, 5376, 21504, 62, 32, 16, 128),
    "internvl3-2b": lambda hf: _internvl(hf, hf.Qwen2Config(**_text(1536, 8960, 28, 12, 2, 151674))),
    "internvl3-8b": lambda hf: _internvl(hf, hf.Qwen2Config(**_text(3584, 18944, 28, 28, 4, 151674))),
    "internvl3.5-8b": lambda hf: _internvl(hf, hf.Qwen3Config(**_text(4096, 12288, 36, 32, 8, 151936, head_dim=128))),
    "llava-onevision-7b": _onevision,
    "smolvlm2-2.2b": _smolvlm2,
    "smolvlm-256m": lambda hf: _idefics3(hf, _text(576, 1536, 30, 9, 3, 49280), _BASE, 4),
    "smolvlm-500m": lambda hf: _idefics3(hf, _text(960, 2560, 32, 15, 5, 49280), _BASE, 4),
    "idefics3-8b": lambda hf: _idefics3(hf, _text(4096, 14336, 32, 32, 8, 128259), _siglip(364, 27), 2),
    "phi-4-multimodal": lambda hf: (hf.Phi4MultimodalForCausalLM, hf.Phi4MultimodalConfig(num_attention_heads=24)),
}


@pytest.mark.parametrize("name", BUILDS)
def test_parameters_and_shape_follow_from_the_configuration(name):
    """The model is built without memory for its weights; Phi-4's adapters lie beside it and are allowed for."""
    torch = pytest.importorskip("torch")
    model_class, config = BUILDS[name](pytest.importorskip("transformers"))
    with torch.device("meta"):
        model = model_class(config)
    model.tie_weights()
    built = sum(parameter.numel() for parameter in model.parameters())
    shape, text = MODELS[name].shape, config.get_text_config()
    assert shape.parameters == pytest.approx(built, rel=0.06 if name == "phi-4-multimodal" else 1e-3)
    head = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    assert (shape.layers, shape.kv_heads, shape.head_size) == (text.num_hidden_layers, text.num_key_value_heads, head)
