"""Where in the network an answer can be read: a probe of every kept layer (paper 2, Eq. 9 and Fig. 3).

Knows layers and probes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.internals import LayerGap, LayerRow, LayersFindings
from vqaudit.internals.bootstrap import OverSeeds, over_seeds
from vqaudit.internals.material import Material
from vqaudit.internals.recovery import describe_fit, fit_condition
from vqaudit.internals.spec import ProbeSpec

__all__ = ["layers_findings"]

Floats = NDArray[np.float64]


def layers_findings(material: Material, spec: ProbeSpec) -> LayersFindings:
    """Fits probes of every kept layer under every condition, and G(l), Direct minus each condition, paired by trial."""
    test = material.test
    direct, names = test.examples.direct, test.examples.conditions
    rows: list[LayerRow] = []
    gaps: dict[str, list[LayerGap]] = {name: [] for name in names if direct is not None and name != direct}
    for layer in test.examples.layers:
        right = {name: _right(material, name, spec, layer) for name in names}
        found = {name: over_seeds(table, clusters=test.clusters, seed=None) for name, table in right.items()}
        rows.append(_row(layer, found))
        for name, parts in gaps.items():
            assert direct is not None
            gap = over_seeds(right[direct] - right[name], clusters=test.clusters, seed=spec.seed)
            parts.append(LayerGap(layer=layer, gap=gap.estimate))
    return LayersFindings(
        fitting=describe_fit(material, spec, layer=None),
        direct=direct,
        chance=float((1 / test.n_options).mean()),
        layers=rows,
        gaps=gaps,
    )


def _row(layer: int, found: dict[str, OverSeeds]) -> LayerRow:
    return LayerRow(
        layer=layer,
        accuracy={name: one.estimate for name, one in found.items()},
        seed_sd={name: one.seed_sd for name, one in found.items()},
    )


def _right(material: Material, condition: str, spec: ProbeSpec, layer: int) -> Floats:
    probes = fit_condition(material, condition, spec, layer)
    test = material.test
    chosen = probes.choices(test.states(condition, layer), test.n_options)
    return (chosen == test.target).astype(float)
