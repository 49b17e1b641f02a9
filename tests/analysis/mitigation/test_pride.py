from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.analysis.mitigation import debias, id_prior
from vqaudit.errors import AnalysisError

seeds = st.integers(0, 2**32 - 1)


def rotated(content, bias):
    """Items x rotations x IDs, as log-probabilities: content of the option shown plus the ID's bias."""
    count = bias.size
    rows = np.stack([np.roll(content, -shift, axis=1) + bias for shift in range(count)], axis=1)
    return rows - np.log(np.exp(rows).sum(axis=2, keepdims=True))


@given(seed=seeds, count=st.integers(2, 6), items=st.integers(1, 8))
def test_content_plus_a_constant_id_bias_is_recovered_exactly(seed, count, items):
    generator = np.random.default_rng(seed)
    bias, content = generator.normal(0, 2, count), generator.normal(0, 2, (items, count))
    rows = rotated(content, bias)
    prior = id_prior(rows.reshape(-1, count), np.repeat(np.arange(items), count))
    assert prior == pytest.approx(np.exp(bias) / np.exp(bias).sum(), rel=1e-9)
    # in every rotation the debiased choice is the option of most content
    for shift in range(count):
        chosen = (debias(rows[:, shift], prior) + shift) % count
        assert (chosen == content.argmax(axis=1)).all()


@given(seed=seeds)
def test_scores_up_to_a_constant_per_row_give_the_same_prior(seed):
    generator = np.random.default_rng(seed)
    rows, items = generator.normal(size=(12, 4)), np.repeat(np.arange(3), 4)
    shifted = rows + generator.normal(size=(12, 1))
    assert id_prior(shifted, items) == pytest.approx(id_prior(rows, items))


def test_a_tie_is_no_choice():
    assert debias(np.log([[0.2, 0.4, 0.4]]), np.array([0.2, 0.4, 0.4])).tolist() == [-1]
    assert debias(np.log([[0.2, 0.4, 0.4]]), np.array([0.3, 0.3, 0.4])).tolist() == [1]


def test_nothing_to_calibrate_on_is_refused():
    with pytest.raises(AnalysisError, match="at least one item"):
        id_prior(np.zeros((0, 4)), np.zeros(0, dtype=np.intp))
