"""What a gate decided, as the Markdown that GitHub shows beside a job, and the words that the terminal shares.

Knows a gate. Decides nothing.
"""

from __future__ import annotations

from vqaudit.analysis.gate import Check, Gate
from vqaudit.report.digits import difference, interval, pct, points
from vqaudit.report.markdown import escaped, table
from vqaudit.report.story import spread_text
from vqaudit.report.untrusted import bare_name

__all__ = ["MARKS", "gate_markdown", "label", "limit_text", "measured", "subject"]

MARKS = {"passes": "✔", "fails": "✘", "cannot tell": "?"}
_LABELS = {
    "accuracy": "grid accuracy",
    "worst": "worst format",
    "coverage": "coverage of replies",
    "spread": "spread over formats",
    "drop": "drop from the baseline",
}
_LEGEND = (
    "A check passes where the whole 95 % interval is on the right side of its limit, fails where all of it is on the "
    "wrong side, and else cannot be told; n is independent items."
)


def label(check: Check) -> str:
    """Returns what a check is about."""
    return _LABELS[check.name]


def limit_text(check: Check) -> str:
    """Returns the limit: `≥ 60.0 %` or `≤ 2.0 pp`."""
    if check.name in ("spread", "drop"):
        return f"≤ {points(check.limit)}"
    return f"≥ {pct(check.limit)}"


def measured(check: Check) -> str:
    """Returns the figure with its interval."""
    if check.name == "drop":
        return difference(check.figure)
    return spread_text(check.figure) if check.name == "spread" else interval(check.figure)


def subject(gate: Gate) -> str:
    """Returns which model was asked what, and which one it is held against."""
    data = "" if gate.dataset is None else f" on {bare_name(gate.dataset)}"
    against = "" if gate.against is None else f", against {bare_name(gate.against)}"
    return f"{bare_name(gate.model)}{data}{against}"


def gate_markdown(gate: Gate) -> str:
    """Returns the decision for `$GITHUB_STEP_SUMMARY`: a heading, one row per check, what to beware of."""
    lines = [f"### {MARKS[gate.verdict]} vqaudit check: {gate.verdict}", "", escaped(subject(gate)), ""]
    head = ["", "check", "measured", "n", "limit", "verdict", "why"]
    lines += table(head, [_row(check) for check in gate.checks], right=(2, 3, 4))
    lines += ["", _LEGEND]
    if gate.notes:
        lines += ["", "Beware:", "", *(f"- {escaped(note)}" for note in gate.notes)]
    return "\n".join(lines) + "\n"


def _row(check: Check) -> list[str]:
    n = "" if check.figure is None else str(check.figure.n)
    cells = [MARKS[check.verdict], label(check), measured(check), n, limit_text(check), check.verdict]
    return [*cells, escaped(check.reason)]
