"""A summary as flat tables: one row per format, level, interface, position; whatever a summary learns to say is in one.

Knows how summaries are built: rows, lists and mappings of rows, figures. Knows none of their keys by heart, so that
none is left out, and computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import polars as pl
from pydantic import BaseModel

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.schema import Summary

__all__ = ["FACTS", "FIGURES", "grid_layout", "summary_tables"]

FIGURES, FACTS = "figures", "facts"
"""Tables of what stands alone in a summary: estimates, and numbers or texts."""
_KEYS = {
    "designs": ("design",),
    "factors": ("factor",),
    "interfaces": ("interface",),
    "outcomes": ("interface", "outcome"),
    "reasons": ("key",),
    "selection_by_factor": ("factor", "level"),
    "cost_by_interface": ("interface",),
    "effects_factors": ("factor",),
    "mitigations_methods": ("method",),
    "mitigations_not_applicable": ("method",),
    "screening_notes": ("note",),
}
"""Table -> what its mappings are keyed by, the outer one first; `key`, `key_2`, ... where it is not said here."""
_ESTIMATE_PARTS = ("low", "high", "n", "trials")
_TEXTS = ("reason", "text")
Cells = dict[str, Any]
Tables = dict[str, list[Cells]]


def summary_tables(summary: Summary) -> dict[str, pl.DataFrame]:
    """Returns every table of a summary by name, sorted by name.

    A figure in a row becomes five columns: `accuracy` (its value), `accuracy_low`, `accuracy_high`, `accuracy_n`,
    `accuracy_trials`; shares lie in [0, 1]. A list within a row becomes a table of its own, whose rows begin with
    what names the row that they belong to. `figures` and `facts` hold what stands alone; a figure that the run cannot
    tell is a row with a null value and its reason.

    Args:
        summary: Of a run.

    Example:
        >>> sorted(summary_tables(summary))[:3]  # doctest: +SKIP
        ['categories', 'computation', 'cost_by_interface']
    """
    tables: Tables = {}
    for name in Summary.model_fields:
        _take(tables, name, getattr(summary, name), {})
    for name in _unknown_figures(summary):
        tables.setdefault(FIGURES, []).append({"key": name, "value": None, "reason": summary.reasons.get(name)})
    return {name: _frame(tables[name]) for name in sorted(tables)}


def grid_layout(summary: Summary, *, model: str | None = None) -> pl.DataFrame | None:
    """Returns one row per format in the layout of paper 1's cells, which `vqaudit grid` reads; None without a grid.

    Args:
        summary: Of a run.
        model: What to call the model; its own name where None.
    """
    if summary.formats is None:
        return None
    rows = [
        {
            "dataset": summary.dataset or "unnamed",
            "model": model or summary.model,
            "separator": row.separator,
            "delimiter": row.delimiter,
            "option_ids": row.id_set,
            "accuracy_pct": _per_cent(row.accuracy.value),
            "coverage_pct": _per_cent(None if row.coverage is None else row.coverage.exact.value),
        }
        for row in summary.formats
    ]
    texts = dict.fromkeys(("dataset", "model", "separator", "delimiter", "option_ids"), pl.String)
    frame = pl.DataFrame(rows, schema={**texts, "accuracy_pct": pl.Float64, "coverage_pct": pl.Float64})
    return frame.drop("coverage_pct") if frame["coverage_pct"].null_count() == frame.height else frame


def _per_cent(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 9)


def _unknown_figures(summary: Summary) -> Iterable[str]:
    for name, field in Summary.model_fields.items():
        if getattr(summary, name) is None and _is_estimate(field.annotation):
            yield name


def _is_estimate(annotation: Any) -> bool:
    if annotation is Estimate:
        return True
    return any(_is_estimate(part) for part in get_args(annotation))


def _take(tables: Tables, path: str, value: Any, keys: Cells) -> None:
    """Puts what stands under a name of the summary, or of a row alone, into its tables."""
    if isinstance(value, Estimate):
        tables.setdefault(FIGURES, []).append(
            {"key": path, "value": value.value, **_parts(value), "reason": value.reason}
        )
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            _take(tables, f"{path}_{name}", getattr(value, name), keys)
    elif isinstance(value, Mapping | list | tuple):
        _take_many(tables, path, value, keys)
    elif value is not None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        fact = {"number": float(value), "text": None} if number else {"number": None, "text": str(value)}
        tables.setdefault(FACTS, []).append({"key": path, **fact})


def _take_many(
    tables: Tables, path: str, value: Mapping[str, Any] | Sequence[Any], keys: Cells, depth: int = 0
) -> None:
    if isinstance(value, Mapping):
        name = _key_name(path, depth, keys)
        for key, inner in value.items():
            _take_row(tables, path, inner, {**keys, name: key}, depth + 1)
        return
    place = _free("row", keys)
    for number, inner in enumerate(value):
        alone = isinstance(inner, BaseModel) and not _has_many(inner)
        _take_row(tables, path, inner, keys if alone else {**keys, place: number}, depth)


def _key_name(path: str, depth: int, keys: Cells) -> str:
    named = _KEYS.get(path, ())
    return _free(named[depth] if depth < len(named) else "key", keys)


def _free(name: str, keys: Cells) -> str:
    """Returns the name, numbered where what stands around the row has one of that name already."""
    return next(free for free in (name, *(f"{name}_{place}" for place in range(2, 99))) if free not in keys)


def _has_many(row: BaseModel) -> bool:
    """Whether a row holds rows of its own, so that these must say which row they belong to."""
    values = [getattr(row, name) for name in type(row).model_fields]
    return any(
        isinstance(value, Mapping | list | tuple) or (isinstance(value, BaseModel) and _has_many(value))
        for value in values
    )


def _take_row(tables: Tables, path: str, value: Any, keys: Cells, depth: int) -> None:
    if isinstance(value, Mapping | list | tuple):
        _take_many(tables, path, value, keys, depth)
        return
    cells = dict(keys)
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            _take_cell(tables, cells, (path, _free(name, keys), keys), getattr(value, name))
    else:
        _take_cell(tables, cells, (path, "value", keys), value)
    tables.setdefault(path, []).append(cells)


def _take_cell(tables: Tables, cells: Cells, place: tuple[str, str, Cells], value: Any) -> None:
    """Puts one field of a row into its cells; `place` is the row's table, the column, and what names the row."""
    path, name, keys = place
    if isinstance(value, Estimate):
        cells[name] = value.value
        cells.update({f"{name}_{part}": number for part, number in _parts(value).items()})
    elif isinstance(value, BaseModel):
        for inner in type(value).model_fields:
            _take_cell(tables, cells, (path, f"{name}_{inner}", keys), getattr(value, inner))
    elif isinstance(value, Mapping | list | tuple):
        _take_many(tables, f"{path}_{name}", value, keys)
    else:
        cells[name] = value


def _parts(estimate: Estimate) -> Cells:
    return {part: getattr(estimate, part) for part in _ESTIMATE_PARTS}


def _frame(rows: list[Cells]) -> pl.DataFrame:
    names = dict.fromkeys(name for row in rows for name in row)
    frame = pl.DataFrame({name: pl.Series(name, [row.get(name) for row in rows], strict=False) for name in names})
    # a column without any value has a type all the same, so that tables of several runs can be put together
    empty: dict[Any, Any] = {
        name: pl.String if name in _TEXTS else pl.Float64 for name, kind in frame.schema.items() if kind == pl.Null
    }
    return frame.cast(empty)
