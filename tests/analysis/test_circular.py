"""Plain, circular and strict circular accuracy of imported logs, against closed forms and simulated ones."""

import math

import numpy as np
import polars as pl
import pytest

from vqaudit.analysis.circular import circular_accuracies


def frame(right: list[list[bool]], options: list[int] | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Trials of questions whose orders are rotations: right[question][rotation]."""
    rows, orders = [], []
    for item, values in enumerate(right):
        count = len(values) if options is None else options[item]
        for shift, value in enumerate(values):
            name = f"{item}-{shift}"
            order = [(place - shift) % count for place in range(count)]
            rows.append((name, item, item, value, shift, count))
            orders.append((name, order))
    names = ["trial", "item_code", "cluster_code", "right", "order_code", "n_options"]
    kinds = {"item_code": pl.UInt32, "cluster_code": pl.UInt32, "n_options": pl.Int16}
    trials = pl.DataFrame(rows, schema=names, orient="row").cast(kinds)
    return trials, pl.DataFrame(orders, schema={"trial": pl.String, "order": pl.List(pl.Int16)}, orient="row")


def test_three_accuracies_of_a_log_that_one_can_count_by_hand() -> None:
    found = circular_accuracies(*frame([[True, True, True], [True, False], [False, True], [True, True]]))
    assert (found.plain.value, found.plain.n) == (0.75, 4)
    assert found.rows.value == pytest.approx(7 / 9)
    assert (found.rows.n, found.rows.trials) == (4, 9)
    assert found.strict.value == 0.5
    assert found.groups is not None
    assert found.groups.item_mean.value == pytest.approx((1 + 0.5 + 0.5 + 1) / 4)
    assert found.groups.standard_error_naive == pytest.approx(math.sqrt(7 / 9 * 2 / 9 / 9))
    assert found.groups.by_orders == {2: 3, 3: 1}


def test_groups_with_fewer_orders_than_options_are_counted_and_said() -> None:
    found = circular_accuracies(*frame([[True, True, True], [True, True]], options=[4, 2]))
    assert found.groups is not None
    assert (found.groups.fewer_orders_than_options, found.groups.groups) == (1, 2)
    assert "1 of these have fewer orders than options" in found.groups.sentence


def test_a_question_without_its_first_order_counts_with_the_first_that_is_there() -> None:
    trials, orders = frame([[True, False, False], [False, True, True]])
    kept = trials.filter(pl.col("trial") != "0-0")
    assert circular_accuracies(kept, orders).plain.value == 0.0


def test_one_order_each_has_plain_accuracy_alone() -> None:
    found = circular_accuracies(*frame([[True], [False]]))
    assert found.plain.value == 0.5
    assert found.rows.value is None
    assert found.strict.reason == "no question was logged in more than one order"
    assert found.groups is None


def test_a_log_without_right_answers_has_none() -> None:
    trials, orders = frame([[True, True]])
    found = circular_accuracies(trials.with_columns(right=pl.lit(None, dtype=pl.Boolean)), orders)
    assert found.plain.reason == "the log does not tell which option is right"


def test_the_clustered_standard_error_is_that_of_repeated_samples_of_questions() -> None:
    generator = np.random.default_rng(3)
    skill = generator.beta(0.6, 0.4, size=(300, 200))
    answers = generator.random((300, 200, 4)) < skill[:, :, None]
    means = answers.mean(axis=(1, 2))
    found = [circular_accuracies(*frame(sample.tolist())) for sample in answers[:40]]
    clustered = np.mean([each.groups.standard_error_clustered for each in found])
    naive = np.mean([each.groups.standard_error_naive for each in found])
    assert clustered == pytest.approx(means.std(ddof=1), rel=0.12)
    assert naive < 0.75 * clustered
