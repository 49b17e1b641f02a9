"""What a condition's own scores lose and its probe recovers: Delta and Gamma (paper 2, Eq. 5).

Knows probes, native scores and their pairing by trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.estimates import mean_estimate
from vqaudit.analysis.internals import ConditionRow, Fitting, GammaRow, ProbeFindings, Shuffled
from vqaudit.internals.bootstrap import over_seeds
from vqaudit.internals.material import Material, Side
from vqaudit.internals.native import IDTokenPlan, apply_softcap, id_logits, plan_ids
from vqaudit.internals.probe import Labelled, Probes, fit_probes, masked_choice
from vqaudit.internals.shuffle import shuffled_accuracy
from vqaudit.internals.spec import ProbeSpec

__all__ = ["describe_fit", "fit_condition", "probe_findings"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Judged:
    """One condition's outcomes on the test trials."""

    row: ConditionRow
    deltas: Floats
    """Seeds x trials, each -1, 0 or 1."""


def labelled(side: Side, condition: str, layer: int | None = None) -> Labelled:
    """Returns what a probe is fitted to."""
    return Labelled(side.states(condition, layer), side.n_options, side.target)


def fit_condition(material: Material, condition: str, spec: ProbeSpec, layer: int | None = None) -> Probes:
    """Fits the probes of one condition at a layer (the last where None)."""
    return fit_probes(labelled(material.train, condition, layer), labelled(material.validation, condition, layer), spec)


def describe_fit(material: Material, spec: ProbeSpec, *, layer: int | None) -> Fitting:
    """Returns how probes were fitted, for the findings."""
    return Fitting(
        sentence=material.sentence,
        train=len(material.train.rows),
        validation=len(material.validation.rows),
        test=len(material.test.rows),
        test_groups=material.test.n_groups,
        seeds=spec.seeds,
        epochs=spec.epochs,
        rate=spec.rate,
        decay=spec.decay,
        batch=spec.batch,
        seed=spec.seed,
        layer=layer,
    )


def probe_findings(material: Material, spec: ProbeSpec) -> ProbeFindings:
    """Fits a probe per condition on the last layer and judges it on the test trials, paired with native scores."""
    test = material.test
    judged = {name: _judge(material, name, spec) for name in test.examples.conditions}
    direct = test.examples.direct
    return ProbeFindings(
        fitting=describe_fit(material, spec, layer=test.examples.last_layer),
        direct=direct,
        chance=float((1 / test.n_options).mean()),
        answer_first=mean_estimate(test.target == 0, clusters=test.clusters),
        conditions={name: one.row for name, one in judged.items()},
        gammas={} if direct is None else _gammas(judged, direct, test, spec),
        left_out=test.examples.left_out,
    )


def _gammas(judged: Mapping[str, _Judged], direct: str, test: Side, spec: ProbeSpec) -> dict[str, GammaRow]:
    found = {}
    for name, one in judged.items():
        if name != direct:
            gamma = over_seeds(one.deltas - judged[direct].deltas, clusters=test.clusters, seed=spec.seed)
            found[name] = GammaRow(gamma=gamma.estimate, seed_sd=gamma.seed_sd)
    return found


def _judge(material: Material, condition: str, spec: ProbeSpec) -> _Judged:
    test = material.test
    probes = fit_condition(material, condition, spec)
    states = test.states(condition)
    chosen = probes.choices(states, test.n_options)
    own = test.examples.native[condition][test.rows]
    right, own_right = (chosen == test.target).astype(float), (own == test.target).astype(float)
    deltas = right - own_right
    probe, delta = (
        over_seeds(right, clusters=test.clusters, seed=None),
        over_seeds(deltas, clusters=test.clusters, seed=spec.seed),
    )
    logits = probes.logits(states)
    shuffled = shuffled_accuracy(
        lambda order: logits[:, order], n_options=test.n_options, target=test.target, seed=spec.seed
    )
    plan = plan_ids(test)
    row = ConditionRow(
        native=mean_estimate(own_right, clusters=test.clusters),
        native_first=mean_estimate(own == 0, clusters=test.clusters),
        probe=probe.estimate,
        probe_seed_sd=probe.seed_sd,
        probe_first=over_seeds(chosen == 0, clusters=test.clusters, seed=None).estimate,
        delta=delta.estimate,
        delta_seed_sd=delta.seed_sd,
        shuffled_probe=shuffled,
        shuffled_native=None if plan is None else _shuffled_native(test, states, plan, spec),
        reproduced=None if plan is None else _reproduced(states, plan, test, own),
        validation=probes.validation,
        best_epochs=probes.best_epochs,
    )
    return _Judged(row=row, deltas=deltas)


def _token_logits(states: NDArray[np.float32], plan: IDTokenPlan) -> NDArray[np.float32]:
    table = plan.table
    return apply_softcap(states @ table.rows.T + table.biases, table.softcap)


def _shuffled_native(test: Side, states: NDArray[np.float32], plan: IDTokenPlan, spec: ProbeSpec) -> Shuffled:
    tokens, places = _token_logits(states, plan), plan.of_examples
    return shuffled_accuracy(
        lambda order: id_logits(tokens[order], places), n_options=test.n_options, target=test.target, seed=spec.seed
    )


def _reproduced(states: NDArray[np.float32], plan: IDTokenPlan, test: Side, own: NDArray[np.int64]) -> float:
    logits = id_logits(_token_logits(states, plan), plan.of_examples)
    return float((masked_choice(logits, test.n_options) == own).mean())
