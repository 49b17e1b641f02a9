"""Figures of a randomised design: a mean over drawn trials, and how far the draw or the items can have moved it.

Knows arrays of outcomes by item and draw, and in which stratum (format) each was drawn. Knows no trial and no table.
Every function takes leading axes, so that thousands of repeats of a design are one call; a summary has none.

Two questions have two variances. *Items like these*: items are a sample, so clusters of items vary. *This dataset*:
items are fixed and only the draw is random. In both, blocks of a permuted design hold every format once, so that
differences between formats are no error, and what counts is how outcomes vary within a format.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from vqaudit.analysis.intervals import Floats

__all__ = [
    "FEWEST_PER_STRATUM",
    "Drawn",
    "Interval",
    "Question",
    "difference_interval",
    "items_variance",
    "mean_interval",
    "weigh",
    "within_item_variance",
    "within_stratum_variance",
]

Ints = NDArray[np.intp]

FEWEST_PER_STRATUM = 3
"""Outcomes per stratum that a variance within strata needs; below, strata are collapsed."""
_NOTHING = 1e-18
"""Squared residuals below this are rounding: those of an item that the model fits exactly."""


class Drawn(NamedTuple):
    """Outcomes of a randomised design."""

    values: Floats
    """(..., items, draws): in [0, 1], or [-1, 1] for differences; NaN where there is none."""
    strata: Ints
    """Same shape: number of the stratum (format) that the outcome was drawn in."""
    strata_count: int
    """How many strata the design draws from."""
    clusters: Ints
    """(items,): which items depend on one another."""


class Question(NamedTuple):
    """A mean and its variance, as an interval needs them."""

    value: Floats
    variance: Floats
    units: Floats
    """Independent units behind it: clusters of items, or draws."""
    freedom: Floats
    """Degrees of freedom of the variance."""
    doubt: Floats
    """How little the variance is to be trusted, in [0, 1]: 1 where nothing varied."""
    largest: Floats
    """Largest absolute value of a unit's mean."""


class Interval(NamedTuple):
    """Bounds by question."""

    low: Floats
    high: Floats
    standard_error: Floats
    p_value: Floats
    """Two-sided, of a mean of 0; for differences alone, else NaN."""


def weigh(values: Floats, *, by_item: bool) -> Floats:
    """Returns what each outcome counts for in the mean: the same sum for every item, or the same for every draw.

    Example:
        >>> weigh(np.array([[1.0, 0.0], [1.0, np.nan]]), by_item=True).tolist()
        [[0.25, 0.25], [0.5, 0.0]]
    """
    known = np.isfinite(values)
    if not by_item:
        return known / known.sum(axis=(-2, -1), keepdims=True)
    per_item = known.sum(axis=-1, keepdims=True)
    items = (per_item > 0).sum(axis=-2, keepdims=True)
    return known / np.maximum(per_item, 1) / items


def items_variance(drawn: Drawn, weights: Floats) -> Question:
    """Returns the mean and its variance when clusters of items are drawn again with their formats.

    A stratified sample by format (Cochran 1977, eq. 5.7: the variance within strata), robust to clusters: squares
    of the weighted residual sums of clusters. Residuals are divided by the root of one minus their leverage (HC2,
    MacKinnon & White 1985), so that the estimate is unbiased for single draws however formats differ.
    """
    residuals = _residuals(drawn)
    moved = _by_cluster((weights * residuals).sum(axis=-1), drawn.clusters)
    whole = _by_cluster((weights * np.nan_to_num(drawn.values)).sum(axis=-1), drawn.clusters)
    mass = _by_cluster(weights.sum(axis=-1), drawn.clusters)
    units = (mass > 0).sum(axis=-1).astype(float)
    trials = np.isfinite(drawn.values).sum(axis=(-2, -1))
    # leverage makes up for 1 / trials; what clusters lose beyond that is added
    inflation = (1 - 1 / trials) / (1 - 1 / np.maximum(units, 2))
    variance = (moved**2).sum(axis=-1) * inflation + _imbalance(drawn, weights)
    return Question(
        value=_total(drawn, weights),
        variance=variance,
        units=units,
        freedom=np.maximum(1.0, np.minimum(units - 1, trials - drawn.strata_count)),
        doubt=np.maximum(_doubt(np.abs(whole)), _doubt(np.maximum(mass - whole, 0))),
        largest=np.abs(np.divide(whole, mass, out=np.zeros_like(whole), where=mass > 0)).max(axis=-1),
    )


def within_stratum_variance(drawn: Drawn, weights: Floats) -> Question:
    """Returns the mean and an upper estimate of its variance when only the draw is repeated.

    The variance within formats, as of a stratified sample: what items differ in among themselves is counted as if
    the draw had chosen them. It is not below the true variance in expectation (a permutation within blocks spares
    the items' own variance; Hoeffding 1951, theorem 2), and needs one draw per item alone.
    """
    residuals = _residuals(drawn)
    known = np.isfinite(drawn.values)
    trials = known.sum(axis=(-2, -1)).astype(float)
    parts = np.nan_to_num(drawn.values).reshape(*drawn.values.shape[:-2], -1)
    return Question(
        value=_total(drawn, weights),
        variance=((weights * residuals) ** 2).sum(axis=(-2, -1)) + _imbalance(drawn, weights),
        units=trials,
        freedom=np.maximum(1.0, trials - drawn.strata_count),
        doubt=np.maximum(_doubt(np.abs(parts)), _doubt(known.reshape(parts.shape) - parts)),
        largest=np.ones_like(trials),
    )


def within_item_variance(drawn: Drawn, weights: Floats) -> Question:
    """Returns the mean and its variance when only the draw is repeated, from items with two draws or more.

    The residual variance of the additive model item + format, fitted by least squares: draws of an item are
    independent of one another, and a permutation within blocks leaves nothing but the part that is neither the
    item's nor the format's (Hoeffding 1951, theorem 2).
    """
    known = np.isfinite(drawn.values)
    per_item = known.sum(axis=-1)
    residuals = _two_way_residuals(drawn)
    trials = known.sum(axis=(-2, -1)).astype(float)
    freedom = trials - (per_item > 0).sum(axis=-1) - (drawn.strata_count - 1)
    squares = (residuals**2).sum(axis=-1)
    spread = squares.sum(axis=-1) / np.maximum(freedom, 1.0)
    return Question(
        value=_total(drawn, weights),
        variance=spread * (weights**2).sum(axis=(-2, -1)) + _imbalance(drawn, weights),
        units=trials,
        freedom=np.maximum(1.0, freedom),
        doubt=_doubt(np.where(squares > _NOTHING, squares, 0.0)),
        largest=np.ones_like(trials),
    )


def mean_interval(question: Question, *, level: float = 0.95) -> Interval:
    """Returns Wilson's interval at the number of independent yes-or-no trials that have the question's variance.

    It stays in [0, 1] and has no zero width. Where little is known of the variance it is drawn towards that of
    independent units, as in `intervals.mean_bounds`.
    """
    share = np.clip(question.value, 0.0, 1.0)
    edge = np.minimum(share, 1 - share) < 1e-9
    binomial = np.where(edge, 0.25, share * (1 - share))
    z = float(ndtri((1 + level) / 2))
    widening = (stdtrit(question.freedom, (1 + level) / 2) / z) ** 2
    doubt = np.where(edge, 1.0, question.doubt)
    inverse = doubt / question.units + (1 - doubt) * widening * question.variance / binomial
    shift = z * z * inverse
    centre = (share + shift / 2) / (1 + shift)
    half = z * np.sqrt(share * (1 - share) * inverse + (z * inverse / 2) ** 2) / (1 + shift)
    low = np.where(share < 1e-9, 0.0, np.maximum(0.0, centre - half))
    high = np.where(share > 1 - 1e-9, 1.0, np.minimum(1.0, centre + half))
    return Interval(low, high, np.sqrt(question.variance), np.full_like(low, np.nan))


def difference_interval(question: Question, *, level: float = 0.95) -> Interval:
    """Returns the interval of Bonett & Price (2012) with the question's variance, and its p-value.

    Two pseudo-units of `+d` and `-d` are added; `d` is the largest mean difference that a unit shows, drawn
    towards 1 where little is known, as in `intervals.difference_bounds`.
    """
    units = question.units
    pseudo = question.doubt + (1 - question.doubt) * question.largest
    centre = question.value * units / (units + 2)
    squares = units**2 * question.variance + 2 * (pseudo**2 + centre**2)
    error = np.sqrt(squares) / (units + 2)
    widening = stdtrit(question.freedom, (1 + level) / 2) / float(ndtri((1 + level) / 2))
    half = float(ndtri((1 + level) / 2)) * widening * error
    p_value = 2 * ndtr(-np.abs(centre) / (error * widening))
    return Interval(np.maximum(-1.0, centre - half), np.minimum(1.0, centre + half), error, p_value)


def _total(drawn: Drawn, weights: Floats) -> Floats:
    return (weights * np.nan_to_num(drawn.values)).sum(axis=(-2, -1))


def _cells(drawn: Drawn) -> Ints:
    """Strata numbered apart for every repeat, so that one count serves all of them."""
    lead = drawn.values.shape[:-2]
    repeats = int(np.prod(lead, dtype=np.int64))
    flat = drawn.strata.reshape(repeats, -1)
    return (flat + drawn.strata_count * np.arange(repeats)[:, None]).reshape(-1)


def _sums(cells: Ints, values: Floats, drawn: Drawn) -> Floats:
    lead = drawn.values.shape[:-2]
    size = int(np.prod(lead, dtype=np.int64)) * drawn.strata_count
    return np.bincount(cells, values.reshape(-1), size).astype(np.float64)


def _residuals(drawn: Drawn) -> Floats:
    """Outcome minus the mean of its stratum, over the root of one minus its leverage; 0 where there is none.

    The only outcome of a stratum is held against the mean of all, which counts too much rather than too little.
    """
    known = np.isfinite(drawn.values)
    filled = np.nan_to_num(drawn.values)
    cells = _cells(drawn)
    sizes = _sums(cells, known.astype(float), drawn)[cells].reshape(filled.shape)
    means = _sums(cells, filled, drawn)[cells].reshape(filled.shape) / np.maximum(sizes, 1)
    trials = known.sum(axis=(-2, -1), keepdims=True)
    overall = filled.sum(axis=(-2, -1), keepdims=True) / trials
    alone = sizes < 2
    leverage = np.where(alone, 1 / np.maximum(trials, 2), 1 / np.maximum(sizes, 2))
    return known * (filled - np.where(alone, overall, means)) / np.sqrt(1 - leverage)


def _imbalance(drawn: Drawn, weights: Floats) -> Floats:
    """Variance that strata bring in where the last block is not whole: their spread times how uneven they are.

    The spread is that of the strata's means less what sampling alone makes of it.
    """
    lead = drawn.values.shape[:-2]
    known = np.isfinite(drawn.values)
    cells = _cells(drawn)
    shape = (*lead, drawn.strata_count)
    mass = _sums(cells, weights, drawn).reshape(shape)
    sizes = _sums(cells, known.astype(float), drawn).reshape(shape)
    filled = np.nan_to_num(drawn.values)
    means = _sums(cells, filled, drawn).reshape(shape) / np.maximum(sizes, 1)
    squares = _sums(cells, filled**2, drawn).reshape(shape) / np.maximum(sizes, 1)
    seen = sizes > 1
    strata = np.maximum(seen.sum(axis=-1), 1)
    centre = np.where(seen, means, 0).sum(axis=-1) / strata
    between = np.where(seen, (means - centre[..., None]) ** 2, 0).sum(axis=-1) / np.maximum(strata - 1, 1)
    noise = np.where(seen, (squares - means**2) / np.maximum(sizes - 1, 1), 0).sum(axis=-1) / strata
    uneven = ((mass - 1 / drawn.strata_count) ** 2).sum(axis=-1)
    return np.maximum(between - noise, 0) * uneven


def _two_way_residuals(drawn: Drawn) -> Floats:
    """Residuals of item + stratum by least squares; the strata's effects solve the items' normal equations."""
    known = np.isfinite(drawn.values)
    per_item = np.maximum(known.sum(axis=-1, keepdims=True), 1)
    filled = np.nan_to_num(drawn.values)
    centred = known * (filled - filled.sum(axis=-1, keepdims=True) / per_item)
    lead, count = drawn.values.shape[:-2], drawn.strata_count
    cells = _cells(drawn)
    right = _sums(cells, centred, drawn).reshape(*lead, count)
    sizes = _sums(cells, known.astype(float), drawn).reshape(*lead, count)
    matrix = _normal_matrix(drawn, known, per_item, sizes)
    effects = np.linalg.solve(matrix, right[..., None])[..., 0].reshape(-1)[cells].reshape(filled.shape)
    fitted = known * effects
    return centred - known * (fitted - fitted.sum(axis=-1, keepdims=True) / per_item)


def _normal_matrix(drawn: Drawn, known: NDArray[np.bool_], per_item: Ints, sizes: Floats) -> Floats:
    lead, count = drawn.values.shape[:-2], drawn.strata_count
    repeats = int(np.prod(lead, dtype=np.int64))
    base = (count * count * np.arange(repeats)).reshape(*lead, 1)
    together = np.zeros(repeats * count * count)
    for first in range(drawn.values.shape[-1]):
        for second in range(drawn.values.shape[-1]):
            codes = base + drawn.strata[..., first] * count + drawn.strata[..., second]
            shared = known[..., first] * known[..., second] / per_item[..., 0]
            together += np.bincount(codes.reshape(-1), shared.reshape(-1), together.size)
    matrix = -together.reshape(*lead, count, count)
    places = np.arange(count)
    matrix[..., places, places] += sizes
    # effects are told up to a constant, and a stratum that was never drawn has none: both are set to 0
    return matrix + 1.0 / count + 1e-9 * np.eye(count)


def _by_cluster(values: Floats, clusters: Ints) -> Floats:
    names, codes = np.unique(clusters, return_inverse=True)
    if names.size == clusters.size:
        return values
    rows = values.reshape(-1, clusters.size)
    cells = (codes.reshape(-1) + names.size * np.arange(rows.shape[0])[:, None]).reshape(-1)
    sums = np.bincount(cells, rows.reshape(-1), rows.shape[0] * names.size).astype(np.float64)
    return sums.reshape(*values.shape[:-1], names.size)


def _doubt(parts: Floats) -> Floats:
    """How little is known of a variance that rests on few units; see `intervals._doubt`."""
    squares = (parts**2).sum(axis=-1)
    carriers = np.divide(parts.sum(axis=-1) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)
    return 1 / (1 + (carriers / 2) ** 2)
