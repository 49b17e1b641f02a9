"""What `internals/*.json` of a run directory hold: probes, layers, retrained readouts, vocabulary by layer.

Knows rows and files. Fits nothing and needs no torch, so that summary and page can read what `vqaudit internals` found.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, Field, ValidationError

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.errors import RecordError
from vqaudit.records import write_text

__all__ = [
    "INTERNALS_FOLDER",
    "ConditionRow",
    "Fitting",
    "GammaRow",
    "Internals",
    "LayerGap",
    "LayerRow",
    "LayersFindings",
    "ProbeFindings",
    "ReadoutFindings",
    "ReadoutRow",
    "Shuffled",
    "VocabularyFindings",
    "VocabularyRow",
    "read_internals",
    "write_part",
]

INTERNALS_FOLDER = "internals"
_Row = TypeVar("_Row", bound=Row)


def _estimate(given: object) -> object:
    return Estimate(**given) if isinstance(given, dict) else given


ReadFigure = Annotated[Figure, BeforeValidator(_estimate)]
"""A figure that can be read back from its JSON."""


class Fitting(Row):
    """How something was fitted."""

    sentence: str
    """Where the examples come from, and how many there are."""
    train: int
    """Examples."""
    validation: int | None
    """None where nothing was selected."""
    test: int
    test_groups: int
    """Independent items among the test examples: the n of intervals."""
    seeds: int
    epochs: int
    rate: float
    decay: float
    batch: int
    seed: int
    layer: int | None = None
    """Number of the layer that the fit reads; None where it is several."""


class Shuffled(Row):
    """Accuracy where the states of the test examples are exchanged among one another."""

    accuracy: float
    """Mean over permutations, in [0, 1]."""
    low: float
    """2.5 % quantile over permutations."""
    high: float
    permutations: int


class ConditionRow(Row):
    """One condition: an interface, its own scores and its own probe on the same test trials."""

    native: ReadFigure
    """Accuracy of the model's own ID scores."""
    native_first: ReadFigure
    """Share of trials in which they choose the first position."""
    probe: ReadFigure
    """Accuracy of the probe, mean over seeds."""
    probe_seed_sd: float | None
    probe_first: ReadFigure
    delta: ReadFigure
    """Probe minus native, in [-1, 1] (paper 2, Eq. 5)."""
    delta_seed_sd: float | None
    shuffled_probe: Shuffled
    shuffled_native: Shuffled | None
    """None where an ID takes several tokens, so that its rows do not tell its score."""
    reproduced: float | None
    """Share of trials whose stored states give the position on record; below 1 only where scores tie up to
    rounding. None as above."""
    validation: tuple[float, ...]
    """By seed: validation accuracy of the kept checkpoint."""
    best_epochs: tuple[int, ...]


class GammaRow(Row):
    """How much more a probe recovers under one condition than under Direct."""

    gamma: ReadFigure
    """Delta of the condition minus Delta of Direct, in [-2, 2]."""
    seed_sd: float | None


class ProbeFindings(Row):
    """`internals/probe.json`."""

    version: int = 1
    fitting: Fitting
    direct: str | None
    """The condition that is paper 2's Direct."""
    chance: float
    """Mean over test trials of 1 / number of options: a random choice among those shown."""
    answer_first: ReadFigure
    """Share of test trials whose right option stands first."""
    conditions: dict[str, ConditionRow]
    gammas: dict[str, GammaRow]
    """Condition -> row; empty without Direct."""
    left_out: int
    """Test trials that not all conditions have."""
    sentences: tuple[str, ...] = ()


class LayerRow(Row):
    """One layer."""

    layer: int
    """0 is what enters the first block; the last is what the output embedding multiplies."""
    accuracy: dict[str, ReadFigure]
    """Condition -> accuracy of a probe of this layer, mean over seeds."""
    seed_sd: dict[str, float | None]


class LayerGap(Row):
    """Direct minus a condition at one layer (paper 2, Eq. 9)."""

    layer: int
    gap: ReadFigure


class LayersFindings(Row):
    """`internals/layers.json`."""

    version: int = 1
    fitting: Fitting
    direct: str | None
    chance: float
    layers: list[LayerRow]
    gaps: dict[str, list[LayerGap]]
    """Condition -> G(l) by layer."""
    sentences: tuple[str, ...] = ()


class ReadoutRow(Row):
    """One condition before and after the readout was retrained."""

    before: ReadFigure
    after: ReadFigure
    change: ReadFigure
    """After minus before, in [-1, 1]."""
    seed_sd: float | None


class ReadoutFindings(Row):
    """`internals/readout.json`."""

    version: int = 1
    fitting: Fitting
    rank: int
    tokens: int
    """Rows of the output embedding that change: those of the IDs, in every spelling."""
    retrained: dict[str, dict[str, ReadoutRow]]
    """What it was trained on -> condition that is scored -> row."""
    files: dict[str, str]
    """What it was trained on -> file with the merged rows of the first seed."""
    sentences: tuple[str, ...] = ()


class VocabularyRow(Row):
    """One layer under one condition, read through the model's own final norm and output embedding."""

    layer: int
    id_mass: ReadFigure
    """Probability of the shown IDs over the whole vocabulary."""
    watch_mass: ReadFigure | None
    """Probability of the watched words' first tokens."""
    right_rank: ReadFigure
    """Mean rank of the right ID's most probable spelling in the whole vocabulary, from 1: no share."""
    right_probability: ReadFigure
    """Probability of the right ID among those shown."""


class VocabularyFindings(Row):
    """`internals/vocabulary.json`: nothing is fitted."""

    version: int = 1
    trials: int
    conditions: dict[str, list[VocabularyRow]]
    sentences: tuple[str, ...] = ()


class Internals(Row):
    """What a run's `internals/` holds; None for what was not studied."""

    probe: ProbeFindings | None = None
    layers: LayersFindings | None = None
    readout: ReadoutFindings | None = None
    vocabulary: VocabularyFindings | None = None
    reasons: dict[str, str] = Field(default_factory=dict)
    """Part -> why it is not there."""

    @property
    def known(self) -> bool:
        """Whether there is anything."""
        return any(part is not None for part in (self.probe, self.layers, self.readout, self.vocabulary))


def write_part(run: Path, name: str, findings: Row) -> Path:
    """Writes one part as `internals/NAME.json`, whole, and returns its path."""
    path = run / INTERNALS_FOLDER / f"{name}.json"
    write_text(path, findings.model_dump_json(indent=1) + "\n")
    return path


def read_internals(run: Path) -> Internals:
    """Returns what `vqaudit internals` found in a run; parts that were not studied are None.

    Raises:
        RecordError: A file is damaged or of another version.

    Example:
        >>> read_internals(Path("runs/none")).known
        False
    """
    return Internals(
        probe=_read(run, "probe", ProbeFindings),
        layers=_read(run, "layers", LayersFindings),
        readout=_read(run, "readout", ReadoutFindings),
        vocabulary=_read(run, "vocabulary", VocabularyFindings),
    )


def _read(run: Path, name: str, kind: type[_Row]) -> _Row | None:
    path = run / INTERNALS_FOLDER / f"{name}.json"
    if not path.exists():
        return None
    try:
        return kind.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise RecordError(f"{path} cannot be read: {error}; run `vqaudit internals` again") from error
