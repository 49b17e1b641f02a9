"""The only module that joins the halves: plan -> run -> records -> findings.

Knows who does what. Computes and renders nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from vqaudit.engines.base import Engine
from vqaudit.errors import PlanError
from vqaudit.items import Dataset, demo_items, demo_model_path, load_items
from vqaudit.records import RunTables, read_manifest
from vqaudit.rounds import Rounds, ask_rounds, check_rounds
from vqaudit.run import make_spec

if TYPE_CHECKING:
    from vqaudit.analysis.summary import Summary

__all__ = ["Run", "audit", "load_data", "load_model", "open_run"]


def load_data(data: str | Path | Dataset, **options: Any) -> Dataset:
    """Returns the dataset: itself, the packaged `demo`, or a file read by `load_items(**options)`."""
    if isinstance(data, Dataset):
        return data
    if str(data) == "demo":
        return demo_items(limit=options.get("limit"))
    return load_items(data, **options)


def load_model(model: str | Path, **spec: Any) -> Engine:
    """Loads a model for asking.

    Args:
        model: A folder, a hub ID, a GGUF file of a language model, or `demo` for the packaged one.
        **spec: Fields of `engines.local.LocalSpec`: device, dtype, revision, chat_kwargs, ...

    Raises:
        EngineUnavailable: torch or transformers is not installed.
        EngineError: The model cannot be loaded.
    """
    from vqaudit.engines.local import LocalSpec, load_local

    try:
        wanted = LocalSpec(**spec)
    except ValidationError as error:
        first = error.errors()[0]
        raise PlanError(f"setting {'.'.join(map(str, first['loc']))!r}: {first['msg']}") from error
    if str(model) == "demo":
        return load_local(demo_model_path(), spec=wanted, name="demo")
    return load_local(model, spec=wanted)


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A run directory and what can be done with it."""

    path: Path

    def tables(self) -> RunTables:
        """Reads the records as they stand now."""
        return RunTables.load(self.path)

    def summary(
        self, *, by: str | None = None, details: bool = True, calibrate_on: str | Path | None = None
    ) -> Summary:
        """Returns the findings.

        Args:
            by: `category` adds a row per category.
            details: Whether to tell effects, mitigations, confidence groups and position apart from ID too.
            calibrate_on: Another run of the same model, from which PriDe takes its prior.
        """
        from vqaudit.analysis.mitigation import Calibration
        from vqaudit.analysis.summary import summarise

        prior = None if calibrate_on is None else Calibration(run=RunTables.load(calibrate_on))
        return summarise(self.tables(), by=by, details=details, calibration=prior)

    def report(self, path: str | Path) -> Path:
        """Writes the page: one self-contained HTML file.

        Raises:
            EngineUnavailable: The packages of the extra `report` are not installed.
        """
        from vqaudit.report.page import write_page

        return write_page([self.tables()], Path(path))


def open_run(path: str | Path) -> Run:
    """Returns an existing run.

    Raises:
        RecordError: There is no run at that path.
    """
    read_manifest(path)
    return Run(path=Path(path))


def audit(
    model: str | Path | Engine,
    data: str | Path | Dataset,
    *,
    out: str | Path,
    progress: bool = True,
    **settings: Any,
) -> Run:
    """Asks a model about a dataset and returns the run; asks only what an earlier session left open.

    Args:
        model: An engine, or what `load_model` takes.
        data: A dataset, or what `load_data` takes.
        out: The run directory.
        progress: Whether to draw a progress bar on standard error.
        **settings: Fields of `AuditSpec`.

    Raises:
        VqauditError: See the tree in `vqaudit.errors`; what was answered before is on disk.

    Example:
        >>> import vqaudit as va
        >>> run = va.audit("demo", "demo", out="runs/tour", interface="direct")  # doctest: +SKIP
        >>> print(run.summary().grid_accuracy)  # doctest: +SKIP
    """
    spec = make_spec(settings)
    dataset = load_data(data)
    check_rounds(dataset, spec)
    engine = load_model(model) if isinstance(model, str | Path) else model
    rounds = Rounds(engine=engine, dataset=dataset, out=Path(out), progress=progress)
    ask_rounds(rounds, spec)
    return Run(path=Path(out))
