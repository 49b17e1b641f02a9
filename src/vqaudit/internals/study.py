"""All parts of a study of internals, one after the other, each written when it is known.

Knows who computes what. Computes nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable

from vqaudit.analysis.figures import Row
from vqaudit.analysis.internals import Internals, read_internals, write_part
from vqaudit.errors import AnalysisError
from vqaudit.internals.examples import load_examples
from vqaudit.internals.layers import layers_findings
from vqaudit.internals.material import Material, Sources, make_material
from vqaudit.internals.readout import readout_findings
from vqaudit.internals.recovery import probe_findings
from vqaudit.internals.sentences import with_sentences
from vqaudit.internals.spec import Part, ProbeSpec
from vqaudit.internals.vocabulary import vocabulary_findings
from vqaudit.records import RunTables

__all__ = ["study"]


def study(
    sources: Sources, spec: ProbeSpec, parts: tuple[Part, ...], *, starting: Callable[[], object] | None = None
) -> Internals:
    """Studies what is asked for; see `internals.study_internals`.

    A part that this run cannot tell is left out with its reason, unless it is the only one asked for.
    """
    fits = [part for part in parts if part != "vocabulary"]
    material = make_material(sources, seed=spec.seed, most_train=spec.most_train) if fits else None
    reasons = _refused(parts, material)
    if len(parts) == 1 and reasons:
        raise AnalysisError(reasons[parts[0]])
    if fits and starting is not None:
        starting()
    for part in parts:
        if part in reasons:
            continue
        try:
            findings = _find(part, material, sources, spec)
        except AnalysisError as error:
            if len(parts) == 1:
                raise
            reasons[part] = str(error)
            continue
        write_part(sources.run, part, with_sentences(findings))
    return read_internals(sources.run).model_copy(update={"reasons": reasons})


def _refused(parts: tuple[Part, ...], material: Material | None) -> dict[str, str]:
    """What the records cannot tell whatever is fitted, with its reason."""
    if material is None or "layers" not in parts or material.test.examples.store.readout.depth == "all":
        return {}
    return {"layers": "the run kept states of the last layer alone; --keep-states all has the others too"}


def _find(part: Part, material: Material | None, sources: Sources, spec: ProbeSpec) -> Row:
    if part == "vocabulary" or material is None:
        return vocabulary_findings(load_examples(RunTables.load(sources.run)), seed=spec.seed)
    fitted: dict[str, Callable[[Material, ProbeSpec], Row]] = {
        "probe": probe_findings,
        "layers": layers_findings,
        "readout": readout_findings,
    }
    return fitted[part](material, spec)
