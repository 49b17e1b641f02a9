"""A retrained readout learns what is there, and is in the model what it is from stored states."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

import vqaudit as va
from vqaudit.errors import AnalysisError
from vqaudit.internals import ProbeSpec, Sources
from vqaudit.internals.examples import load_examples
from vqaudit.internals.material import Side, make_material
from vqaudit.internals.native import id_logits, plan_ids
from vqaudit.internals.probe import masked_choice
from vqaudit.internals.readout import Taught, readout_findings, retrain, write_rows
from vqaudit.records import RunTables
from vqaudit.records.states import read_readout, write_readout


@pytest.fixture(scope="module")
def material(runs):
    return make_material(
        Sources(**{("run" if k == "test" else k): v for k, v in runs.items()}), seed=0, most_train=3000
    )


def test_a_retrained_readout_recovers_what_its_rows_can_read(material) -> None:
    found = readout_findings(material, ProbeSpec(seeds=2, readout_rate=3e-2))
    after = found.retrained["cot-prefix"]["cot-prefix"]
    assert after.before.value < 0.5
    assert after.after.value > 0.8
    assert after.change.value == pytest.approx(after.after.value - after.before.value)
    alone, both = (found.retrained[name]["bare-scores"].after.value for name in ("cot-prefix", "both"))
    assert alone < both  # what learns from a condition alone forgets the other
    assert found.fitting.validation is None
    assert found.tokens == 5
    for name, file in found.files.items():
        table = pq.read_table(material.test.examples.tables.path / file)
        assert table["token_id"].to_pylist() == [10, 11, 12, 13, 20], name


def test_no_training_leaves_the_model_as_it_is(material) -> None:
    plan = plan_ids(material.test)
    states = material.test.states("cot-prefix")
    taught = Taught(states, plan.of_examples, material.test.target)
    same = retrain(taught, plan, ProbeSpec(seeds=1, readout_rate=1e-12, decay=0.0))
    np.testing.assert_allclose(same.rows[0], plan.table.rows, atol=1e-6)
    chosen = same.choices(states, plan.of_examples, material.test.n_options)[0]
    assert (chosen == material.test.examples.native["cot-prefix"]).all()


def test_the_change_has_the_rank_that_is_asked_for(material) -> None:
    plan = plan_ids(material.train)
    taught = Taught(material.train.states("cot-prefix"), plan.of_examples, material.train.target)
    one = retrain(taught, plan, ProbeSpec(seeds=1, rank=1, readout_rate=1e-2))
    assert np.linalg.matrix_rank(one.rows[0] - plan.table.rows, tol=1e-4) == 1


def test_ids_of_several_tokens_have_no_readout(make_run, tmp_path) -> None:
    path = make_run(tmp_path / "run", 300, seed=3)
    table = read_readout(path)
    write_readout(path, replace(table, id_sets={"upper": dict(table.id_sets["upper"]) | {"B": ()}}))
    material = make_material(Sources(run=path), seed=0, most_train=3000)
    assert plan_ids(material.test) is None
    with pytest.raises(AnalysisError, match="takes several tokens"):
        readout_findings(material, ProbeSpec(seeds=1))


@pytest.fixture(scope="module")
def demo_run(tmp_path_factory):
    if not (resources.files("vqaudit") / "demo_data" / "model").is_dir():
        pytest.skip("this build carries no demo model")
    out = tmp_path_factory.mktemp("demo") / "run"
    va.audit("demo", va_items(), out=out, interface=INTERFACES, keep_states="last", progress=False, **SETTINGS)
    return out


INTERFACES = ("bare-scores", "cot-prefix")
SETTINGS = {"design": "reference", "orders": "dataset"}


def va_items():
    from vqaudit.items import demo_items

    return demo_items(limit=30)


def test_stored_states_and_merged_weights_give_the_same_choices(demo_run, tmp_path) -> None:
    out = demo_run
    examples = load_examples(RunTables.load(out))
    side = Side(examples=examples, rows=np.arange(len(examples)))
    plan = plan_ids(side)
    states = side.states("cot-prefix")
    before = examples.native["cot-prefix"]
    native = id_logits(states @ plan.table.rows.T + plan.table.biases, plan.of_examples)
    assert (masked_choice(native, side.n_options) == before).all()
    fitted = retrain(Taught(states, plan.of_examples, side.target), plan, ProbeSpec(seeds=1, readout_rate=1e-2))
    stored = fitted.choices(states, plan.of_examples, side.n_options)[0]
    assert (stored != before).sum() > 5

    merged = pq.read_table(out / write_rows(out, "readout-test", fitted))
    model = va.load_model("demo")
    head = model._loaded.model.lm_head
    head.weight = torch.nn.Parameter(head.weight.detach().clone())  # no longer tied to the input embedding
    with torch.no_grad():
        head.weight[merged["token_id"].to_pylist()] = torch.tensor(merged["row"].to_pylist())
    run = va.audit(
        model, va_items(), out=tmp_path / "merged", interface=INTERFACES, keep_states="last", progress=False, **SETTINGS
    )
    again = load_examples(run.tables())
    assert again.items == examples.items
    assert (again.native["cot-prefix"] == stored).all()
    direct = fitted.choices(side.states("bare-scores"), plan.of_examples, side.n_options)[0]
    assert (again.native["bare-scores"] == direct).all()
