"""Delta, Gamma, layers and controls on runs whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from vqaudit.analysis.internals import read_internals
from vqaudit.errors import AnalysisError
from vqaudit.internals import ProbeSpec, Sources, study_internals
from vqaudit.internals.layers import layers_findings
from vqaudit.internals.material import make_material
from vqaudit.internals.recovery import probe_findings
from vqaudit.internals.shuffle import shuffled_accuracy
from vqaudit.internals.study import study

SPEC = ProbeSpec(seeds=3, epochs=8, rate=0.03)


@pytest.fixture(scope="module")
def material(runs):
    return make_material(
        Sources(**{("run" if k == "test" else k): v for k, v in runs.items()}), seed=0, most_train=3000
    )


@pytest.fixture(scope="module")
def found(material):
    return probe_findings(material, SPEC)


def test_a_collapsed_condition_is_recovered_and_a_sound_one_is_not(found) -> None:
    bare, cot = found.conditions["bare-scores"], found.conditions["cot-prefix"]
    assert cot.native_first.value == 1.0
    assert cot.native.value == pytest.approx(found.answer_first.value)
    assert bare.native.value > 0.9
    assert cot.probe.value > 0.85
    assert cot.delta.low > 0.3
    assert bare.delta.low < 0.02
    gamma = found.gammas["cot-prefix"]
    assert gamma.gamma.value == pytest.approx(cot.delta.value - bare.delta.value)
    assert gamma.gamma.low < gamma.gamma.value < gamma.gamma.high


def test_figures_add_up(found) -> None:
    for row in found.conditions.values():
        assert row.delta.value == pytest.approx(row.probe.value - row.native.value)
        assert row.delta.low <= row.delta.value <= row.delta.high
        assert row.reproduced == 1.0
        assert len(row.validation) == len(row.best_epochs) == 3
    assert found.fitting.test_groups == 300
    assert 0.25 < found.chance < 0.5


def test_exchanged_states_leave_what_a_random_choice_has(found) -> None:
    for row in found.conditions.values():
        assert row.shuffled_probe.low - 0.03 < found.chance < row.shuffled_probe.high + 0.03
    collapsed = found.conditions["cot-prefix"].shuffled_native
    assert collapsed.accuracy == pytest.approx(found.answer_first.value)  # always the first, whatever the state
    assert collapsed.high == pytest.approx(collapsed.low)


def test_a_readout_of_label_frequencies_survives_the_exchange() -> None:
    target, n_options = np.array([0] * 90 + [1] * 10), np.full(100, 2)
    blind = np.tile([1.0, 0.0], (100, 1))
    row = shuffled_accuracy(lambda order: blind[order], n_options=n_options, target=target, seed=0)
    assert row.accuracy == pytest.approx(0.9)


def test_only_the_last_layer_knows_in_these_runs(material) -> None:
    found = layers_findings(material, ProbeSpec(seeds=1, epochs=6, rate=0.03))
    assert [row.layer for row in found.layers] == [0, 1, 2, 3]
    for row in found.layers[:-1]:
        assert row.accuracy["bare-scores"].value == pytest.approx(found.chance, abs=0.1)
    assert found.layers[-1].accuracy["bare-scores"].value > 0.85
    gap = found.gaps["cot-prefix"][-1].gap
    accuracy = found.layers[-1].accuracy
    assert gap.value == pytest.approx(accuracy["bare-scores"].value - accuracy["cot-prefix"].value)


def test_a_study_is_written_read_back_and_the_same_again(runs) -> None:
    sources = Sources(run=runs["test"], train=runs["train"], validation=runs["validation"])
    spec = ProbeSpec(seeds=1, epochs=2, readout_epochs=2)
    first = study_internals(sources, spec=spec)
    again = study(sources, spec, ("readout", "probe"))
    assert first == again == read_internals(runs["test"])
    assert all(part is not None for part in (first.probe, first.layers, first.readout, first.vocabulary))
    assert any("Gamma" in sentence for sentence in first.probe.sentences)
    last = first.vocabulary.conditions["cot-prefix"][-1]
    assert last.id_mass.value == pytest.approx(0.75)
    assert last.watch_mass.value == pytest.approx(0.5)
    examples = make_material(sources, seed=0, most_train=3000).test.examples
    assert last.right_rank.value == pytest.approx(np.mean(2 + examples.target))
    ways = [np.exp(-t) / np.exp(-np.arange(n)).sum() for t, n in zip(examples.target, examples.n_options, strict=True)]
    assert last.right_probability.value == pytest.approx(np.mean(ways))


def test_what_a_run_of_last_layers_cannot_tell_has_its_reason(make_run, tmp_path) -> None:
    from dataclasses import replace

    from vqaudit.records.states import read_readout, write_readout

    path = make_run(tmp_path / "run", 600, seed=8)
    write_readout(path, replace(read_readout(path), depth="last"))
    found = study_internals(Sources(run=path), spec=ProbeSpec(seeds=1, epochs=2))
    assert found.probe is not None
    assert set(found.reasons) == {"layers", "vocabulary"}
    assert "--keep-states all" in found.reasons["layers"]
    with pytest.raises(AnalysisError, match="last layer alone"):
        study_internals(Sources(run=path), parts=("vocabulary",))
