"""What is inside: probes, layers, retrained readouts, read from the hidden states that a run directory keeps.

Knows states and records; torch is loaded when something is fitted. Knows no model, no dataset and no prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from vqaudit.errors import EngineUnavailable
from vqaudit.internals.spec import PARTS, Part, ProbeSpec

if TYPE_CHECKING:
    from vqaudit.analysis.internals import Internals
    from vqaudit.internals.material import Sources

__all__ = ["PARTS", "Part", "ProbeSpec", "Sources", "study_internals"]


def __getattr__(name: str) -> object:
    """Loads `Sources` on first use."""
    if name == "Sources":
        from vqaudit.internals.material import Sources

        return Sources
    raise AttributeError(f"module 'vqaudit.internals' has no attribute {name!r}")


def study_internals(
    sources: Sources,
    *,
    spec: ProbeSpec | None = None,
    parts: tuple[Part, ...] = PARTS,
    starting: Callable[[], object] | None = None,
) -> Internals:
    """Fits what is asked for, writes `internals/*.json` into the run directory, and returns what was found.

    Args:
        sources: The run, and where training and validation examples come from.
        spec: Seeds, epochs and rates; None = paper 2's.
        parts: `probe`, `layers`, `readout`, `vocabulary`.
        starting: Called once the records are read and found to suffice, before the first fit; not where
            nothing is fitted (`vocabulary`).

    Raises:
        AnalysisError: There are too few examples, or a training run does not fit the run.
        EngineUnavailable: torch is not installed.
        RecordError: A run keeps no states.

    Example:
        >>> from pathlib import Path
        >>> from vqaudit.internals import Sources, study_internals
        >>> sources = Sources(run=Path("runs/test"), train=Path("runs/train"))
        >>> found = study_internals(sources, parts=("probe",))  # doctest: +SKIP
    """
    if find_spec("torch") is None:
        raise EngineUnavailable("fitting probes", extra="local")
    from vqaudit.internals.study import study

    return study(sources, spec or ProbeSpec(), parts, starting=starting)
