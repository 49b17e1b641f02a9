"""Which examples a fit learns from, which select its checkpoint, and which it is judged by.

Knows examples and their groups. Knows no fit. No group of items is on two sides, and test examples are never used to
fit or to select.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vqaudit.errors import AnalysisError
from vqaudit.internals.examples import Examples, load_examples
from vqaudit.records import RunTables

__all__ = ["Material", "Side", "Sources", "make_material"]

FEWEST = {"training": 100, "validation": 30, "test": 30}
"""Groups of items that each side needs: below them a fit, its selection or its accuracy is noise."""
_SHARES = (0.6, 0.2)
"""Of one run's groups: for training and for validation; the rest is for testing."""
_VALIDATION_SHARE = 0.15
"""Of a training run's groups, where no validation run is given."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Run directories.

    Example:
        >>> Sources(run=Path("runs/test")).train is None
        True
    """

    run: Path
    """Whose figures are told."""
    train: Path | None = None
    """Where training examples come from; None: a part of the run itself, by groups of items."""
    validation: Path | None = None
    """Where the examples come from that select checkpoints; None: a part of the training examples."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """Some rows of some examples."""

    examples: Examples
    rows: Ints

    @property
    def target(self) -> Ints:
        """Positions of the right options."""
        return self.examples.target[self.rows]

    @property
    def n_options(self) -> Ints:
        """Options of each row."""
        return self.examples.n_options[self.rows]

    @property
    def clusters(self) -> Ints:
        """Group of each row."""
        return self.examples.clusters[self.rows]

    @property
    def n_groups(self) -> int:
        """How many groups of items there are."""
        return int(np.unique(self.clusters).size)

    def states(self, condition: str, layer: int | None = None) -> NDArray[np.float32]:
        """Returns states: rows x width."""
        return self.examples.states(condition, layer)[self.rows]


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """The three sides of a fit."""

    train: Side
    validation: Side
    test: Side
    sentence: str
    """Where they come from, and how many there are."""


def make_material(sources: Sources, *, seed: int, most_train: int) -> Material:
    """Returns the sides of a fit.

    Args:
        sources: Run directories.
        seed: Of the division into groups.
        most_train: Training examples at most; more are left out at random, whole examples.

    Raises:
        AnalysisError: A side is too small, the runs are of two models, or an item of the run is trained on.
    """
    test = load_examples(RunTables.load(sources.run))
    rng = np.random.default_rng(seed)
    if sources.train is None:
        train, validation, tested = _divided(test.clusters, _SHARES, rng)
        sides = [Side(examples=test, rows=rows) for rows in (train, validation, tested)]
        source = "one run, divided by groups of items"
    else:
        sides = [*_outer_sides(sources, test, rng), Side(examples=test, rows=np.arange(len(test)))]
        source = f"trained on {sources.train.name}, tested on all of {sources.run.name}"
    if len(sides[0].rows) > most_train:
        kept = np.sort(rng.permutation(len(sides[0].rows))[:most_train])
        sides[0] = Side(examples=sides[0].examples, rows=sides[0].rows[kept])
    for name, side in zip(FEWEST, sides, strict=True):
        _check_size(name, side, sources)
    counts = ", ".join(
        f"{len(side.rows):,} {name} examples ({side.n_groups:,} groups)"
        for name, side in zip(FEWEST, sides, strict=True)
    )
    return Material(train=sides[0], validation=sides[1], test=sides[2], sentence=f"{source}: {counts}")


def _outer_sides(sources: Sources, test: Examples, rng: np.random.Generator) -> list[Side]:
    assert sources.train is not None
    train = load_examples(RunTables.load(sources.train), test.conditions)
    _check_fit(train, test)
    if sources.validation is None:
        fitted, selecting, _ = _divided(train.clusters, (1 - _VALIDATION_SHARE, _VALIDATION_SHARE), rng)
        return [Side(examples=train, rows=fitted), Side(examples=train, rows=selecting)]
    other = load_examples(RunTables.load(sources.validation), test.conditions)
    _check_fit(other, test)
    _check_apart(train, other)
    return [Side(examples=one, rows=np.arange(len(one))) for one in (train, other)]


def _divided(clusters: Ints, shares: Sequence[float], rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Rows by groups, in a seeded order of the groups."""
    groups = rng.permutation(np.unique(clusters))
    cuts = np.round(np.cumsum(shares) * groups.size).astype(int)
    first, second, rest = np.split(groups, cuts)
    return tuple(np.flatnonzero(np.isin(clusters, part)) for part in (first, second, rest))  # pyright: ignore[reportReturnType]


def _check_size(name: str, side: Side, sources: Sources) -> None:
    fewest = FEWEST[name]
    if side.n_groups < fewest:
        advice = "give --train RUN with items of their own" if sources.train is None else "ask more items"
        raise AnalysisError(
            f"{side.examples.tables.path}: {side.n_groups} independent items are left for {name}, and {fewest} are "
            f"needed; {advice}"
        )


def _check_fit(train: Examples, test: Examples) -> None:
    """Refuses training states of another model, or of items that are tested."""
    one, other = (e.tables.manifest.engine.get("identity") for e in (train, test))
    if one != other:
        raise AnalysisError(
            f"{train.tables.path} and {test.tables.path} are of two models (or dtypes, or chat templates); "
            "states can only be learnt from the same"
        )
    _check_apart(train, test)


def _check_apart(one: Examples, other: Examples) -> None:
    """No question with the same options and pictures stands in both; item names may repeat, contents may not."""
    shared = _contents(one) & _contents(other)
    if shared:
        question = sorted(shared)[0][0]
        raise AnalysisError(
            f"{len(shared)} items of {other.tables.path} are in {one.tables.path} too, such as {question!r}; "
            "take them out of one"
        )


def _contents(examples: Examples) -> set[tuple[str, ...]]:
    columns = examples.tables.items.select("item", "question", "options", "images")
    used = set(examples.items)
    return {
        (question or "", *sorted(options or ()), *(image or "" for image in images or ()))
        for item, question, options, images in columns.iter_rows()
        if item in used
    }
