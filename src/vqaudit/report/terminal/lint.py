"""What lint found, in a terminal: one entry for each rule and kind of evidence, however many tasks share it.

Knows the report as plain data. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding

from vqaudit.report.digits import count
from vqaudit.report.terminal.layout import View, bullets, columns, dim, plain, section

__all__ = ["lint_view", "rules_view"]

_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}
_SHOWN = 3


def lint_view(report: Mapping[str, Any], *, show_all: bool = False) -> View:
    """Returns what `rich` prints of a lint report.

    Args:
        report: From `LintReport.to_dict`.
        show_all: Every finding, not the first of each kind.
    """
    return View(_parts(report, show_all))


def _parts(report: Mapping[str, Any], show_all: bool) -> Iterator[RenderableType]:
    counts = report["counts"]
    told = ", ".join(_number(counts[severity], severity) for severity in _STYLES)
    yield plain(told, "bold red" if counts["error"] else "bold")
    files = ", ".join(f"{count(number)} {kind}" for kind, number in report["files"].items()) or "no files"
    yield dim(f"{files}; {count(report['described'])} descriptions judged in {report['seconds']:.1f} s")
    for group in _grouped(report["findings"]):
        yield _entry(group, show_all)
    if report["rules"]:
        table = columns("rule", "findings", right=(1,), folding=(0,))
        for rule, number in sorted(report["rules"].items(), key=lambda pair: -pair[1]):
            table.add_row(plain(rule), count(number))
        yield section("In all", table)
    else:
        yield plain("Nothing found: every event that is scored is the event that was asked for, as far as can be read.")


def _number(number: int, severity: str) -> str:
    plural = severity if severity == "info" or number == 1 else f"{severity}s"
    return f"{count(number)} {plural}"


def _grouped(findings: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Findings of one rule and severity together, in the order in which they come."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for found in findings:
        groups.setdefault((found["rule"], found["severity"]), []).append(found)
    return list(groups.values())


def _entry(group: list[Mapping[str, Any]], show_all: bool) -> Group:
    first = group[0]
    style = _STYLES[first["severity"]]
    number = "" if len(group) == 1 else f" × {count(len(group))}"
    lines: list[RenderableType] = ["", plain(f"{first['severity']}: {first['rule']}{number}", style)]
    shown = group if show_all else _different(group)
    for found in shown:
        lines.append(Padding.indent(Group(plain(_where(found)), dim(found["evidence"])), 2))
    hidden = len(group) - len(shown)
    if hidden:
        lines.append(Padding.indent(dim(f"… and {count(hidden)} more; --all or --json lists them"), 2))
    lines.append(Padding.indent(bullets([first["advice"]]), 2))
    return Group(*lines)


def _different(group: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A few findings that differ in their evidence; what a shared template repeats is shown once."""
    kept: dict[str, Mapping[str, Any]] = {}
    for found in group:
        kept.setdefault(found["evidence"], found)
    return list(kept.values())[:_SHOWN]


def _where(found: Mapping[str, Any]) -> str:
    place = found["place"]
    line = "" if place.get("line") is None else f":{place['line']}"
    key = "" if place.get("key") is None else f" ({place['key']})"
    rows = "" if found.get("rows") is None else f", {count(found['rows'])} of {count(found['rows_read'])} rows read"
    variant = "" if found.get("variant") is None else f", for models named {found['variant']}"
    return f"{place['file']}{line}{key}, task {found['task']}{variant}{rows}"


def rules_view(rules: Sequence[Mapping[str, str]]) -> View:
    """Returns the list of rules: name, severity, what it looks for, what to do.

    Args:
        rules: Mappings with `name`, `severity`, `asks` and `advice`.
    """
    parts: list[RenderableType] = []
    for rule in rules:
        parts.append(plain(f"{rule['severity']}: {rule['name']}", _STYLES[rule["severity"]]))
        parts.append(Padding.indent(Group(plain(rule["asks"]), dim(rule["advice"])), 2))
    return View(parts)
