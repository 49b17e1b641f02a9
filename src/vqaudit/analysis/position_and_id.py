"""Does a model prefer a place or a name: position preference apart from ID preference.

Knows trials whose IDs stand in several orders. Where IDs stand in their natural order alone, a position and its ID
are the same thing, and neither preference is identified.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from vqaudit.analysis.designs import SCRAMBLED, completeness, main_interface, trials_of
from vqaudit.analysis.effects.coding import Coded, Factor, Ints
from vqaudit.analysis.effects.linear import LinearFit, contrast, deviations, fit_linear, joint_p_value
from vqaudit.analysis.estimates import PairedEstimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.grouped import item_mean, paired_means
from vqaudit.analysis.id_scores import order_array, with_orders
from vqaudit.analysis.linearised import linearised_difference
from vqaudit.analysis.mitigation.material import Material
from vqaudit.analysis.selection import position_trials
from vqaudit.errors import AnalysisError

__all__ = ["PositionAndID", "PreferenceOf", "PreferenceTable", "position_and_id"]

ALPHA = 0.05
NATURAL_ONLY = (
    "position and ID are told apart only over several ID orders; in this run every ID stands at its natural position: "
    "add the design scrambled-ids"
)


class PreferenceOf(Row):
    """One position, or one ID."""

    name: str
    """The position from 0, or the ID as shown."""
    preference: Figure
    """How much more often it is chosen than the mean of all, content and the other of the two being equal, in
    [-1, 1]."""


class PreferenceTable(Row):
    """Items of one number of options."""

    options: int
    items: int
    trials: int
    positions: list[PreferenceOf]
    ids: list[PreferenceOf]
    position_p_value: float | None
    """Of no position preference at all."""
    id_p_value: float | None
    additivity_p_value: float | None
    """Of: under natural IDs, choices are what the two preferences add up to. None where nothing is left to test
    (two options)."""


class PositionAndID(Row):
    """Position preference and ID preference, and whether they add up."""

    interface: str
    formats: list[str]
    tables: list[PreferenceTable]
    """One per number of options, most items first."""
    natural_accuracy: Figure
    scrambled_accuracy: Figure
    natural_minus_scrambled: Figure
    """Paired by item, in [-1, 1]: what it costs that IDs stand out of order."""
    sentence: str


class _Slots(NamedTuple):
    """One row per trial and position."""

    chosen: Ints
    position: Ints
    id_index: Ints
    content: Ints
    """Number of the (item, option): an option's own pull."""
    natural: Ints
    clusters: Ints


def position_and_id(material: Material) -> PositionAndID:
    """Returns how much a model prefers positions and IDs, each with the other and the content held equal.

    Model, per trial and position: P(chosen) = option + position + ID, by least squares with every option of every
    item absorbed; deviations from the mean over positions (IDs); errors clustered by item. It rests on additivity,
    which is tested: choices under natural IDs must be what the two preferences add up to.

    Args:
        material: A run with trials of the design `scrambled-ids`.

    Raises:
        AnalysisError: IDs stand in natural order only, or the preferences cannot be told apart.
    """
    trials, interface = _trials(material)
    tables = [_table(material, trials, int(count)) for count in _by_size(trials)]
    natural = trials.filter("natural_ids")
    scrambled = trials.filter(~pl.col("natural_ids"))
    gap = paired_means(natural, scrambled, "right")
    return PositionAndID(
        interface=interface,
        formats=sorted(trials["format"].cast(pl.String).unique()),
        tables=tables,
        natural_accuracy=item_mean(natural, "right"),
        scrambled_accuracy=item_mean(scrambled, "right"),
        natural_minus_scrambled=gap,
        sentence=_sentence(tables, gap),
    )


def _trials(material: Material) -> tuple[pl.DataFrame, str]:
    rows = material.plan.filter(pl.col("design") == SCRAMBLED)
    if not rows.height:
        raise AnalysisError(NATURAL_ONLY)
    interface = main_interface(rows, SCRAMBLED)
    rows = rows.filter(pl.col("interface") == interface)
    if (complaint := completeness(material.frame, rows).complaint) is not None:
        raise AnalysisError(complaint)
    kept = position_trials(trials_of(material.frame, rows)).filter(pl.col("format").is_not_null())
    trials = with_orders(material.tables, kept).filter(pl.col("natural_ids").is_not_null())
    if not trials.height or trials["natural_ids"].all():
        raise AnalysisError(NATURAL_ONLY)
    return trials, interface


def _by_size(trials: pl.DataFrame) -> list[int]:
    counts = trials.group_by("n_options").agg(pl.col("item_code").n_unique().alias("items"))
    return counts.sort(["items", "n_options"], descending=[True, False])["n_options"].to_list()


def _table(material: Material, trials: pl.DataFrame, options: int) -> PreferenceTable:
    own = trials.filter(pl.col("n_options") == options)
    slots = _slots(material, own, options)
    labels = _labels(material, own, options)
    coded = _coded(slots, options)
    fit = fit_linear(coded)
    position, id_ = coded.factors
    return PreferenceTable(
        options=options,
        items=own["item_code"].n_unique(),
        trials=own.height,
        positions=_preferences(coded, fit, position, [str(place) for place in range(options)], own.height),
        ids=_preferences(coded, fit, id_, labels, own.height),
        position_p_value=joint_p_value(coded, fit, position),
        id_p_value=joint_p_value(coded, fit, id_),
        additivity_p_value=_additivity(slots, options),
    )


def _slots(material: Material, trials: pl.DataFrame, options: int) -> _Slots:
    orders = order_array(material.tables, trials, "order")[:, :options]
    ids = order_array(material.tables, trials, "id_order")[:, :options]
    positions = np.broadcast_to(np.arange(options), orders.shape)
    picked = pl.when(pl.col("answered")).then(pl.col("position")).fill_null(-1).cast(pl.Int64)
    chosen = trials.select(picked.alias("_chosen")).to_series().to_numpy()[:, None] == positions
    items = np.unique(trials["item_code"].to_numpy(), return_inverse=True)[1].reshape(-1, 1)
    clusters = np.unique(trials["cluster_code"].to_numpy(), return_inverse=True)[1].reshape(-1, 1)
    natural = trials["natural_ids"].cast(pl.Int64).to_numpy()[:, None]
    return _Slots(
        chosen=chosen.astype(np.intp).reshape(-1),
        position=positions.reshape(-1).astype(np.intp),
        id_index=ids.reshape(-1).astype(np.intp),
        content=(items * options + orders).reshape(-1).astype(np.intp),
        natural=np.broadcast_to(natural, orders.shape).reshape(-1).astype(np.intp),
        clusters=np.broadcast_to(clusters, orders.shape).reshape(-1).astype(np.intp),
    )


def _coded(slots: _Slots, options: int, *, natural: bool = False) -> Coded:
    """Returns the slots for the linear model; with `natural`, natural orders may differ from the rest by position."""
    names = tuple(str(place) for place in range(options))
    factors = [
        Factor(name="position", levels=names, codes=slots.position),
        Factor(name="ID", levels=names, codes=slots.id_index),
    ]
    if natural:
        # the share of trials that choose nothing may differ too; it is no preference, and not what is tested
        factors.append(Factor(name="natural", levels=("no", "yes"), codes=slots.natural))
        codes = np.where(slots.natural > 0, slots.position, 0)
        factors.append(Factor(name="natural position", levels=names, codes=codes))
    size = slots.chosen.size
    return Coded(
        right=slots.chosen.astype(np.float64),
        weights=np.full(size, 1 / size),
        factors=tuple(factors),
        absorbed=slots.content,
        clusters=slots.clusters,
        items=slots.content,
        sizes=Factor(name="n_options", levels=(str(options),), codes=np.zeros(size, dtype=np.intp)),
    )


def _preferences(coded: Coded, fit: LinearFit, factor: Factor, names: list[str], trials: int) -> list[PreferenceOf]:
    rows = []
    for name, combination in zip(names, deviations(coded, factor), strict=True):
        value, moved = contrast(fit, combination, coded.clusters)
        sizes = np.bincount(coded.clusters, coded.weights, moved.size).astype(np.float64)
        bounded = min(1.0, max(-1.0, value))
        figure: PairedEstimate = linearised_difference(bounded, moved, sizes, trials=trials)
        rows.append(PreferenceOf(name=name, preference=figure))
    return rows


def _labels(material: Material, trials: pl.DataFrame, options: int) -> list[str]:
    """The IDs as shown where one ID set was used, else their places in their sets, from 0."""
    if trials["id_set"].n_unique() != 1:
        return [str(place) for place in range(options)]
    first = trials.filter("natural_ids").select("trial").head(1)
    shown = first.join(material.tables.trials.select("trial", "option_ids"), on="trial")["option_ids"].to_list()
    return list(shown[0]) if shown and shown[0] else [str(place) for place in range(options)]


def _additivity(slots: _Slots, options: int) -> float | None:
    coded = _coded(slots, options, natural=True)
    try:
        fit = fit_linear(coded)
    except AnalysisError:
        # two options leave as many preferences as cells: whatever is chosen adds up
        return None
    return joint_p_value(coded, fit, coded.factors[-1])


def _sentence(tables: list[PreferenceTable], gap: PairedEstimate) -> str:
    tests = [table.additivity_p_value for table in tables if table.additivity_p_value is not None]
    differ = any(value < ALPHA / len(tests) for value in tests)
    if gap.p_value is not None and gap.p_value < ALPHA and gap.value is not None:
        way = "lower" if gap.value > 0 else "higher"
        told = f"accuracy is {100 * abs(gap.value):.1f} pp {way} where IDs stand out of order"
    else:
        told = "accuracy does not tell natural from scrambled ID orders"
    if not tests:
        return f"{told}; whether the preferences add up cannot be tested"
    if differ:
        return (
            f"{told}; under natural IDs the model chooses otherwise than position and ID preference add up to: "
            "read them as averages over both kinds of order"
        )
    return f"{told}; nothing speaks against position and ID preference adding up"
