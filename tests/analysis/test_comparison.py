from __future__ import annotations

import json

import numpy as np
import pytest

from vqaudit.analysis import compare
from vqaudit.errors import AnalysisError


@pytest.fixture
def runs(grid_run, formats):
    """Returns a maker of two or more grids: how many of the items each gets right."""

    def make(*right, n_items=24, n_formats=4):
        return [
            grid_run(
                lambda n, fmt, order, share=share: n % 4 if n < share else (n + 1) % 4,
                n_items=n_items,
                formats=formats[:n_formats],
                model=f"model-{number}",
            )
            for number, share in enumerate(right)
        ]

    return make


def test_runs_are_ranked_with_their_uncertainty(runs):
    found = compare([run.write() for run in runs(6, 23, 7)])
    assert found.measure == "grid_accuracy"
    assert [run.name for run in found.runs] == ["model-1", "model-2", "model-0"]
    assert [run.rank for run in found.runs] == [1, 2, 3]
    assert found.runs[0].accuracy.value == pytest.approx(23 / 24)
    assert found.runs[0].p_best > 0.99
    assert found.runs[0].rank_high == 1
    assert (found.runs[1].rank_low, found.runs[1].rank_high) == (2, 3)
    assert found.statements[-1] == "model-2 and model-0 cannot be told apart on these items"
    assert any(sentence.startswith("model-1 is better than model-0 by 70.8 pp") for sentence in found.statements)


def test_ranks_over_formats_need_every_grid(runs, grid_run, formats):
    one, two = runs(20, 10)
    found = compare([one.write(), two.write()])
    assert found.format_ranks.formats == 4
    assert found.format_ranks.counts == {"model-0": [4, 0], "model-1": [0, 4]}
    assert found.format_ranks.accuracies["upper/colon/comma"] == {
        "model-0": pytest.approx(20 / 24),
        "model-1": pytest.approx(10 / 24),
    }
    for row in two.plan:
        row["design"] = "randomised"
    mixed = compare([one.write(), two.write()])
    assert mixed.format_ranks is None
    assert "model-1" in mixed.reasons["format_ranks"]
    assert mixed.runs[1].accuracy.value == pytest.approx(found.runs[1].accuracy.value)


def test_only_common_items_are_compared_and_the_others_are_counted(runs):
    one, two = runs(20, 20)
    one.items = [item for item in one.items if item["item"] >= "q0004"]
    one.trials = [trial for trial in one.trials if trial["item"] >= "q0004"]
    one.plan = [row for row in one.plan if row["item"] >= "q0004"]
    two.items[10]["question"] = "Another question under the same name?"
    two.items[11]["options"] = ["other", "options", "than", "there"]
    found = compare([one.write(), two.write()])
    assert found.common_items == 18
    assert found.left_out == {"model-0": 2, "model-1": 6}
    assert found.runs[0].accuracy.value == found.runs[1].accuracy.value == pytest.approx(14 / 18)
    assert any("6 of 24 items of model-1" in warning for warning in found.warnings)


def test_a_silent_log_does_not_disagree(runs):
    one, two = runs(20, 10)
    for item in two.items:
        item.update(question=None, options=None)
    assert compare([one.write(), two.write()]).common_items == 24


def test_runs_beside_a_silent_log_are_held_against_one_another(runs):
    silent, two, three = runs(20, 10, 5)
    for item in silent.items:
        item.update(question=None, options=None)
    three.items[7]["question"] = "Another question under the same name?"
    assert compare([silent.write(), two.write(), three.write()]).common_items == 23


def test_groups_are_compared_and_not_their_names(runs):
    one, two = runs(20, 10)
    for place, item in enumerate(two.items):
        item["cluster"] = f"image-{24 - place}"
    assert not any("group their items" in warning for warning in compare([one.write(), two.write()]).warnings)


def test_no_common_item_is_an_error(runs):
    one, two = runs(20, 20)
    for rows in (two.items, two.trials, two.plan):
        for row in rows:
            row["item"] = "other " + row["item"]
    with pytest.raises(AnalysisError, match="no item in common"):
        compare([one.write(), two.write()])


def test_what_measures_different_things_is_not_compared(runs):
    one, two = runs(20, 20)
    for row in two.plan:
        row["design"] = "reference"
    with pytest.raises(AnalysisError, match=r"model-0: grid, model-1: reference"):
        compare([one.write(), two.write()])
    for row in one.plan:
        row["design"] = "reference"
    assert compare([one.write(), two.write()]).measure == "reference_accuracy"


def test_a_run_without_a_headline_is_named(runs):
    one, two = runs(20, 20)
    for trial in two.trials[:10]:
        trial["outcome"] = "failed"
    with pytest.raises(AnalysisError, match=r"'model-1' has no accuracy.*10 of 384"):
        compare([one.write(), two.write()])


def test_answers_that_nobody_knows_are_no_accuracy(runs):
    one, two = runs(20, 20)
    for item in two.items:
        item["answer"] = None
    with pytest.raises(AnalysisError, match="known answer"):
        compare([one.write(), two.write()])


def test_fewer_than_two_runs_or_names_that_repeat_are_errors(runs):
    one, two = (run.write() for run in runs(20, 20))
    with pytest.raises(AnalysisError, match="at least two runs, not 1"):
        compare([one])
    with pytest.raises(AnalysisError, match="different names"):
        compare([one, two], names=["same", "same"])


def test_one_model_twice_is_told_apart_by_its_directory(runs):
    one, two = runs(20, 10)
    two.model = one.model
    found = compare([one.write(), two.write()])
    assert {run.name for run in found.runs} == {"model-0 (run-1)", "model-0 (run-2)"}


def test_different_interfaces_systems_and_groups_are_said(runs):
    one, two = runs(20, 20)
    for rows in (two.trials, two.plan):
        for row in rows:
            row["interface"] = "direct-scores"
    for item in two.items:
        item["cluster"] = "all"
    found = compare([one.write(), two.write(system="Be brief.")])
    for words in ("different interfaces (direct, direct-scores)", "system prompts", "group their items differently"):
        assert any(words in warning for warning in found.warnings)


def test_pairs_are_by_item_whatever_the_order_of_the_files(runs):
    one, two = runs(20, 10)
    straight = compare([one.write(), two.write()])
    two.items.reverse()
    turned = compare([one.write(), two.write()])
    assert straight.pairs == turned.pairs


def test_the_same_seed_gives_the_same_json_without_nan(runs):
    tables = [run.write() for run in runs(18, 20, 19)]
    first, again = compare(tables, seed=4).to_json(), compare(tables, seed=4).to_json()
    assert first == again
    assert first != compare(tables, seed=5).to_json()
    assert json.loads(first)["runs"][0]["accuracy"]["n"] == 24


def test_randomised_runs_are_paired_by_draw(builder, formats, rng):
    ease = rng.random(200)
    made = []
    for name, shift in (("a", 0.12), ("b", 0.0)):
        run = builder(name)
        for number in range(200):
            item = run.add_item(f"q{number}", answer=0)
            luck = np.random.default_rng(number).random()
            chosen = 0 if luck < np.clip(ease[number] + shift, 0, 1) else 1
            run.add_trial(item, fmt=formats[number % 48], chosen=chosen, designs=[("randomised", 0)])
        made.append(run.write())
    (pair,) = compare(made).pairs
    assert pair.better == "a"
    assert pair.difference.low < 0.12 < pair.difference.high
    # pairing takes the items' own ease out: far narrower than two independent intervals
    assert pair.difference.high - pair.difference.low < 0.13
