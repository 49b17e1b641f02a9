"""The short form of `run.py`: a few changed files for every reader, and whatever hypothesis makes of bytes and text."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vqaudit.errors import VqauditError


def load(name):
    spec = spec_from_file_location(f"fuzz_{name}", Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


targets, mutations = load("targets"), load("mutations")
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def read(target, data: bytes) -> bool:
    """Whether the reader took the data; any error but ours is the test's."""
    try:
        target.read(data)
    except VqauditError:
        return False
    return True


@pytest.mark.parametrize("name", targets.TARGETS)
def test_seeds_are_sound(name):
    target = targets.TARGETS[name]
    taken = [read(target, seed) for seed in target.seeds()]
    assert any(taken), "a reader that refuses all its seeds is not fuzzed"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", targets.TARGETS)
def test_changed_files_are_read_or_refused(name):
    target, rng = targets.TARGETS[name], np.random.default_rng(7)
    seeds = target.seeds()
    for _ in range(30):
        read(target, mutations.mutate(seeds[int(rng.integers(len(seeds)))], seeds, rng))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", targets.TARGETS)
@QUICK
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_bytes_are_read_or_refused(name, data):
    read(targets.TARGETS[name], data)


def test_the_same_seed_makes_the_same_changes():
    seeds = [b"abcdef" * 10, b"123"]
    one, two = (mutations.mutate(seeds[0], seeds, np.random.default_rng(5)) for _ in range(2))
    assert one == two != seeds[0]
