"""What Phi-4-multimodal alone has: crops, an adapter for pictures, and rotary positions that change with the length."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image as PixelImages
from safetensors.torch import load_file, save_file
from transformers.utils.import_utils import is_torchvision_available

from vqaudit.engines.base import Generation, IDScores, Image, ImagePart, OptionLikelihood, TextPart
from vqaudit.engines.local import LocalSpec, load_local
from vqaudit.engines.local.branches import Branch, Network
from vqaudit.engines.local.crops import Phi4MultimodalImageProcessorPil
from vqaudit.engines.local.paths import choose_paths
from vqaudit.errors import EngineError, EngineUnavailable

LIMIT = 300
"""Tokens up to which the rotary embedding of `long_engine` is the short one."""
RANK, SCALE = 4, 2.0
LAYERS = ("self_attn.qkv_proj", "self_attn.o_proj", "mlp.gate_up_proj", "mlp.down_proj")


def noise(width, height):
    pixels = np.random.default_rng(width + height).integers(0, 255, (height, width, 3), dtype=np.uint8)
    return PixelImages.fromarray(pixels)


def logprobs(outcome):
    assert outcome.error is None, outcome.error
    return [*(s.logprob for s in outcome.id_scores), *(s.logprob for s in outcome.option_scores)]


def largest_gap(one, other):
    return max(abs(a - b) for a, b in zip(logprobs(one), logprobs(other), strict=True))


# Crops


@pytest.mark.skipif(not is_torchvision_available(), reason="needs torchvision")
@pytest.mark.parametrize("size", [(448, 448), (60, 60), (1000, 700), (700, 1000), (3000, 450), (5000, 5000), (449, 20)])
def test_crops_are_those_of_transformers(size):
    theirs, ours = hf.Phi4MultimodalImageProcessor(), Phi4MultimodalImageProcessorPil()
    pictures = [noise(*size), noise(300, 200)]
    expected, made = (processor(pictures, return_tensors="pt") for processor in (theirs, ours))
    assert set(expected) == set(made)
    for name, tensor in expected.items():
        assert torch.equal(tensor, torch.as_tensor(made[name])), name


@pytest.mark.parametrize(
    ("size", "shape", "tokens"),
    [((448, 448), (2, 448, 448), 545), ((448, 224), (2, 448, 448), 409), ((900, 500), (7, 896, 1344), 1596)],
)
def test_crops_are_as_many_as_the_picture_fills(size, shape, tokens):
    made = Phi4MultimodalImageProcessorPil()(noise(*size), return_tensors="pt")
    assert made["image_pixel_values"].shape[1] == shape[0]
    assert made["image_sizes"].tolist() == [[shape[1], shape[2]]]
    assert int(made["num_img_tokens"][0]) == tokens


def test_a_picture_too_thin_for_crops_is_bad_input(engine_of, ask):
    thin = Image(digest="thin", pixels=noise(2000, 4))
    outcome = engine_of("phi4").answer([replace(ask(IDScores()), images=(thin,))])[0]
    assert outcome.bad_input
    assert "refuses the picture" in outcome.error


def test_a_mask_of_half_precision_counts_every_row(checkpoint, ask):
    engine = load_local(checkpoint("phi4"), spec=LocalSpec(dtype="bfloat16"))
    picture = Image(digest="tall", pixels=noise(40, 127))
    request = replace(ask(IDScores()), images=(picture,))
    asked = engine._asked(request, engine._tools.encoder.encode([request])[0])
    assert asked.pictures.tensors["image_attention_mask"].dtype == torch.bool
    assert engine.answer([request])[0].error is None


def test_a_picture_that_fills_its_crops_is_seen_alike_beside_one_that_does_not(checkpoint, ask, pictures):
    engine = load_local(checkpoint("phi4"), spec=LocalSpec(prefix_sharing="off"))
    assert engine.describe()["mended"] == ["vision attention in both directions"]
    full = Image(digest="full", pixels=noise(64, 64))
    requests = [replace(ask(IDScores()), images=(picture,)) for picture in (full, pictures[0])]

    def gap():
        together, alone = engine.answer(requests)[0], engine.answer(requests[:1])[0]
        return largest_gap(together, alone)

    assert gap() < 1e-4
    towers = [m for m in engine._loaded.model.modules() if type(m).__name__ == "Phi4MultimodalVisionAttention"]
    for tower in towers:
        tower.is_causal = True
    assert gap() > 1e-2  # if this fails, transformers has mended it, and `repairs` need not


# Rotary positions that change with the length


@pytest.fixture(scope="module")
def long_folder(families, tmp_path_factory):
    folder = tmp_path_factory.mktemp("phi4-long")
    torch.manual_seed(0)
    tiny = families.phi4(original_max_position_embeddings=LIMIT)
    tiny.model.save_pretrained(folder)
    tiny.processor.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def long_engine(long_folder):
    return load_local(long_folder)


@pytest.fixture
def asks(long_engine, ask):
    """Requests of so many tokens each that agree up to their ends."""

    def make(event, *lengths, end="?"):
        empty = long_engine.count_tokens(ask(event, "#" + end))
        marks = [f"{'#' * (n - empty)}{end}" for n in lengths]
        requests = [ask(event, f"#{m}", trial=str(i)) for i, m in enumerate(marks)]
        assert [long_engine.count_tokens(request) for request in requests] == list(lengths)
        return requests

    return make


def full_forward(engine, request, new=()):
    prompt = engine._tools.encoder.encode([request])[0]
    with torch.inference_mode():
        logits = engine._loaded.model(torch.tensor([[*prompt.token_ids, *new]])).logits[0, -1]
    return logits.float().log_softmax(-1)


def test_a_beginning_is_shared_within_one_regime_only(long_engine):
    network = Network(long_engine._loaded.model)
    assert network.same_regime(LIMIT - 50, LIMIT)
    assert not network.same_regime(LIMIT - 50, LIMIT + 1)
    assert not network.same_regime(LIMIT, LIMIT + 1)
    assert network.same_regime(LIMIT + 1, LIMIT + 2)


def test_rows_share_a_batch_within_one_regime_only(long_engine):
    network = Network(long_engine._loaded.model)
    assert network.regime(10, LIMIT) == network.regime(LIMIT, LIMIT)
    assert network.regime(LIMIT + 1, LIMIT + 1) == network.regime(LIMIT + 90, LIMIT + 99)
    crossing = {network.regime(LIMIT - n, LIMIT + 9) for n in range(3)}
    assert len(crossing | {network.regime(1, 2), network.regime(LIMIT + 1, LIMIT + 2)}) == 5


def test_other_families_have_one_regime(engine_of):
    network = Network(engine_of("qwen2_vl")._loaded.model)
    assert network.same_regime(1, 10**6)
    assert network.regime(1, 1) == network.regime(1, 10**6) == 0


def test_the_check_at_the_start_allows_sharing_of_each_regime(long_engine):
    assert long_engine.describe()["prefix_sharing"]["strategy"] == "cascade"


@pytest.mark.parametrize(
    ("lengths", "shares"),
    [
        ((LIMIT - 2, LIMIT - 1, LIMIT), True),
        ((LIMIT - 1, LIMIT, LIMIT + 1), False),
        ((LIMIT + 20, LIMIT + 21, LIMIT + 40), True),
    ],
)
def test_scores_around_the_limit_are_those_of_a_plain_forward_pass(long_engine, asks, lengths, shares):
    requests = asks(IDScores(), *lengths)
    batches = list(long_engine.batches(requests))
    assert all(bool(batch.shared.chain) == shares for batch in batches)
    for request, outcome in [pair for batch in batches for pair in zip(batch, long_engine.answer(batch), strict=True)]:
        top = full_forward(long_engine, request).topk(5).values
        assert [t.logprob for t in outcome.top_tokens] == pytest.approx(top.tolist(), abs=1e-4)


def test_rows_on_both_sides_of_the_limit_do_not_change_one_another(long_engine, asks):
    lengths = (LIMIT - 40, LIMIT, LIMIT + 1, LIMIT + 40)
    events = (IDScores(), OptionLikelihood(continuations=(" red", " dark blue")), Generation(max_tokens=4))
    requests = [request for event in events for request in asks(event, *lengths)]
    together = long_engine.answer(requests)
    for request, outcome in zip(requests, together, strict=True):
        alone = long_engine.answer([request])[0]
        assert outcome.reply == alone.reply
        if outcome.reply is None:
            assert largest_gap(outcome, alone) < 1e-4


def test_continuations_across_the_limit_are_those_of_plain_forward_passes(long_engine, asks):
    event = OptionLikelihood(continuations=(" red", " dark blue"))
    for request in asks(event, LIMIT - 20, LIMIT - 2, LIMIT, LIMIT + 1):
        (batch,) = long_engine.batches([request])
        prompt = long_engine._tools.encoder.encode([request])[0]
        joint = long_engine._tools.encoder.encode_with(prompt, event.continuations)
        for ids, score in zip(joint, long_engine.answer(batch)[0].option_scores, strict=True):
            new, length = torch.tensor([ids]), len(prompt.token_ids)
            with torch.inference_mode():
                table = long_engine._loaded.model(new).logits[0].float().log_softmax(-1)
            first = full_forward(long_engine, request)[ids[length]]  # as IDs are scored: before anything follows
            rest = table[length:-1].gather(-1, new.T[length + 1 :]).sum()
            assert score.logprob == pytest.approx(float(first + rest), abs=1e-4)


def test_a_reply_across_the_limit_is_that_of_plain_forward_passes(long_engine, asks):
    requests = asks(Generation(max_tokens=6), LIMIT - 3, LIMIT - 1, LIMIT, LIMIT + 1)
    for request, outcome in zip(requests, long_engine.answer(requests), strict=True):
        tokens, sure = [], True
        for _ in range(6):
            first, second = full_forward(long_engine, request, tokens).topk(2).values.tolist()
            sure = sure and first - second > 1e-3
            tokens.append(int(full_forward(long_engine, request, tokens).argmax()))
            if tokens[-1] in long_engine._loaded.ends:
                break
        assert sure
        vocabulary = long_engine._tools.vocabulary
        expected = [token for token in tokens if token not in long_engine._loaded.ends]
        assert outcome.reply == vocabulary.decode(expected)


# The adapter for pictures


def write_adapter(folder, model, *, change=None):
    """A checkpoint's `vision-lora`, as peft saves it."""
    torch.manual_seed(1)
    weights = {}
    for name, module in model.named_modules():
        if name.startswith("model.layers.") and name.endswith(LAYERS):
            key = f"base_model.model.{name}"
            weights[f"{key}.lora_A.weight"] = torch.randn(RANK, module.in_features) * 0.2
            weights[f"{key}.lora_B.weight"] = torch.randn(module.out_features, RANK) * 0.2
    if change is not None:
        change(weights)
    config = dict(peft_type="LORA", r=RANK, lora_alpha=SCALE * RANK, lora_dropout=0.0, bias="none", inference_mode=True)
    config |= dict(target_modules=[layer.split(".")[1] for layer in LAYERS], task_type="CAUSAL_LM")
    (folder / "vision-lora").mkdir()
    (folder / "vision-lora" / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file(weights, folder / "vision-lora" / "adapter_model.safetensors", metadata={"format": "pt"})


@pytest.fixture
def adapted_folder(families, tmp_path):
    tiny = families.save("phi4", tmp_path)
    write_adapter(tmp_path, tiny.model)
    return tmp_path


def test_an_adapter_needs_peft(adapted_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(EngineUnavailable, match=r"vision adapter.*pip install 'vqaudit\[peft\]'"):
        load_local(adapted_folder)


def test_an_adapter_without_weights_is_refused(adapted_folder):
    (adapted_folder / "vision-lora" / "adapter_model.safetensors").unlink()
    with pytest.raises(EngineError, match="lacks the weights of its adapter in 'vision-lora'"):
        load_local(adapted_folder)


def test_a_checkpoint_without_an_adapter_says_so(engine_of):
    assert engine_of("phi4").describe()["vision_adapter"] is False


def test_an_adapter_is_on_with_a_picture_and_without(adapted_folder, checkpoint, ask):
    pytest.importorskip("peft")
    engine, bare = load_local(adapted_folder), load_local(checkpoint("phi4"))
    assert engine.describe()["vision_adapter"] is True
    assert "vision-lora/adapter_model.safetensors" in engine.describe()["weights"]
    requests = [ask(IDScores(), images=1), ask(IDScores())]
    before = bare.answer(requests)
    named = dict(bare._loaded.model.named_modules())
    weights = load_file(adapted_folder / "vision-lora" / "adapter_model.safetensors")
    for key in weights:
        if key.endswith(".lora_A.weight"):
            name = key.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
            named[name].weight.data += SCALE * weights[key.replace("lora_A", "lora_B")] @ weights[key]
    merged = load_local_again(bare).answer(requests)
    for made, one, other in zip(engine.answer(requests), merged, before, strict=True):
        assert largest_gap(made, one) < 1e-4
        assert largest_gap(made, other) > 1e-2


def load_local_again(engine):
    """The engine with what it keeps of its model's beginnings dropped."""
    return type(engine)(engine.name, engine._loaded, engine._spec, source=engine._source)


@pytest.mark.parametrize("name", ["model.layers.9.mlp.down_proj.lora_A.weight", "model.layers.0.mlp.down_proj.lora_C"])
def test_an_adapter_of_another_model_is_refused(families, tmp_path, name):
    pytest.importorskip("peft")
    tiny = families.save("phi4", tmp_path)
    write_adapter(
        tmp_path, tiny.model, change=lambda weights: weights.update({f"base_model.model.{name}": torch.ones(4, 128)})
    )
    with pytest.raises(EngineError, match="does not fit its model"):
        load_local(tmp_path)


class StandIn:
    """An adapter that needs no peft: adds a product of small matrices to layers while it is on."""

    def __init__(self, model):
        self.on = True
        torch.manual_seed(1)
        for name, module in model.named_modules():
            if name.startswith("model.layers.") and name.endswith(LAYERS):
                down = torch.randn(RANK, module.in_features) * 0.2
                up = torch.randn(module.out_features, RANK) * 0.2
                module.register_forward_hook(self._hook(SCALE * up @ down))

    def _hook(self, weight):
        return lambda _module, inputs, output: output + inputs[0] @ weight.T if self.on else output

    def switch(self, on):
        self.on = on


class Peft:
    def __init__(self, model):
        from peft.tuners.tuners_utils import BaseTunerLayer

        self.layers = [module for module in model.modules() if isinstance(module, BaseTunerLayer)]
        assert self.layers

    def switch(self, on):
        for layer in self.layers:
            layer.enable_adapters(on)


@pytest.fixture(params=["stand-in", "peft"])
def adapted(request, checkpoint, families, tmp_path):
    """An engine with an adapter, and what switches it."""
    if request.param == "stand-in":
        engine = load_local(checkpoint("phi4"))
        return engine, StandIn(engine._loaded.model)
    pytest.importorskip("peft")
    tiny = families.save("phi4", tmp_path)
    write_adapter(tmp_path, tiny.model)
    engine = load_local(tmp_path)
    return engine, Peft(engine._loaded.model)


@pytest.mark.parametrize("strategy", ["cascade", "expanded"])
def test_an_adapter_that_is_off_behind_the_beginning_is_found_out(adapted, strategy, monkeypatch):
    engine, adapter = adapted
    plain = engine._paths.plain

    def choose():
        return choose_paths(plain, engine._sample_groups(plain), ends=engine._loaded.ends, sharing=strategy)

    paths = choose()
    assert paths.shared is not None
    assert paths.tried[0].max_abs_diff < 1e-4
    forward = Branch._forward

    def without(self, *args):
        adapter.switch(False)
        try:
            return forward(self, *args)
        finally:
            adapter.switch(True)

    monkeypatch.setattr(Branch, "_forward", without)
    paths = choose()
    assert paths.shared is None
    assert paths.tried[0].error is None
    assert paths.tried[0].max_abs_diff > 100 * paths.tried[0].tolerance


def test_a_picture_stands_where_the_prompt_puts_it(engine_of, ask):
    parts = (TextPart(text="See "), ImagePart(index=0), TextPart(text=" there?"))
    prompt = engine_of("phi4")._tools.encoder.encode([ask(IDScores(), images=1, parts=parts)])[0]
    image = engine_of("phi4")._loaded.processor.image_token_id
    places = [place for place, token in enumerate(prompt.token_ids) if token == image]
    assert places == list(range(places[0], places[0] + len(places)))
    assert places[0] > 1


def test_links_of_a_chain_are_of_one_regime(long_folder, ask):
    requests = [
        ask(IDScores(), "#" * (LIMIT - 70) + mark * 120 + "#%" * n + "?", trial=f"{mark}{n}")
        for mark in "+="
        for n in range(1, 9)
    ]
    found = {}
    for sharing in ("off", "auto"):
        engine = load_local(long_folder, spec=LocalSpec(prefix_sharing=sharing))
        batches = list(engine.batches(requests))
        assert all(bool(batch.shared.chain) == (sharing == "auto") for batch in batches)
        found[sharing] = {outcome.trial: outcome for batch in batches for outcome in engine.answer(batch)}
    for trial, outcome in found["off"].items():
        assert largest_gap(outcome, found["auto"][trial]) < 1e-4
