"""Names -> models, and what is said where there is none."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct

import pytest
from pydantic import ValidationError
from safetensors.torch import load_file, save_file

from vqaudit.engines.base import IDScores
from vqaudit.engines.local import LocalSpec, identity, load_local, loading
from vqaudit.engines.local.identity import weights_fingerprint
from vqaudit.errors import EngineError, EngineUnavailable


@pytest.fixture
def copy_of(checkpoint, tmp_path):
    def copy(name):
        return shutil.copytree(checkpoint(name), tmp_path / name)

    return copy


def test_an_unknown_folder_is_named(tmp_path):
    with pytest.raises(EngineError, match=r"nowhere.*folder, a hub ID or a \.gguf file"):
        load_local(tmp_path / "nowhere")


def test_an_empty_folder_is_named(tmp_path):
    with pytest.raises(EngineError, match="cannot be loaded"):
        load_local(tmp_path)


def test_missing_weights_are_an_error_not_a_warning(copy_of):
    folder = copy_of("qwen2_text")
    weights = load_file(folder / "model.safetensors")
    weights.pop("model.layers.1.mlp.up_proj.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EngineError, match=r"lacks 1 weights, such as 'model\.layers\.1\.mlp\.up_proj\.weight'"):
        load_local(folder)


def test_a_gguf_file_needs_its_packages(tmp_path, monkeypatch):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'vqaudit\[gguf\]'"):
        load_local(file)
    with pytest.raises(EngineError, match="there is no file"):
        load_local(tmp_path / "other.gguf")


@pytest.mark.parametrize("device", ["nowhere", "cuda:99"])
def test_an_impossible_device_is_named(checkpoint, device):
    with pytest.raises(EngineError, match=device):
        load_local(checkpoint("qwen2_text"), spec=LocalSpec(device=device))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_dtype_is_taken_and_read_out_in_float32(checkpoint, ask, dtype):
    engine = load_local(checkpoint("llava"), spec=LocalSpec(dtype=dtype))
    assert engine.describe()["dtype"] == dtype
    outcome = engine.answer([ask(IDScores(), images=1)])[0]
    assert outcome.error is None
    assert all(score.logprob < 0 for score in outcome.id_scores)


def test_an_unknown_option_is_refused():
    with pytest.raises(ValidationError, match="dtpye"):
        LocalSpec.model_validate({"dtpye": "float32"})


def test_an_attention_is_taken(checkpoint):
    engine = load_local(checkpoint("qwen2_text"), spec=LocalSpec(attn_implementation="eager"))
    assert engine.describe()["attention"] == "eager"


def test_tokens_before_every_prompt_are_those_of_the_tokenizer(engine_of):
    assert engine_of("llava").describe()["begin_tokens"] == ["<s>"]
    assert engine_of("qwen2_vl").describe()["begin_tokens"] == []


def test_weights_are_told_apart_by_their_fingerprint(copy_of):
    folder = copy_of("qwen2_text")
    engine = load_local(folder)
    before = engine.describe()["weights"]["model.safetensors"]
    content = (folder / "model.safetensors").read_bytes()
    assert before == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "model.safetensors").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert engine.describe()["weights"]["model.safetensors"]["sha256"] != before["sha256"]


def test_of_large_files_the_header_is_hashed(tmp_path, monkeypatch, engine_of):
    monkeypatch.setattr(identity, "_SMALL", 16)
    header = json.dumps({"w": {"dtype": "F32", "shape": [8], "data_offsets": [0, 32]}}).encode()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(32))
    (tmp_path / "b.bin").write_bytes(bytes(range(256)) * 2**13)
    told = weights_fingerprint(str(tmp_path), engine_of("qwen2_text")._loaded.model)
    assert told["a.safetensors"]["sha256"] == hashlib.sha256(struct.pack("<Q", len(header)) + header).hexdigest()
    whole = bytes(range(256)) * 2**13
    assert told["b.bin"]["sha256"] == hashlib.sha256(whole[: 2**20] + whole[-(2**20) :]).hexdigest()


def test_a_model_that_is_on_no_disk_has_no_fingerprint(engine_of):
    assert weights_fingerprint("nobody/nothing", engine_of("qwen2_text")._loaded.model) == {}


def test_a_beginning_that_the_template_writes_is_not_written_twice(copy_of, ask):
    folder = copy_of("llava")
    template = folder / "chat_template.jinja"
    requests = [ask(IDScores(), images=1)]
    (before,) = load_local(folder)._tools.encoder.encode(requests)
    template.write_text("{{ bos_token }}" + template.read_text(encoding="utf-8"), encoding="utf-8")
    engine = load_local(folder)
    (after,) = engine._tools.encoder.encode(requests)
    begin = engine._loaded.tokenizer.bos_token_id
    assert (before.token_ids.count(begin), after.token_ids.count(begin)) == (1, 1)
