"""The verdict on an interface: whether its score can be read, in one sentence with the evidence, and what to do.

Knows figures. Knows no trial.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.interfaces.described import Described

__all__ = ["MISMATCH_GAP", "Evidence", "Verdict", "advise", "decide", "verdict_sentence"]

MISMATCH_GAP = 0.02
"""Gap to the best aligned interface, in [-1, 1], beyond which a score is not what the model knows:
docs/interfaces.md, "The verdict"."""
FEW_IDS = 0.5
"""ID mass below which the model was about to say something else."""

Verdict = Literal["aligned", "mismatched", "undecided"]


class Evidence(NamedTuple):
    """What a verdict rests on. None = not known."""

    accuracy: Estimate
    gap: Estimate | None
    """Best aligned interface minus this one."""
    best_aligned: str | None
    first_position_rate: Estimate
    answer_first_rate: Estimate
    first_position_excess: Estimate
    id_mass: Estimate | None
    recovered: tuple[tuple[str, Estimate], ...] = ()
    """What other readings find after the same ending: name and accuracy of free generation, of scores after the
    rationale, of a probe of the same hidden state."""


def decide(evidence: Evidence) -> Verdict | None:
    """Returns the verdict; None where there is no gap to judge by.

    *Mismatched*: lower bound of the gap > 2 pp, and the first position is chosen more often than the right option
    stands there (lower bound > 0) or ID mass < 0.5. *Aligned*: the gap's upper bound < 2 pp. Else *undecided*.
    The rule is this project's own; docs/interfaces.md says how often it errs.
    """
    gap = evidence.gap
    if gap is None or gap.low is None or gap.high is None:
        return None
    prefers_first = (evidence.first_position_excess.low or 0.0) > 0
    misses_ids = evidence.id_mass is not None and (evidence.id_mass.value or 0.0) < FEW_IDS
    if gap.low > MISMATCH_GAP and (prefers_first or misses_ids):
        return "mismatched"
    return "aligned" if gap.high < MISMATCH_GAP else "undecided"


def verdict_sentence(name: str, verdict: Verdict | None, evidence: Evidence) -> str | None:
    """Returns the verdict with its evidence, as one sentence; None where there is no verdict."""
    if verdict is None or evidence.gap is None:
        return None
    said = {
        "mismatched": "its score is not what the model knows",
        "aligned": f"it reads as well as {evidence.best_aligned}",
        "undecided": "whether it can be read is not settled",
    }[verdict]
    parts = [f"{name} is {verdict}: {said}; accuracy {evidence.accuracy}, {_gap(evidence)}"]
    if (first := _first(evidence)) is not None:
        parts.append(first)
    if evidence.id_mass is not None and evidence.id_mass.value is not None:
        parts.append(f"the IDs have {_share(evidence.id_mass)} of the next token's probability")
    if verdict == "mismatched":
        parts += [f"{other} finds {accuracy}" for other, accuracy in evidence.recovered]
    return "; ".join(parts)


def advise(described: Described, verdict: Verdict | None) -> tuple[str, ...]:
    """Returns what to do about a mismatched interface: paper 2's checklist (its conclusion), in its order."""
    if verdict != "mismatched":
        return ()
    advice = []
    if described.asks == "reasoning":
        advice += [
            "read what is asked for: the answer after the rationale (free:ENDING or rationale:ENDING instead of "
            "scores:ENDING), or a dedicated answer field",
            "where label scores are needed, end the prompt without a reasoning cue (scores:answer-cue), or constrain "
            "the next token to an ID",
        ]
    else:
        advice.append("read another event: the option's text (cloze-lead-in) or a generated answer (free:instruction)")
    advice.append(
        "report the exact interface: ending and its place, event, how the IDs are tokenised, and whether the answer is "
        "conditioned on a rationale (manifest.json has all four)"
    )
    return tuple(advice)


def _gap(evidence: Evidence) -> str:
    gap = evidence.gap
    assert gap is not None
    assert gap.value is not None
    bounds = "" if gap.low is None or gap.high is None else f" [{100 * gap.low:.1f}, {100 * gap.high:.1f}]"
    return f"{100 * gap.value:.1f} pp{bounds} below {evidence.best_aligned}"


def _first(evidence: Evidence) -> str | None:
    rate, there = evidence.first_position_rate, evidence.answer_first_rate
    excess = evidence.first_position_excess
    if rate.value is None or there.value is None or excess.value is None:
        return None
    bounds = "" if excess.low is None or excess.high is None else f" [{100 * excess.low:.1f}, {100 * excess.high:.1f}]"
    return (
        f"the first position is chosen in {_share(rate)}, where the right option stands in {_share(there)} "
        f"({100 * excess.value:+.1f} pp{bounds})"
    )


def _share(estimate: Estimate) -> str:
    return f"{100 * (estimate.value or 0.0):.1f} %"
