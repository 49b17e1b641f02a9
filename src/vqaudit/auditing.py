"""The only module that joins the halves: plan -> run -> records -> findings.

Knows who does what. Computes and renders nothing itself.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from vqaudit.asking.plan import Plan, Trial
from vqaudit.asking.prompts import render
from vqaudit.engines.base import Engine, Event
from vqaudit.errors import PlanError
from vqaudit.items import Dataset, demo_items, demo_model_path, load_items
from vqaudit.progress import no_progress, rich_progress
from vqaudit.records import Manifest, RunTables, missing_trials, read_manifest, write_manifest
from vqaudit.run import AskSpec, AuditSpec, make_audit_plan, make_spec, run_plan
from vqaudit.run.manifest import make_manifest, utc_now, write_inputs
from vqaudit.run.requests import event_of

if TYPE_CHECKING:
    from vqaudit.analysis.summary import Summary

__all__ = ["Run", "audit", "load_data", "load_model", "open_run"]


_End = Literal["complete", "interrupted", "failed"]


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

    def summary(self, *, by: str | None = None) -> Summary:
        """Returns the findings.

        Args:
            by: `category` adds a row per category.
        """
        from vqaudit.analysis.summary import summarise

        return summarise(self.tables(), by=by)

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
    plan = make_audit_plan(dataset.items, spec)
    engine = load_model(model) if isinstance(model, str | Path) else model
    path = Path(out)
    _check_events(engine, plan, spec)
    manifest = make_manifest(path, plan, engine, dataset, spec)
    path.mkdir(parents=True, exist_ok=True)
    write_inputs(path, plan)
    write_manifest(path, manifest)
    _execute(plan, engine, path, manifest, spec, progress)
    return Run(path=path)


def _check_events(engine: Engine, plan: Plan, spec: AuditSpec) -> None:
    first: dict[str, Trial] = {}
    for trial in plan.trials:
        first.setdefault(trial.variant.interface.name, trial)
    engine.check([_event(plan, trial, spec.asking) for trial in first.values()])


def _event(plan: Plan, trial: Trial, asking: AskSpec) -> Event:
    format = trial.variant.format
    vocabulary = () if format is None else plan.vocabulary(format)
    return event_of(trial.variant.interface, render(plan.items[trial.item], trial.variant), vocabulary, asking)


def _execute(plan: Plan, engine: Engine, out: Path, manifest: Manifest, spec: AuditSpec, progress: bool) -> None:
    started = time.monotonic()
    status: _End = "failed"
    pending = missing_trials((t.id for t in plan.trials), RunTables.load(out).trials)
    bar = (
        rich_progress(engine.name, total=len(plan), done=len(plan) - len(pending))
        if progress
        else nullcontext(no_progress)
    )
    try:
        with bar as advance:
            run_plan(plan, engine, out=out, spec=spec.asking, advance=advance)
        status = "complete"
    except KeyboardInterrupt:
        status = "interrupted"
        raise
    finally:
        _finish(out, manifest, status, time.monotonic() - started)


def _finish(out: Path, manifest: Manifest, status: _End, seconds: float) -> None:
    tables = RunTables.load(out)
    failed = tables.trials.filter(tables.trials["outcome"] == "failed").height
    planned = tables.plan["trial"].n_unique()
    counts = {"planned": planned, "done": tables.trials.height - failed, "failed": failed}
    write_manifest(
        out,
        manifest.model_copy(
            update={
                "status": status,
                "counts": counts,
                "finished": utc_now(),
                "seconds": (manifest.seconds or 0.0) + seconds,
            }
        ),
    )
