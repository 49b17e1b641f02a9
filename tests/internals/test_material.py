"""Examples are aligned over conditions, sides share no group, and what does not fit is refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.errors import AnalysisError, RecordError
from vqaudit.internals.examples import load_examples
from vqaudit.internals.material import Sources, _divided, make_material
from vqaudit.records import RunTables, read_manifest, write_manifest


def test_examples_stand_in_one_order_in_all_conditions(runs) -> None:
    found = load_examples(RunTables.load(runs["test"]))
    assert found.conditions == ("bare-scores", "cot-prefix")
    assert found.direct == "bare-scores"
    assert len(found) == 300
    assert found.left_out == 0
    items = {name: [t.removeprefix(f"{name}-") for t in found.trials(name)["trial"]] for name in found.conditions}
    assert items["bare-scores"] == items["cot-prefix"] == list(found.items)
    bare = found.states("bare-scores")
    assert (
        np.where(np.arange(4) < found.n_options[:, None], bare[:, :4], -np.inf).argmax(1) == found.native["bare-scores"]
    ).all()
    assert (found.states("cot-prefix")[:, 0] > 4).all()


def test_a_trial_that_one_condition_lacks_is_left_out_of_both(make_run, tmp_path) -> None:
    path = make_run(tmp_path / "run", 40, seed=9)
    part = next((path / "trials").glob("*.parquet"))
    frame = pl.read_parquet(part).filter(pl.col("trial") != "cot-prefix-q3")
    frame = frame.with_columns(
        outcome=pl.when(pl.col("trial") == "bare-scores-q5").then(pl.lit("failed")).otherwise("outcome")
    )
    part.unlink()
    frame.write_parquet(part)
    found = load_examples(RunTables.load(path))
    assert set(found.items) == {f"q{k}" for k in range(40)} - {"q3", "q5"}
    assert found.left_out == 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(10, 80))
def test_no_group_is_on_two_sides(seed: int, groups: int) -> None:
    clusters = np.random.default_rng(seed).integers(0, groups, 200)
    sides = _divided(clusters, (0.6, 0.2), np.random.default_rng(seed))
    assert sorted(np.concatenate(sides).tolist()) == list(range(200))
    parts = [set(clusters[side].tolist()) for side in sides]
    assert parts[0].isdisjoint(parts[1] | parts[2])
    assert parts[1].isdisjoint(parts[2])


def test_one_run_is_divided_by_groups(make_run, tmp_path) -> None:
    path = make_run(tmp_path / "run", 600, seed=9, group=3)
    material = make_material(Sources(run=path), seed=0, most_train=3000)
    sides = (material.train, material.validation, material.test)
    assert [side.n_groups for side in sides] == [120, 40, 40]
    assert [len(side.rows) for side in sides] == [360, 120, 120]
    assert "360 training examples (120 groups)" in material.sentence
    few = make_material(Sources(run=path), seed=0, most_train=200)
    assert len(few.train.rows) == 200
    assert set(few.train.rows) <= set(material.train.rows)


def test_another_run_trains_and_all_of_this_one_tests(runs) -> None:
    material = make_material(Sources(run=runs["test"], train=runs["train"]), seed=0, most_train=3000)
    assert [len(side.rows) for side in (material.train, material.validation, material.test)] == [510, 90, 300]
    apart = make_material(
        Sources(run=runs["test"], train=runs["train"], validation=runs["validation"]), seed=0, most_train=3000
    )
    assert [len(side.rows) for side in (apart.train, apart.validation, apart.test)] == [600, 150, 300]


def test_too_few_items_are_refused_with_the_numbers(make_run, tmp_path) -> None:
    path = make_run(tmp_path / "run", 120, seed=9)
    with pytest.raises(
        AnalysisError, match=r"72 independent items are left for training, and 100 are needed; give --train"
    ):
        make_material(Sources(run=path), seed=0, most_train=3000)


def test_items_that_are_tested_may_not_be_trained_on(make_run, runs, tmp_path) -> None:
    path = make_run(tmp_path / "run", 50, seed=4, name="train")
    with pytest.raises(AnalysisError, match=r"items of .* are in .* too, such as 'train "):
        make_material(Sources(run=path, train=runs["train"]), seed=0, most_train=3000)


def test_states_of_another_model_are_refused(make_run, runs, tmp_path) -> None:
    path = make_run(tmp_path / "run", 50, seed=4, name="z")
    write_manifest(path, read_manifest(path).model_copy(update={"engine": {"identity": {"weights": "other"}}}))
    with pytest.raises(AnalysisError, match="are of two models"):
        make_material(Sources(run=path, train=runs["train"]), seed=0, most_train=3000)


def test_a_run_without_states_says_how_to_keep_them(make_run, tmp_path) -> None:
    path = make_run(tmp_path / "run", 10, seed=4)
    (path / "states" / "readout.json").unlink()
    with pytest.raises(RecordError, match="keeps no hidden states; ask again with --keep-states"):
        load_examples(RunTables.load(path))


def test_a_condition_that_is_not_there_is_named(runs) -> None:
    with pytest.raises(AnalysisError, match=r"no ID scores of direct-scores; it has bare-scores, cot-prefix"):
        load_examples(RunTables.load(runs["test"]), ["direct-scores"])
