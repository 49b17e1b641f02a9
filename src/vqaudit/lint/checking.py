"""Every rule on everything that the paths describe, and the report of it.

Knows rules and sources. Prints nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.lint.description import Description
from vqaudit.lint.finding import SEVERITIES, Finding, Place
from vqaudit.lint.functions import forget_functions
from vqaudit.lint.rules import RULES, Rule
from vqaudit.lint.sources import Source, find_files, read_source
from vqaudit.lint.yaml_files import forget_yaml

__all__ = ["LintReport", "lint_paths"]

UNREADABLE = "unreadable"
"""Rule name of a file that could not be read: what was not read was not checked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LintReport:
    """What lint found, worst first, and what it looked at."""

    findings: tuple[Finding, ...]
    files: dict[str, int]
    """Files by kind."""
    described: int
    """Descriptions that were judged: tasks, variants, interfaces, rows."""
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether any finding is an error: the command's exit code."""
        return any(found.severity == "error" for found in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Returns what `vqaudit lint --json` prints."""
        severities = Counter(found.severity for found in self.findings)
        rules = Counter(found.rule for found in self.findings)
        return {
            "files": self.files,
            "described": self.described,
            "seconds": round(self.seconds, 3),
            "counts": {severity: severities[severity] for severity in SEVERITIES},
            "rules": dict(sorted(rules.items())),
            "findings": [found.to_dict() for found in self.findings],
        }


def lint_paths(paths: Iterable[str | Path], *, rules: Sequence[Rule] = RULES) -> LintReport:
    """Judges everything that the paths hold: task files, results, sample logs, Inspect logs, runs, own interfaces.

    Args:
        paths: Files and folders; a folder is searched, a run directory is one source.
        rules: The rules to apply.

    Example:
        >>> import tempfile, pathlib
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "mine.yaml"
        >>> _ = file.write_text("interfaces: {mine: {ending: Let me think step by step., event: id-scores}}")
        >>> [(found.rule, found.severity) for found in lint_paths([file]).findings]
        [('reasoning-cue-with-likelihood', 'error')]
    """
    started = time.perf_counter()
    forget_yaml()
    forget_functions()
    findings: list[Finding] = []
    kinds: Counter[str] = Counter()
    described = 0
    for path, named in _files(paths, findings):
        try:
            source = read_source(path, named=named)
        except DatasetError as error:
            findings.append(_unreadable(error, path))
            kinds[UNREADABLE] += 1
            continue
        kinds[source.kind] += 1
        described += len(source.descriptions)
        findings += _judged(source, rules)
    findings.sort(key=_order)
    seconds = time.perf_counter() - started
    return LintReport(findings=tuple(findings), files=dict(sorted(kinds.items())), described=described, seconds=seconds)


def _files(paths: Iterable[str | Path], findings: list[Finding]) -> Iterator[tuple[Path, bool]]:
    for path in paths:
        try:
            yield from find_files(Path(path))
        except DatasetError as error:
            findings.append(_unreadable(error, Path(path)))


def _judged(source: Source, rules: Sequence[Rule]) -> list[Finding]:
    if not source.rows:
        return [found for each in source.descriptions for rule in rules for found in rule.findings(each)]
    return [found for rule in rules for found in _over_rows(source.descriptions, rule)]


def _over_rows(rows: Sequence[Description], rule: Rule) -> Iterator[Finding]:
    """One finding for each severity that a rule gives the rows of a log, with the first such row and their number."""
    found = [hit for row in rows for hit in list(rule.findings(row))[:1]]
    for severity in SEVERITIES:
        same = [hit for hit in found if hit.severity == severity]
        if same:
            yield replace(same[0], rows=len(same), rows_read=len(rows))


def _unreadable(error: DatasetError, path: Path) -> Finding:
    place = Place(file=error.file or str(path), key=error.column, line=error.row)
    return Finding(
        rule=UNREADABLE,
        severity="error",
        task=path.stem,
        place=place,
        evidence=error.message,
        advice="Mend or leave out the file: what could not be read was not checked.",
    )


def _order(found: Finding) -> tuple[int, str, str, str]:
    return SEVERITIES.index(found.severity), found.rule, found.place.file, found.task
