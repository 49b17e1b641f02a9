"""Which column of a table of cells is what: declared, or known by its name. Nothing is guessed from values.

Knows headers. Knows no cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vqaudit.errors import DatasetError

__all__ = ["FACTORS", "Layout", "Roles", "find_roles"]

FACTORS: dict[str, tuple[str, ...]] = {
    "option_ids": ("option_ids", "option_id", "option_id_set", "id_set", "ids"),
    "delimiter": ("delimiter", "option_delimiter", "options_delimiter", "delim"),
    "separator": ("separator", "option_separator", "options_separator", "sep"),
}
"""The factors of paper 1 (Tab. 1), and names that their columns go by."""
_ROLES: dict[str, tuple[str, ...]] = {
    "dataset": ("dataset", "data_set", "benchmark"),
    "model": ("model", "model_name", "mllm", "vlm"),
    "method": ("method",),
    "accuracy": ("accuracy", "acc"),
    "coverage": ("coverage", "cov"),
    "printed_rank": ("printed_rank",),
    **FACTORS,
}
_MEASURES = ("accuracy", "coverage")
_UNITS = ("_pct", "_percent", "_share", "_fraction", "_[%]", "_%")


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """What the user says of a table.

    Example:
        >>> Layout(columns={"model": "checkpoint"}, factors=("ending",), scale="share").scale
        'share'
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    """Role -> the name of its column in the file: dataset, model, accuracy, coverage, or a factor of `FACTORS`."""
    factors: tuple[str, ...] = ()
    """Columns that are factors of the format, besides those of `FACTORS`."""
    scale: str | None = None
    """`percent` or `share`; None: as the column's name or its values prove."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Roles:
    """What each column of one file is."""

    columns: dict[str, str]
    """Role -> column."""
    factors: dict[str, str]
    """Factor -> column."""
    unused: tuple[str, ...]


def find_roles(header: Sequence[str], layout: Layout, *, file: str, wanted: Sequence[str]) -> Roles:
    """Returns which column is what.

    Args:
        header: Names of the columns.
        layout: What the user says of them; it goes before names that are known.
        file: For messages.
        wanted: Roles besides factors that this kind of table may have.

    Raises:
        DatasetError: A declared column is not there, a role is unknown, or two columns may have the same role.

    Example:
        >>> roles = find_roles(
        ...     ["Benchmark", "model", "sep", "acc"], Layout(), file="f.csv", wanted=("dataset", "model", "accuracy")
        ... )
        >>> roles.columns, roles.factors
        ({'dataset': 'Benchmark', 'model': 'model', 'accuracy': 'acc'}, {'separator': 'sep'})
    """
    _check_layout(header, layout, file=file, wanted=wanted)
    taken = {*layout.columns.values(), *layout.factors}
    columns: dict[str, str] = {}
    factors: dict[str, str] = {}
    for role in (*wanted, *FACTORS):
        column = layout.columns.get(role) or _known(header, role, taken, file)
        if column is not None:
            (factors if role in FACTORS else columns)[role] = column
    factors |= {name: name for name in layout.factors}
    used = {*columns.values(), *factors.values()}
    return Roles(columns=columns, factors=factors, unused=tuple(name for name in header if name not in used))


def _check_layout(header: Sequence[str], layout: Layout, *, file: str, wanted: Sequence[str]) -> None:
    for role in layout.columns:
        if role not in _ROLES:
            raise DatasetError(f"no column can be {role!r}; say one of {', '.join(_ROLES)}", file=file)
    # one layout may be declared for a table of cells and one of methods: roles of the other kind are passed over
    here = (*wanted, *FACTORS)
    declared = [*(name for role, name in layout.columns.items() if role in here), *layout.factors]
    for column in declared:
        if declared.count(column) > 1:
            raise DatasetError(f"column {column!r} is declared twice; it can be one thing", file=file)
        if column not in header:
            there = ", ".join(repr(name) for name in header)
            raise DatasetError(f"there is no column {column!r}; there are {there}", file=file)


def _known(header: Sequence[str], role: str, taken: set[str], file: str) -> str | None:
    found = [name for name in header if name not in taken and _plain(name, role) in _ROLES[role]]
    if len(found) > 1:
        names = " and ".join(repr(name) for name in found)
        raise DatasetError(f"{names} may both be the {role}; say which with --columns", file=file)
    return found[0] if found else None


def _plain(name: str, role: str) -> str:
    """Writes a header as the lists above do; units are no part of a measure's name."""
    plain = "_".join(name.strip().lower().replace("-", " ").split())
    if role in _MEASURES:
        for unit in _UNITS:
            plain = plain.removesuffix(unit)
    return plain
