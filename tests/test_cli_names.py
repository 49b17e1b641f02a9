"""`vqaudit data` and `vqaudit models` as a person and as a program use them, and named data in a run."""

import importlib.util
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vqaudit.auditing import load_data
from vqaudit.cli import app
from vqaudit.engines.models import MODELS
from vqaudit.errors import DatasetError
from vqaudit.items.benchmarks import BENCHMARKS

_spec = importlib.util.spec_from_file_location("layouts", Path(__file__).parent / "items" / "layouts.py")
layouts = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(layouts)


def vqaudit(*args, code=0, columns="100"):
    done = CliRunner(env={"COLUMNS": columns, "NO_COLOR": "1"}).invoke(app, list(map(str, args)))
    assert done.exit_code == code, f"{done.output}\n{done.exception!r}"
    return done.output


@pytest.fixture
def ai2d(tmp_path):
    return layouts.write_hub(tmp_path, layouts.ai2d(), split="test")


def test_data_lists_every_benchmark():
    shown = vqaudit("data")
    assert all(name in shown for name in BENCHMARKS)
    listed = json.loads(vqaudit("data", "--json"))
    assert [entry["name"] for entry in listed] == list(BENCHMARKS)
    assert {"hub", "split", "licence", "format", "traps", "published", "local"} <= set(listed[0])


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_is_described(name):
    shown = " ".join(vqaudit("data", name).split())
    entry = BENCHMARKS[name]
    assert f"huggingface.co/datasets/{entry.hub}" in shown.replace(" ", "") or entry.hub in shown
    assert entry.traps[0].what.split(":")[0] in shown
    assert json.loads(vqaudit("data", name, "--json")) == entry.to_dict()


def test_statistics_beside_what_was_printed(ai2d):
    shown = vqaudit("data", f"ai2d={ai2d}", "--stats")
    assert "3,088" in shown
    assert "in the data" in shown
    told = json.loads(vqaudit("data", f"ai2d={ai2d}", "--stats", "--json"))
    assert told["counted"]["questions"] == 2
    assert (told["counted"]["mean_width"], told["counted"]["mean_height"]) == (12, 8)
    assert told["counted"]["distinct_images"] == 1
    assert told["published"][0]["questions"] == 3088


def test_statistics_of_a_file(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text('{"question": "q", "options": ["a", "b"], "answer": "A"}\n', encoding="utf-8")
    assert json.loads(vqaudit("data", path, "--json"))["counted"]["options"] == {"2": 1}


def test_names_of_nothing():
    done = CliRunner().invoke(app, ["data", "mmstr"])
    assert isinstance(done.exception, DatasetError)
    assert "did you mean 'mmstar'" in str(done.exception)
    with pytest.raises(DatasetError, match="no benchmark is called 'mmstr'"):
        load_data("mmstr")
    with pytest.raises(DatasetError, match="a split can be chosen of a named benchmark only"):
        load_data("own.jsonl", split="test")


def test_a_named_benchmark_is_asked_and_its_source_kept(ai2d, tmp_path):
    from vqaudit import ScriptedEngine, audit
    from vqaudit.records import read_manifest

    dataset = load_data(f"ai2d={ai2d}", limit=1, answers=None)
    engine = ScriptedEngine(lambda request: "A", name="always-A")
    run = audit(engine, dataset, out=tmp_path / "run", design="reference", progress=False)
    told = read_manifest(run.path).dataset
    assert told["name"] == "ai2d"
    assert told["origin"].startswith("local copy")
    assert told["left_out"] == {}


def test_models_lists_and_tells():
    shown = vqaudit("models")
    assert all(name in shown for name in MODELS)
    assert "tiny random models" in shown
    listed = json.loads(vqaudit("models", "--json"))
    assert [entry["name"] for entry in listed] == list(MODELS)
    told = json.loads(vqaudit("models", "llava-1.5-7b", "--prefix", "650", "--rows", "192", "--json"))
    assert told["memory_gib"]["expanded"] == pytest.approx(66.56, abs=0.01)
    assert told["kv_bytes_per_token"] == 524_288
    assert told["traps"]
    assert "vllm:phi-3.5-vision" in vqaudit("models", "microsoft/Phi-3.5-vision-instruct")
    vqaudit("models", "--dtype", "int8", code=2)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_told(name):
    shown = vqaudit("models", name, columns="80")
    assert max(map(len, shown.splitlines())) <= 80
    assert MODELS[name].hub in shown.replace("\n", "")
