"""Reads tables of cells: one row per data set, model and format. What is wrong is told with file, row and column.

Knows CSV and TSV files. Knows no formula.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from vqaudit.analysis.cells.columns import Layout, Roles, find_roles
from vqaudit.analysis.cells.scales import as_shares, parse_number
from vqaudit.analysis.cells.table import CellTable
from vqaudit.analysis.intervals import Floats
from vqaudit.errors import DatasetError

__all__ = ["Rows", "first_seen", "keys_of", "measure_of", "read_cells", "read_rows"]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
Rows = list[dict[str, str]]


def read_cells(path: str | Path, layout: Layout | None = None) -> CellTable:
    r"""Reads accuracies of models on data sets under formats.

    Args:
        path: CSV or TSV file in UTF-8 with a header: data set, model, one column per factor of the format, accuracy
            and, where it is known, coverage.
        layout: Which column is what and in which scale, where names do not tell.

    Raises:
        DatasetError: The file cannot be read, a column is missing, a cell stands twice, a number is out of range, or
            per cent cannot be told from shares.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "own.csv")
        ...     _ = file.write_text("dataset,model,delimiter,accuracy_pct\nd,m,dot,50\nd,m,colon,70\n")
        ...     read_cells(file).accuracy.tolist()
        [[[0.5, 0.7]]]
    """
    file, layout = Path(path), layout or Layout()
    header, rows = read_rows(file)
    roles = find_roles(header, layout, file=file.name, wanted=("dataset", "model", "accuracy", "coverage"))
    _require(roles, ("dataset", "model", "accuracy"), file.name)
    if not roles.factors:
        message = "no column is a factor of the format; name one with --factor, as in --factor ending"
        raise DatasetError(message, file=file.name)
    columns = [roles.columns["dataset"], roles.columns["model"], *roles.factors.values()]
    keys = keys_of(rows, columns, file=file.name)
    return _table(file.name, rows, keys, roles, layout)


def read_rows(file: Path) -> tuple[list[str], Rows]:
    """Returns the header and the rows of a CSV or TSV file; rows without any text are no rows.

    Raises:
        DatasetError: There is no such file, it is no table, or a row has more or fewer fields than the header.
    """
    if file.suffix.lower() not in _DELIMITERS:
        raise DatasetError(
            f"a table of cells is a .csv or .tsv file, not {file.suffix or 'one without ending'!r}", file=file
        )
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            lines = list(csv.reader(opened, delimiter=_DELIMITERS[file.suffix.lower()], strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"cannot be read as a table in UTF-8: {error}", file=file) from error
    lines = [line for line in lines if any(field.strip() for field in line)]
    if len(lines) < 2:
        raise DatasetError("the table needs a header and at least one row", file=file)
    header = [name.strip() for name in lines[0]]
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise DatasetError(f"two columns are called {twice!r}; rename one", file=file.name)
    for row, line in enumerate(lines[1:], start=1):
        if len(line) != len(header):
            message = f"{len(line)} fields under a header of {len(header)}; quote fields that hold the delimiter"
            raise DatasetError(message, file=file.name, row=row)
    return header, [dict(zip(header, line, strict=True)) for line in lines[1:]]


def keys_of(rows: Rows, columns: Sequence[str], *, file: str) -> list[tuple[str, ...]]:
    """Returns what names each row, without outer white space.

    Raises:
        DatasetError: A name is empty, or two rows have the same one.
    """
    seen: dict[tuple[str, ...], int] = {}
    for row, fields in enumerate(rows, start=1):
        key = tuple(fields[column].strip() for column in columns)
        if "" in key:
            raise DatasetError("the field is empty; name it", file=file, row=row, column=columns[key.index("")])
        if key in seen:
            message = (
                f"{' / '.join(key)} stands in row {seen[key]} already; keep one row, "
                "or name the column that tells the two apart with --factor"
            )
            raise DatasetError(message, file=file, row=row)
        seen[key] = row
    return list(seen)


def measure_of(rows: Rows, column: str, *, file: str, scale: str | None) -> list[float]:
    """Returns a column of accuracies or coverages as shares; NaN where the file holds none."""
    numbers = [parse_number(fields[column], file=file, row=row, column=column) for row, fields in enumerate(rows, 1)]
    if all(np.isnan(number) for number in numbers):
        raise DatasetError("no row has a number here; leave the column out or fill it", file=file, column=column)
    return as_shares(numbers, file=file, column=column, declared=scale)


def first_seen(names: Iterable[str]) -> tuple[str, ...]:
    """Returns the names once each, in the order of the file."""
    return tuple(dict.fromkeys(names))


def _require(roles: Roles, needed: Sequence[str], file: str) -> None:
    for role in needed:
        if role not in roles.columns:
            message = f'no column is the {role}; say which, as in --columns \'{{"{role}": "its name"}}\''
            raise DatasetError(message, file=file)


def _table(file: str, rows: Rows, keys: list[tuple[str, ...]], roles: Roles, layout: Layout) -> CellTable:
    datasets, models = first_seen(key[0] for key in keys), first_seen(key[1] for key in keys)
    formats = tuple(dict.fromkeys(key[2:] for key in keys))
    factors = {name: first_seen(format[place] for format in formats) for place, name in enumerate(roles.factors)}
    places = [(datasets.index(key[0]), models.index(key[1]), formats.index(key[2:])) for key in keys]
    shape = (len(datasets), len(models), len(formats))

    def dense(role: str) -> Floats:
        values = np.full(shape, np.nan)
        values[tuple(zip(*places, strict=True))] = measure_of(rows, roles.columns[role], file=file, scale=layout.scale)
        return values

    accuracy = dense("accuracy")
    return CellTable(
        source=file,
        datasets=datasets,
        models=models,
        factors=factors,
        formats=formats,
        accuracy=accuracy,
        coverage=dense("coverage") if "coverage" in roles.columns else None,
        notes=() if not roles.unused else (f"columns that are not used: {', '.join(roles.unused)}",),
    )
