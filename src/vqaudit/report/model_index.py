"""The `model-index` block of a Hugging Face model card, as YAML that any reader of it takes.

Knows summaries and the block's layout (hub-docs, `modelcard.md`: name, results; each with task, dataset and
metrics). Computes nothing. A flow of JSON scalars is YAML, so that no package is needed to write it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.schema import Summary
from vqaudit.records import RunTables
from vqaudit.report.untrusted import bare_name, printable

__all__ = ["front_matter", "model_index"]

DIGITS = 4
"""Of shares in [0, 1]: a hundredth of a percentage point."""
_METRICS = (
    ("grid_accuracy", "accuracy", "Robust accuracy (mean over prompt formats and option orders)"),
    ("worst_case", "accuracy", "Accuracy in the worst prompt format"),
    ("reference_accuracy", "accuracy", "Accuracy in the reference prompt format"),
    ("plain_accuracy", "accuracy", "Accuracy in the first logged order"),
    ("circular_accuracy", "accuracy", "Accuracy over all logged orders, by row"),
    ("strict_circular", "accuracy", "Share of items right in every order"),
    ("spread", "spread", "Best minus worst prompt format"),
    ("coverage", "coverage", "Share of replies that are exactly an option ID"),
)
_HUB = re.compile(r"hub data set '(?P<type>[^']+)'(?: at (?P<revision>\S+))?, split '(?P<split>[^']*)'")
"""How a run tells that its data came from the hub."""


def model_index(runs: Sequence[tuple[RunTables, Summary]]) -> list[dict[str, Any]]:
    """Returns the block as plain values: one entry per model, one result per run, in the order of the runs.

    Values are shares in [0, 1]; bounds of 95 % intervals and n stand in `args`. Runs without any figure have no result.

    Args:
        runs: Tables and summary of each.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for tables, summary in runs:
        metrics = list(_metrics(summary))
        results = found.setdefault(bare_name(summary.model), [])
        if metrics:
            results.append({"task": _task(tables), "dataset": _dataset(tables, summary), "metrics": metrics})
    return [{"name": name, "results": results} for name, results in found.items() if results]


def front_matter(index: Sequence[Mapping[str, Any]]) -> str:
    """Returns the block between the two rules that begin a model card; nothing where there is none.

    Example:
        >>> print(front_matter([{"name": "tiny", "results": []}]), end="")
        ---
        model-index:
        - name: "tiny"
          results: []
        ---
    """
    return "\n".join(["---", "model-index:", *_lines(list(index), 0), "---", ""]) if index else ""


def _task(tables: RunTables) -> dict[str, str]:
    pictures = tables.items["images"].list.len().sum()
    if pictures:
        return {"type": "visual-question-answering", "name": "Multiple-choice questions about pictures"}
    return {"type": "multiple-choice", "name": "Multiple-choice questions"}


def _dataset(tables: RunTables, summary: Summary) -> dict[str, Any]:
    name = bare_name(summary.dataset or "unnamed")
    hub = _HUB.fullmatch(str(tables.manifest.dataset.get("origin") or ""))
    place = {key: value for key, value in hub.groupdict().items() if value} if hub else {}
    args = {
        "items": summary.counts.items,
        "design": summary.main_design,
        "interface": summary.main_interface,
        "vqaudit": tables.manifest.vqaudit_version,
    }
    return {"type": name, "name": name} | place | {"args": args}


def _metrics(summary: Summary) -> Iterator[dict[str, Any]]:
    for key, kind, name in _METRICS:
        figure: Estimate | None = getattr(summary, key)
        if figure is not None and figure.value is not None:
            args: dict[str, Any] = {"key": key}
            if figure.low is not None and figure.high is not None:
                args |= {"low": round(figure.low, DIGITS), "high": round(figure.high, DIGITS)}
            yield {"type": kind, "value": round(figure.value, DIGITS), "name": name, "args": args | {"n": figure.n}}


def _lines(value: Any, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, list):
        for item in value:
            first, *rest = _lines(item, depth + 1)
            yield f"{indent}- {first.strip()}"
            yield from rest
        return
    for key, inner in value.items():
        if isinstance(inner, Mapping | list) and inner:
            yield f"{indent}{key}:"
            yield from _lines(inner, depth + isinstance(inner, Mapping))
        else:
            yield f"{indent}{key}: {_scalar(inner)}"


def _scalar(value: Any) -> str:
    return json.dumps(printable(value) if isinstance(value, str) else value, ensure_ascii=False)
