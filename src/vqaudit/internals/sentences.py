"""What findings say, in sentences.

Knows figures. Computes none.
"""

from __future__ import annotations

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import Row
from vqaudit.analysis.interfaces.verdict import MISMATCH_GAP
from vqaudit.analysis.internals import LayersFindings, ProbeFindings, ReadoutFindings, VocabularyFindings

__all__ = ["with_sentences"]

_ABOVE_CHANCE = 0.1
"""How far a probe of exchanged states must be above chance to be told: less is what its own noise makes of it."""


def with_sentences(findings: Row) -> Row:
    """Returns the findings with what they say."""
    said: tuple[str, ...] = ()
    if isinstance(findings, ProbeFindings):
        said = tuple(_probe(findings))
    elif isinstance(findings, LayersFindings):
        said = tuple(_layers(findings))
    elif isinstance(findings, ReadoutFindings):
        said = tuple(_readout(findings))
    elif isinstance(findings, VocabularyFindings):
        said = tuple(_vocabulary(findings))
    return findings.model_copy(update={"sentences": said})


def _probe(found: ProbeFindings) -> list[str]:
    said = []
    for name, row in found.conditions.items():
        low = row.delta.low
        recovers = low is not None and low > MISMATCH_GAP
        verb = "reads more from the same states than" if recovers else "reads no more, by what these items tell, than"
        said.append(
            f"{name}: a linear probe {verb} the model's own ID scores ({_points(row.delta)}, n = {row.delta.n})"
        )
    for name, row in found.gammas.items():
        said.append(f"{name}: the probe recovers {_points(row.gamma)} more here than under {found.direct} (Gamma)")
    unread = [name for name, row in found.conditions.items() if row.shuffled_probe.high > found.chance + _ABOVE_CHANCE]
    if unread:
        said.append(f"{', '.join(unread)}: a probe of exchanged states is above chance; it reads more than content")
    said.append("a probe tells what can be read from a state, not what the model itself uses")
    return said


def _layers(found: LayersFindings) -> list[str]:
    said = []
    for name in found.layers[0].accuracy:
        values = [(row.accuracy[name].value or 0.0, row.layer) for row in found.layers]
        best, layer = max(values)
        half = (best + found.chance) / 2
        first = next(place for value, place in values if value >= half)
        said.append(f"{name}: best at layer {layer} ({100 * best:.1f} %); half-way from chance from layer {first} on")
    for name, gaps in found.gaps.items():
        widest = max(gaps, key=lambda gap: gap.gap.value or 0.0)
        said.append(f"{found.direct} minus {name} is widest at layer {widest.layer}: {_points(widest.gap)}")
    return said


def _readout(found: ReadoutFindings) -> list[str]:
    said = []
    for trained, rows in found.retrained.items():
        changes = "; ".join(f"{name} {_points(row.change)}" for name, row in rows.items())
        said.append(f"retrained on {trained} (rank {found.rank}, {found.tokens} rows): {changes}")
    return said


def _vocabulary(found: VocabularyFindings) -> list[str]:
    said = []
    for name, rows in found.conditions.items():
        last = rows[-1]
        said.append(
            f"{name}: at the last layer the shown IDs have {100 * (last.id_mass.value or 0.0):.3g} % of the "
            f"probability, and the right ID is number {last.right_rank.value:,.1f} of the vocabulary on average"
        )
    return said


def _points(estimate: Estimate) -> str:
    if estimate.value is None:
        return "unknown"
    value, low, high = (
        None if part is None else _signed(part) for part in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} pp" if low is None or high is None else f"{value} pp [{low}, {high}]"


def _signed(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")
