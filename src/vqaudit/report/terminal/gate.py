"""What a gate decided, in a terminal.

Knows a gate. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType

from vqaudit.analysis.gate import Gate
from vqaudit.report.digits import UNKNOWN, count
from vqaudit.report.gate import MARKS, label, limit_text, measured, subject
from vqaudit.report.terminal.layout import View, bullets, columns, dim, plain, section

__all__ = ["gate_view"]

_COLOURS = {"passes": "green", "fails": "red", "cannot tell": "yellow"}


def gate_view(gate: Gate) -> View:
    """Returns what `rich` prints of a decision: the verdict, then one row per check.

    Args:
        gate: From `vqaudit.analysis.gate.check_run`.
    """
    return View(_parts(gate))


def _parts(gate: Gate) -> Iterator[RenderableType]:
    yield plain(f"{MARKS[gate.verdict]} {gate.verdict}", f"bold {_COLOURS[gate.verdict]}")
    yield dim(subject(gate))
    yield _checks(gate)
    if gate.notes:
        yield section("Beware", bullets(gate.notes, style="yellow"))


def _checks(gate: Gate) -> Group:
    table = columns("", "check", "measured", "n", "limit", "verdict", right=(2, 3, 4), folding=(1,))
    for check in gate.checks:
        table.add_row(
            plain(MARKS[check.verdict], _COLOURS[check.verdict]),
            plain(label(check)),
            plain(measured(check)),
            UNKNOWN if check.figure is None else count(check.figure.n),
            plain(limit_text(check)),
            plain(check.verdict, _COLOURS[check.verdict]),
        )
    reasons = [f"{label(check)}: {check.reason}" for check in gate.checks if check.verdict != "passes"]
    legend = dim("passes or fails only where the whole 95 % interval is on one side of the limit")
    return section("Checks", table, legend, bullets(reasons, style="dim"))
