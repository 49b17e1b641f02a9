"""Batches are a pure function of lengths, keep their limits, and fall apart gracefully."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.engines.local.batching import BatchFailed, Load, cut, halving, trouble_with
from vqaudit.errors import EngineError

loads = st.lists(st.builds(Load, kind=st.sampled_from(["reply", "ids"]), length=st.integers(1, 50)), max_size=60)


@given(loads=loads, budget=st.integers(1, 200), most=st.integers(1, 9))
def test_every_request_is_in_one_batch_within_the_limits(loads, budget, most):
    batches = cut(loads, token_budget=budget, max_batch=most)
    assert sorted(index for batch in batches for index in batch) == list(range(len(loads)))
    for batch in batches:
        assert len({loads[index].kind for index in batch}) == 1
        longest = max(loads[index].length for index in batch)
        assert len(batch) == 1 or len(batch) * longest <= budget
        assert len(batch) <= most
    assert batches == cut(list(loads), token_budget=budget, max_batch=most)


def test_equal_lengths_keep_their_order():
    assert cut([Load(kind=0, length=5)] * 5, token_budget=15, max_batch=9) == [[0, 1, 2], [3, 4]]


@given(size=st.integers(0, 40), fits=st.integers(1, 10))
def test_a_batch_that_is_too_large_is_halved_until_it_fits(size, fits):
    def run(items):
        if len(items) > fits:
            raise BatchFailed("too large")
        return [2 * item for item in items]

    assert halving(range(size), run, lambda item, reason: None) == [2 * item for item in range(size)]


def test_what_fails_alone_is_given_up_and_the_others_go_on():
    def run(items):
        if 3 in items:
            raise BatchFailed("three is too large")
        return [str(item) for item in items]

    answers = halving(range(6), run, lambda item, reason: f"{item}: {reason}")
    assert answers == ["0", "1", "2", "3: three is too large", "4", "5"]


@pytest.mark.parametrize(
    "error",
    [
        torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        MemoryError(),
    ],
)
def test_memory_that_runs_out_is_recognised(error):
    assert "out of memory" in str(trouble_with(error))


def test_another_error_keeps_its_words():
    assert "features do not match" in str(trouble_with(ValueError("features do not match")))


def test_a_lost_device_ends_the_run():
    with pytest.raises(EngineError, match="device is lost"):
        trouble_with(RuntimeError("CUDA error: device-side assert triggered"))
