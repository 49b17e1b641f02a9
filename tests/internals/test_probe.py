"""Probes find what there is to be found, choose what may be chosen, and keep the checkpoint that they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp

from vqaudit.internals.probe import Labelled, fit_probes, masked_choice
from vqaudit.internals.spec import ProbeSpec


def gaussian(rng, size, strength, *, places=2, width=6):
    """States around `strength` times the unit vector of the right position."""
    n_options = np.full(size, places)
    target = rng.integers(0, n_options)
    states = rng.normal(size=(size, width)).astype(np.float32)
    states[np.arange(size), target] += strength
    return Labelled(states, n_options, target)


def test_a_probe_reaches_the_accuracy_that_two_gaussians_allow() -> None:
    rng = np.random.default_rng(0)
    strength = 2.0
    train, validation, test = (gaussian(rng, size, strength) for size in (2000, 500, 20_000))
    probes = fit_probes(train, validation, ProbeSpec(seeds=3, epochs=5, rate=0.02))
    right = (probes.choices(test.states, test.n_options) == test.target).mean(axis=1)
    best = 0.5 * math.erfc(-strength / 2)  # the distance of the means is strength * sqrt(2)
    assert right == pytest.approx([best] * 3, abs=0.012)


def test_noise_teaches_nothing() -> None:
    rng = np.random.default_rng(1)
    train, validation, test = (gaussian(rng, size, 0.0, places=4) for size in (1000, 300, 8000))
    probes = fit_probes(train, validation, ProbeSpec(seeds=2, epochs=10))
    right = (probes.choices(test.states, test.n_options) == test.target).mean(axis=1)
    assert right == pytest.approx([0.25] * 2, abs=0.02)


def test_the_loss_is_the_masked_cross_entropy_and_its_minimum_is_found() -> None:
    """Against scipy's minimum of the same convex function."""
    rng = np.random.default_rng(2)
    size, width, places = 400, 5, 3
    n_options = rng.integers(2, places + 1, size)
    target = rng.integers(0, n_options)
    states = rng.normal(size=(size, width)).astype(np.float32)
    states[np.arange(size), target] += 1.0
    train = Labelled(states, n_options, target)
    invalid = np.arange(places) >= n_options[:, None]

    def loss(flat):
        logits = np.where(invalid, -np.inf, states @ flat.reshape(places, width).T)
        return float(np.mean(logsumexp(logits, axis=1) - logits[np.arange(size), target]))

    least = minimize(loss, np.zeros(places * width)).fun
    spec = ProbeSpec(seeds=1, epochs=50, rate=0.01, batch=400, decay=0.0)
    found = fit_probes(train, train, spec)
    best = fit_probes(train, train, spec.model_copy(update={"epochs": 400}))
    assert loss(best.weights[0].ravel()) <= loss(found.weights[0].ravel()) + 1e-3
    assert loss(best.weights[0].ravel()) == pytest.approx(least, abs=0.02)


def test_seeds_are_fitted_as_each_would_be_alone() -> None:
    rng = np.random.default_rng(3)
    train, validation = gaussian(rng, 300, 1.0, places=3), gaussian(rng, 200, 1.0, places=3)
    together = fit_probes(train, validation, ProbeSpec(seeds=3, epochs=4))
    alone = fit_probes(train, validation, ProbeSpec(seeds=1, epochs=4))
    np.testing.assert_allclose(together.weights[0], alone.weights[0], atol=1e-5)
    assert together.best_epochs[0] == alone.best_epochs[0]
    assert not np.allclose(together.weights[0], together.weights[1])


def test_the_kept_checkpoint_has_the_validation_accuracy_that_is_told() -> None:
    rng = np.random.default_rng(4)
    train, validation = gaussian(rng, 200, 1.0, places=3), gaussian(rng, 150, 1.0, places=3)
    probes = fit_probes(train, validation, ProbeSpec(seeds=4, epochs=12, rate=0.05))
    right = (probes.choices(validation.states, validation.n_options) == validation.target).mean(axis=1)
    assert right == pytest.approx(probes.validation)
    assert all(1 <= epoch <= 12 for epoch in probes.best_epochs)
    shorter = fit_probes(train, validation, ProbeSpec(seeds=4, epochs=1, rate=0.05))
    assert all(a >= b for a, b in zip(probes.validation, shorter.validation, strict=True))


def test_states_of_any_scale_are_fitted_alike() -> None:
    rng = np.random.default_rng(5)
    train, validation = gaussian(rng, 300, 1.5), gaussian(rng, 200, 1.5)
    large = [Labelled(part.states * 1000, part.n_options, part.target) for part in (train, validation)]
    spec = ProbeSpec(seeds=1, epochs=5)
    one, other = fit_probes(train, validation, spec), fit_probes(*large, spec)
    np.testing.assert_allclose(one.weights, other.weights * 1000, rtol=1e-3, atol=1e-5)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_position_that_is_not_there_is_never_chosen(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_options = rng.integers(1, 6, 20)
    chosen = masked_choice(rng.normal(size=(3, 20, 5)).astype(np.float32), n_options)
    assert (chosen < n_options).all()
    assert (chosen >= 0).all()
