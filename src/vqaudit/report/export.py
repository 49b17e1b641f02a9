"""Every table of a run as files for spreadsheets and notebooks: the summary's, the records', and paper 1's layout.

Knows tables and files. Computes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from vqaudit.analysis.designs import main_trials, planned_trials
from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.summary import Summary, summarise
from vqaudit.analysis.tables import grid_layout, summary_tables
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables
from vqaudit.records.files import write_whole
from vqaudit.report.names import run_names
from vqaudit.report.untrusted import bare_name

__all__ = ["GRID", "KINDS", "as_csv", "export_runs", "record_tables"]

KINDS = ("csv", "parquet")
GRID = "format_grid"
"""The table in the layout of paper 1's cells, one row per data set, model and format; `vqaudit grid` reads it."""
_ACTIVE = r"^[=+\-@\t\r\n＝＋－＠]"
"""What a spreadsheet would take for the beginning of a formula (OWASP, CSV Injection)."""
_OF_FRAME = (
    *("trial", "format", "answer", "answer_position", "n_options", "permutable", "cluster", "category"),
    *("right", "lenient_right", "scored_right", "answered", "covered"),
)


def export_runs(runs: Sequence[RunTables], out: Path, *, kinds: Sequence[str] = KINDS, seed: int = 0) -> list[Path]:
    """Writes every table of every run and returns the files' paths.

    One run's files lie in the folder itself; those of several in a folder per run, and `format_grid` of all of them
    together beside these. Each file is written whole or not at all; files of other names stay.

    Args:
        runs: At least one, each from `RunTables.load`.
        out: The folder.
        kinds: `csv` and `parquet`, or one of them.
        seed: Of the analysis.

    Raises:
        AnalysisError: No run, an unknown kind, or a run that holds nothing.
        RecordError: A file cannot be written.

    Example:
        >>> from vqaudit.records import RunTables
        >>> export_runs([RunTables.load("runs/demo")], Path("tables"), kinds=("csv",))  # doctest: +SKIP
    """
    if not runs:
        raise AnalysisError("an export needs at least one run directory")
    if unknown := sorted(set(kinds) - set(KINDS)):
        raise AnalysisError(f"{unknown[0]!r} is no kind of table; choose among {', '.join(KINDS)}")
    written, grids = [], []
    for tables, folder, name in zip(runs, _folders(runs, out), _model_names(runs), strict=True):
        summary = summarise(tables, seed=seed)
        grid = grid_layout(summary, model=name)
        found = summary_tables(summary) | record_tables(tables, summary) | ({} if grid is None else {GRID: grid})
        written += _write(found, folder, kinds)
        grids += [] if grid is None else [grid]
    if len(runs) > 1 and grids:
        written += _write({GRID: pl.concat(grids, how="diagonal")}, out, kinds)
    return written


def record_tables(tables: RunTables, summary: Summary) -> dict[str, pl.DataFrame]:
    """Returns `trials` (visible records, each with what its reading is worth), `items` and `plan`.

    `right`, `lenient_right`, `scored_right`, `answered` and `covered` are those of `analysis.frame.analysis_frame`. An
    item's `main_trials`, `main_right` and `main_answered` are how many trials of the main design and interface it has,
    and the shares of them, in [0, 1], that are right and that chose an option.

    Args:
        tables: Of the run.
        summary: Of the same run.
    """
    frame = analysis_frame(tables)
    read = frame.select(_OF_FRAME).with_columns(pl.col(pl.Enum).cast(pl.String))
    trials = tables.trials.join(read, on="trial", how="left", maintain_order="left")
    main = main_trials(frame, planned_trials(tables, frame), design=summary.main_design).done
    means = main.group_by("item_code").agg(
        main_trials=pl.len(), main_right=pl.col("right").mean(), main_answered=pl.col("answered").mean()
    )
    items = tables.items.with_columns(item_code=pl.int_range(pl.len(), dtype=pl.UInt32))
    items = items.join(means, on="item_code", how="left", maintain_order="left").drop("item_code")
    return {"trials": trials, "items": items, "plan": tables.plan}


def as_csv(frame: pl.DataFrame) -> str:
    r"""Returns a table as CSV that no spreadsheet runs.

    Text that would begin a formula (`=`, `+`, `-`, `@`, tab, line break) gets an apostrophe before it, as OWASP
    advises against CSV injection; numbers stay as they are. Text is quoted; lists and records are JSON.

    Example:
        >>> print(as_csv(pl.DataFrame({"reply": ["=1+1", "A"], "margin": [-0.5, None]})), end="")
        "reply","margin"
        "'=1+1",-0.5
        "A",
    """
    return frame.with_columns(_texts(frame)).write_csv(quote_style="non_numeric")


def _texts(frame: pl.DataFrame) -> Iterator[pl.Series]:
    for column in frame.get_columns():
        text = _as_json(column) if column.dtype.is_nested() else column
        if text.dtype in (pl.String, pl.Categorical, pl.Enum):
            plain = text.cast(pl.String)
            safe = pl.when(plain.str.contains(_ACTIVE)).then("'" + plain).otherwise(plain)
            yield pl.select(safe.alias(column.name)).to_series()


def _as_json(column: pl.Series) -> pl.Series:
    written = [None if value is None else json.dumps(value, ensure_ascii=False) for value in column.to_list()]
    return pl.Series(column.name, written, dtype=pl.String)


def _write(found: Mapping[str, pl.DataFrame], folder: Path, kinds: Sequence[str]) -> list[Path]:
    paths = []
    for name, frame in found.items():
        for kind in kinds:
            paths.append(folder / f"{name}.{kind}")
            _write_one(frame, paths[-1], kind)
    return paths


def _write_one(frame: pl.DataFrame, path: Path, kind: str) -> None:
    if kind == "csv":
        write_whole(path, lambda handle: handle.write(as_csv(frame).encode("utf-8", "replace")))
    else:
        write_whole(path, lambda handle: frame.write_parquet(handle))


def _model_names(runs: Sequence[RunTables]) -> list[str]:
    """Names under which several runs stand in one table; a model over several data sets keeps its own."""
    models = [bare_name(tables.manifest.model) for tables in runs]
    keys = [(model, tables.manifest.dataset.get("name")) for model, tables in zip(models, runs, strict=True)]
    return models if len(set(keys)) == len(keys) else run_names(runs)


def _folders(runs: Sequence[RunTables], out: Path) -> list[Path]:
    if len(runs) == 1:
        return [out]
    names = [re.sub(r"[^\w.-]+", "_", tables.path.resolve().name).lstrip(".") or "run" for tables in runs]
    return [out / (name if names.count(name) == 1 else f"{name}-{place + 1}") for place, name in enumerate(names)]
