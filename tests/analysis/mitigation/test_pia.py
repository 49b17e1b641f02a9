from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.analysis.mitigation import position_invariant_accuracy
from vqaudit.analysis.mitigation.pia import Placed


@given(options=st.integers(2, 8), rounds=st.integers(1, 5))
def test_a_perfect_model_scores_one_and_the_printed_formula_one_over_options(options, rounds):
    answers = np.tile(np.arange(options), rounds)
    found = position_invariant_accuracy(Placed(answers, answers, np.arange(answers.size)), options)
    assert found.by_position.value == pytest.approx(1)
    assert found.by_all == pytest.approx(1 / options)


@given(options=st.integers(2, 8), rounds=st.integers(1, 5))
def test_an_always_first_model_scores_one_over_options_squared(options, rounds):
    answers = np.tile(np.arange(options), rounds)
    chosen = np.zeros_like(answers)
    found = position_invariant_accuracy(Placed(answers, chosen, np.arange(answers.size)), options)
    assert (chosen == answers).mean() == pytest.approx(1 / options)
    assert found.by_position.value == pytest.approx(1 / options**2)
    assert found.never_chosen == tuple(range(1, options))


def test_the_formula_by_hand():
    # position 0: 2 of 4 chosen are right, of 2 that stand there; position 1: 1 of 1, of 2; nothing chosen once
    answers = np.array([0, 0, 1, 1, 2, 2])
    chosen = np.array([0, 0, 0, 1, 0, -1])
    found = position_invariant_accuracy(Placed(answers, chosen, np.arange(6)), 3)
    assert found.by_position.value == pytest.approx((2 / 4 * 2 / 2 + 1 / 1 * 1 / 2 + 0) / 3)
    assert found.by_all == pytest.approx((2 / 4 * 2 / 6 + 1 / 1 * 1 / 6 + 0) / 3)
    assert found.never_chosen == (2,)


def test_positions_without_answers_count_as_zero():
    found = position_invariant_accuracy(Placed(np.array([0, 0]), np.array([0, 0]), np.arange(2)), 2)
    assert found.by_position.value == pytest.approx(0.5)


def test_influences_are_the_derivative(rng):
    answers, chosen = rng.integers(0, 4, 400), rng.integers(-1, 4, 400)
    placed = Placed(answers, np.where(rng.random(400) < 0.5, answers, chosen), np.arange(400) // 4)
    whole = position_invariant_accuracy(placed, 4)
    assert whole.influences.sum() == pytest.approx(0, abs=1e-12)
    # leaving a cluster out moves the figure by minus its influence, up to terms of second order
    for cluster in range(0, 100, 10):
        kept = placed.clusters != cluster
        codes = np.unique(placed.clusters[kept], return_inverse=True)[1]
        without = position_invariant_accuracy(Placed(answers[kept], placed.chosen[kept], codes), 4)
        assert without.by_position.value - whole.by_position.value == pytest.approx(
            -whole.influences[cluster], abs=3e-4
        )


def test_intervals_cover(rng):
    options, items, repeats = 4, 60, 300
    answers = np.tile(np.arange(options), items)
    clusters = np.repeat(np.arange(items), options)

    def run():
        knows = np.repeat(rng.random(items) < 0.6, options)
        guess = np.where(rng.random(answers.size) < 0.5, 0, rng.integers(0, options, answers.size))
        return position_invariant_accuracy(Placed(answers, np.where(knows, answers, guess), clusters), options)

    found = [run().by_position for _ in range(repeats)]
    truth = np.mean([f.value for f in found])
    covered = np.mean([f.low <= truth <= f.high for f in found])
    assert covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / repeats)
    widths = np.mean([(f.high - f.low) / 2 for f in found])
    assert widths < 1.25 * 1.96 * np.std([f.value for f in found])
