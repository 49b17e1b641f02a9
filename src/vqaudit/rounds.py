"""The rounds of an audit: one plan asked, or plan after plan where what came back decides what is asked next.

Knows plans, runs and the rules of the analysis. A round is a pure function of the records before it, so that a run
that was stopped anywhere goes on to the same end.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vqaudit.asking.plan import Plan, Trial, grid_size
from vqaudit.asking.prompts import render
from vqaudit.engines.base import Engine, Event
from vqaudit.errors import AnalysisError, PlanError
from vqaudit.items import Dataset
from vqaudit.progress import no_progress, rich_progress
from vqaudit.records import Manifest, Owner, RunTables, read_manifest, read_status, utc_now, write_manifest
from vqaudit.run import AskSpec, AuditSpec, make_audit_plan
from vqaudit.run.driver import ask_plan
from vqaudit.run.executors import Executor
from vqaudit.run.manifest import make_manifest, write_inputs
from vqaudit.run.repeats import ask_repeats, choose_repeats, open_repeats, repeats_wanted
from vqaudit.run.requests import event_of
from vqaudit.run.spec import chosen_formats
from vqaudit.run.states import check_states, write_state_readout
from vqaudit.run.stopping import Stop
from vqaudit.run.two_stage import Extremes, confirmed_before, two_stage_interfaces

if TYPE_CHECKING:
    from vqaudit.analysis.draw_table import DrawTable

__all__ = ["Rounds", "ask_rounds", "check_rounds"]

_End = Literal["complete", "interrupted", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rounds:
    """Who is asked about what, and where the records go."""

    executor: Executor
    dataset: Dataset
    owner: Owner
    progress: bool
    stop: Stop = field(default_factory=Stop)

    @property
    def engine(self) -> Engine:
        """Who describes the model."""
        return self.executor.engine

    @property
    def out(self) -> Path:
        """The run directory."""
        return self.owner.run

    def ask(self, spec: AuditSpec, *, confirm: Extremes | None = None) -> Plan:
        """Asks what one plan wants and the run directory does not hold yet; returns the plan."""
        plan = make_audit_plan(self.dataset.items, spec, confirm=confirm)
        _check_events(self.engine, plan, spec)
        check_states(plan, self.engine, spec.keep_states)
        manifest = make_manifest(self.out, plan, self.engine, self.dataset, spec)
        write_inputs(self.out, plan)
        write_state_readout(self.out, plan, self.engine, spec.keep_states)
        write_manifest(self.out, manifest)
        _execute(plan, self, manifest, spec)
        return plan

    def ask_twice(self, plan: Plan, spec: AuditSpec) -> None:
        """Asks some trials of the whole plan again, where answers may change by themselves."""
        trials = choose_repeats(plan, repeats_wanted(self.engine, spec.noise_floor), seed=spec.seed)
        if not open_repeats(self.out, trials):
            return
        bar = rich_progress(f"{self.engine.name}, asked twice", total=len(trials), done=0)
        asked, how = plan.part(trials), spec.asking
        with bar if self.progress else nullcontext(no_progress) as advance:
            ask_repeats(asked, self.executor, out=self.out, spec=how, advance=advance, stop=self.stop)


def check_rounds(dataset: Dataset, spec: AuditSpec) -> None:
    """Refuses, before anything is spent, what these items or this design cannot reach.

    Raises:
        AnalysisError: The target is none, or below the items' own floor.
        PlanError: The design draws nothing at random, or two stages have too few items to screen formats with.
    """
    if spec.until is not None:
        _check_target(dataset, spec, spec.until)
    elif two_stage_interfaces(spec):
        _check_screen(dataset, spec)


def _check_target(dataset: Dataset, spec: AuditSpec, until: str) -> None:
    from vqaudit.analysis.sequential import parse_target

    parse_target(until).check(len({item.cluster for item in dataset.items}))
    if "randomised" not in spec.design:
        raise PlanError(f"until={until!r} needs the design randomised, not {', '.join(spec.design)}")


def _check_screen(dataset: Dataset, spec: AuditSpec) -> None:
    """Of formats that the first stage never shows, none can be chosen for the second."""
    from vqaudit.analysis.screening import BEST, WORST

    plan = make_audit_plan(dataset.items, spec)
    screened = {reason.trial for reason in plan.reasons if reason.design == "randomised"}
    shown = plan.part([trial for trial in plan.trials if trial.id in screened]).formats
    if len(shown) < WORST + BEST:
        raise PlanError(
            f"the first of two stages shows {len(shown)} formats to {len(dataset)} items, fewer than the "
            f"{WORST + BEST} that the second confirms; ask the design grid instead, or more items or --draws"
        )


def ask_rounds(rounds: Rounds, spec: AuditSpec) -> None:
    """Asks everything that an audit asks, in as many rounds as it takes.

    Raises:
        VqauditError: See the tree in `vqaudit.errors`; what was answered before is on disk.
    """
    if spec.until is not None:
        plan = _ask_until(rounds, spec, spec.until)
    else:
        plan = rounds.ask(spec)
        if two_stage_interfaces(spec):
            plan = rounds.ask(spec, confirm=_extremes(rounds, spec))
    rounds.ask_twice(plan, spec)


def _ask_until(rounds: Rounds, spec: AuditSpec, until: str) -> Plan:
    """Draws once more for every item until the half-width is reached, or the most draws are; returns the last plan."""
    from vqaudit.analysis.sequential import parse_target, reach_width

    target = parse_target(until)
    plan = rounds.ask(spec.model_copy(update={"draws": 1}))
    for draws in range(1, spec.max_draws + 1):
        plan = rounds.ask(spec.model_copy(update={"draws": draws})) if draws > 1 else plan
        decision = reach_width(_drawn(rounds.out).first(draws), target)
        found = {"target": until, "draws": draws, "reached": decision.stop, "sentence": decision.sentence}
        _note(rounds, spec, found)
        if decision.stop:
            break
    return plan


def _note(rounds: Rounds, spec: AuditSpec, found: dict[str, Any]) -> None:
    """Keeps why the drawing stopped, and what it saved against the grid."""
    manifest = read_manifest(rounds.out)
    grid = grid_size(rounds.dataset.items, chosen_formats(spec)[0]) * max(1, len(manifest.interfaces))
    asked = manifest.counts.get("planned", 0)
    saved = {"trials": asked, "grid_trials": grid, "saved": 1 - asked / grid}
    write_manifest(rounds.out, manifest.model_copy(update={"stopping": found | saved}))


def _drawn(out: Path) -> DrawTable:
    """The outcomes of a run's randomised design by item and draw."""
    from vqaudit.analysis.designs import main_trials, planned_trials
    from vqaudit.analysis.draw_table import draw_table
    from vqaudit.analysis.frame import analysis_frame

    tables = RunTables.load(out)
    frame = analysis_frame(tables)
    main = main_trials(frame, planned_trials(tables, frame), design="randomised")
    if (complaint := main.completeness.complaint) is not None:
        raise AnalysisError(f"{out} cannot decide what to ask next: {complaint}")
    table = draw_table(main)
    if table is None:
        raise AnalysisError(f"{out} cannot decide what to ask next: no trial has a known answer")
    return table


def _extremes(rounds: Rounds, spec: AuditSpec) -> Extremes:
    """The formats that the plan on disk already confirms; else those that the first stage points to."""
    from vqaudit.analysis.screening import choose_formats

    known = confirmed_before(rounds.out, rounds.dataset.items[0], spec)
    return known if known is not None else Extremes(*choose_formats(_drawn(rounds.out)))


def _check_events(engine: Engine, plan: Plan, spec: AuditSpec) -> None:
    first: dict[str, Trial] = {}
    for trial in plan.trials:
        first.setdefault(trial.variant.interface.name, trial)
    engine.check([_event(plan, trial, spec.asking) for trial in first.values()])


def _event(plan: Plan, trial: Trial, asking: AskSpec) -> Event:
    format = trial.variant.format
    vocabulary = () if format is None else plan.vocabulary(format)
    return event_of(trial.variant.interface, render(plan.items[trial.item], trial.variant), vocabulary, asking)


def _execute(plan: Plan, rounds: Rounds, manifest: Manifest, spec: AuditSpec) -> None:
    started = time.monotonic()
    status: _End = "failed"
    bar = (lambda total, done: rich_progress(rounds.engine.name, total=total, done=done)) if rounds.progress else None
    try:
        ask_plan(plan, rounds.executor, owner=rounds.owner, spec=spec.asking, bar=bar, stop=rounds.stop)
        status = "complete"
    except KeyboardInterrupt:
        status = "interrupted"
        raise
    finally:
        _finish(rounds.out, manifest, status, time.monotonic() - started)


def _finish(out: Path, manifest: Manifest, status: _End, seconds: float) -> None:
    found = read_status(out)
    counts = {"planned": found.planned, "done": found.done, "failed": found.failed}
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
