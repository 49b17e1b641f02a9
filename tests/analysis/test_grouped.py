from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from vqaudit.analysis.estimates import mean_estimate, paired_difference
from vqaudit.analysis.grouped import item_mean, item_means_by, paired_means, trial_mean, trial_means_by


@pytest.fixture
def trials(rng):
    items = np.repeat(np.arange(30), rng.integers(1, 9, 30))
    size = items.size
    return pl.DataFrame(
        {
            "item_code": items.astype(np.uint32),
            "cluster_code": (items // 2).astype(np.uint32),
            "kind": rng.choice(["a", "b", "c"], size),
            "right": pl.Series(rng.random(size) < 0.6).set(pl.Series(rng.random(size) < 0.1), None),
            "weight": rng.uniform(0.5, 2, size),
        }
    ).with_columns(wrong=~pl.col("right"))


def _by_hand(trials):
    known = trials.drop_nulls("right").to_dicts()
    items: dict[int, list[bool]] = {}
    for row in known:
        items.setdefault(row["item_code"], []).append(row["right"])
    means = [float(np.mean(items[code])) for code in sorted(items)]
    return mean_estimate(means, clusters=[code // 2 for code in sorted(items)], trials=len(known))


def test_every_item_counts_once(trials):
    assert item_mean(trials, "right") == _by_hand(trials)


def test_every_trial_counts_once_or_by_its_weight(trials):
    known = trials.drop_nulls("right")
    values, clusters = known["right"].to_numpy(), known["cluster_code"].to_numpy()
    assert trial_mean(trials, "right") == mean_estimate(values, clusters=clusters)
    weighted = mean_estimate(values, clusters=clusters, weights=known["weight"].to_numpy())
    assert trial_mean(trials, "right", weight="weight") == weighted


def test_groups_are_what_they_are_alone(trials):
    items = item_means_by(trials, "right", ["kind"])
    sums = trial_means_by(trials, ["right", "wrong"], ["kind"])
    assert list(items) == list(sums) == [("a",), ("b",), ("c",)]
    for (kind,), estimate in items.items():
        alone = trials.filter(pl.col("kind") == kind)
        assert estimate == item_mean(alone, "right")
        right, wrong = sums[kind,]
        assert (right.value, right.low, right.high) == pytest.approx(
            (trial_mean(alone, "right").value, trial_mean(alone, "right").low, trial_mean(alone, "right").high)
        )
        assert right.value + wrong.value == pytest.approx(1)


def test_nothing_known_is_nothing_told(trials):
    silent = trials.with_columns(right=pl.lit(None, dtype=pl.Boolean))
    assert item_mean(silent, "right").value is None
    assert trial_mean(silent, "right").value is None
    assert item_means_by(silent, "right", ["kind"]) == {}


def test_pairs_are_common_items_only(trials):
    a, b = trials.filter(pl.col("item_code") < 20), trials.filter(pl.col("item_code") >= 10)
    found = paired_means(a, b, "right")
    assert found.value == pytest.approx(0)
    middle = trials.filter(pl.col("item_code").is_between(10, 19))
    assert found.trials == middle["right"].drop_nulls().len()
    none = paired_means(trials.filter(pl.col("item_code") < 5), trials.filter(pl.col("item_code") > 25), "right")
    assert none.value is None
    assert none.reason == "the two have no item in common"


def test_a_paired_mean_is_the_paired_difference_of_item_means(trials):
    a, b = trials.filter(pl.col("kind") == "a"), trials.filter(pl.col("kind") == "b")
    means = [
        dict(part.drop_nulls("right").group_by("item_code").agg(pl.col("right").mean()).iter_rows()) for part in (a, b)
    ]
    common = sorted(means[0].keys() & means[1].keys())
    expected = paired_difference(
        [means[0][code] for code in common],
        [means[1][code] for code in common],
        clusters=[code // 2 for code in common],
    )
    assert paired_means(a, b, "right").value == pytest.approx(expected.value)
