"""Printed values against what the cells give: which differ by more than rounding, and what is likely behind it.

Knows a table of printed values and the findings as plain JSON. The values that paper 1 prints come with the package
(`paper1_printed.csv`, typed off the paper); they are compared with ours only where the table is paper 1's own, cell by
cell, and no figure of ours is taken from them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

from vqaudit.analysis.cells.methods import GOLD_METHOD, MethodTable
from vqaudit.analysis.cells.reading import read_rows
from vqaudit.analysis.cells.scales import parse_number
from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.figures import Row
from vqaudit.errors import DatasetError
from vqaudit.numerals import whole_number

__all__ = [
    "PrintedRow",
    "PrintedValue",
    "compare_printed",
    "fingerprint",
    "is_paper1",
    "paper1_printed",
    "printed_in_methods",
    "read_printed",
    "value_at",
]

PAPER1_FINGERPRINT = "9427ecc99d963bb5088be51498ca3a011ddad8684bf3858816f8c17e808aa1d9"
"""Of the 1,680 cells in paper 1's Tabs. 8 to 12."""
_COLUMNS = ("key", "where", "printed", "tolerance", "likely_cause")
_PCT_TOLERANCE = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintedValue:
    """A value that was printed, and the finding that it should be."""

    key: str
    """Path through the findings' JSON, as `pseudo_gold_accuracy_pct/A-OKVQA/Phi-3.5`; `~1` is a slash in a name."""
    where: str
    printed: str
    """As printed: its decimals tell how it was rounded."""
    tolerance: float
    """Largest difference that is none."""
    likely_cause: str = ""


class PrintedRow(Row):
    """A printed value that differs from ours by more than its tolerance."""

    key: str
    where: str
    printed: float
    ours: float
    difference: float
    """Printed minus ours."""
    kind: Literal["rounding", "differs"]
    """`rounding`: ours, rounded to the digits that were printed, is the printed value."""
    likely_cause: str


def read_printed(path: Path) -> list[PrintedValue]:
    """Reads printed values: columns key, where, printed, tolerance, likely_cause.

    Raises:
        DatasetError: A column is missing or a value is no number.
    """
    header, rows = read_rows(path)
    for column in _COLUMNS:
        if column not in header:
            raise DatasetError(f"a table of printed values needs the columns {', '.join(_COLUMNS)}", file=path.name)
    found = []
    for row, fields in enumerate(rows, start=1):
        for column in ("printed", "tolerance"):
            if math.isnan(parse_number(fields[column], file=path.name, row=row, column=column)):
                raise DatasetError("the field is empty; write a number", file=path.name, row=row, column=column)
        found.append(
            PrintedValue(
                key=fields["key"].strip(),
                where=fields["where"].strip(),
                printed=fields["printed"].strip(),
                tolerance=float(fields["tolerance"]),
                likely_cause=fields["likely_cause"].strip(),
            )
        )
    return found


def paper1_printed() -> list[PrintedValue]:
    """Returns what paper 1 prints of its cells, typed off the paper.

    Example:
        >>> [value.printed for value in paper1_printed() if value.key == "pseudo_gold_accuracy_pct/A-OKVQA/Phi-3.5"]
        ['59.27']
    """
    with as_file(files("vqaudit.analysis.cells").joinpath("paper1_printed.csv")) as path:
        return read_printed(path)


def fingerprint(table: CellTable) -> str:
    """Returns a hash of all cells, which depends neither on the order of rows nor on the scale of the file."""
    factors = sorted(table.factors)
    places = [list(table.factors).index(factor) for factor in factors]
    lines = []
    for d, dataset in enumerate(table.datasets):
        for m, model in enumerate(table.models):
            for f, format in enumerate(table.formats):
                levels = [format[place] for place in places]
                coverage = math.nan if table.coverage is None else table.coverage[d, m, f]
                numbers = [f"{table.accuracy[d, m, f]:.7f}", f"{coverage:.7f}"]
                lines.append("\t".join([dataset, model, *levels, *numbers]))
    return hashlib.sha256("\n".join([*factors, *sorted(lines)]).encode()).hexdigest()


def is_paper1(table: CellTable) -> bool:
    """Returns whether the cells are those that paper 1 prints."""
    return fingerprint(table) == PAPER1_FINGERPRINT


def printed_in_methods(methods: MethodTable) -> list[PrintedValue]:
    """Returns the ranks and pseudo-gold accuracies that a table of methods prints beside the accuracies."""
    found = []
    for dataset, by_method in methods.printed_rank.items():
        for method, ranks in by_method.items():
            start = "pseudo_gold_rank" if method == GOLD_METHOD else "methods"
            for model, rank in ranks.items():
                parts = [start, dataset, model] if method == GOLD_METHOD else [start, dataset, method, "rank", model]
                value = PrintedValue(key=_path(parts), where=methods.source, printed=str(rank), tolerance=0.0)
                found.append(value)
    for dataset, by_method in methods.accuracy.items():
        for model, accuracy in by_method.get(GOLD_METHOD, {}).items():
            key = _path(["pseudo_gold_accuracy_pct", dataset, model])
            text = f"{100 * accuracy:.10g}"
            found.append(PrintedValue(key=key, where=methods.source, printed=text, tolerance=_PCT_TOLERANCE))
    return found


def compare_printed(findings: dict[str, Any], printed: Iterable[PrintedValue]) -> list[PrintedRow]:
    """Returns the printed values that differ from ours by more than their tolerance, the largest causes first.

    Values whose finding is not there are passed over: a table without methods has no ranks by method. Of several
    entries for one finding the first with a cause is kept.

    Args:
        findings: As plain JSON values.
        printed: What was printed.

    Example:
        >>> value = PrintedValue(key="spread_pp/d/m", where="abstract", printed="59", tolerance=0.05)
        >>> compare_printed({"spread_pp": {"d": {"m": 87.2}}}, [value])[0].kind
        'differs'
    """
    by_key: dict[str, PrintedValue] = {}
    for value in printed:
        if value.key not in by_key or (value.likely_cause and not by_key[value.key].likely_cause):
            by_key[value.key] = value
    rows = []
    for value in by_key.values():
        ours = value_at(findings, value.key)
        if ours is not None and abs(float(value.printed) - ours) > value.tolerance + 1e-9:
            rows.append(_row(value, ours))
    return sorted(rows, key=lambda row: row.kind)


def _row(value: PrintedValue, ours: float) -> PrintedRow:
    number = float(value.printed)
    decimals = len(value.printed.partition(".")[2])
    rounded = abs(number - ours) <= 0.5 * 10.0**-decimals + 1e-9
    return PrintedRow(
        key=value.key,
        where=value.where,
        printed=number,
        ours=ours,
        difference=number - ours,
        kind="rounding" if rounded else "differs",
        likely_cause=value.likely_cause or ("rounded in print" if rounded else "not known"),
    )


def _path(parts: list[str]) -> str:
    return "/".join(part.replace("~", "~0").replace("/", "~1") for part in parts)


def value_at(findings: Any, key: str) -> float | None:
    """Returns the number at a path, or None where the findings hold none there.

    Example:
        >>> value_at({"range": [-1.5, 2.0]}, "range/0"), value_at({"range": []}, "range/0")
        (-1.5, None)
    """
    here = findings
    for part in key.split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict):
            here = here.get(name)
        elif isinstance(here, list) and (place := whole_number(name)) is not None and place < len(here):
            here = here[place]
        else:
            return None
    return float(here) if isinstance(here, int | float) else None
