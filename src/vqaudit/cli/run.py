"""Commands that ask models: `run`, `plan`, which says beforehand what a run would cost, and `rank`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.asking_options import (
    ConfirmOrders,
    DesignNames,
    Draws,
    HalfWidth,
    InterfaceNames,
    KeepStates,
    MaxDraws,
    PromptOptions,
    Seed,
    Until,
    VariantOptions,
    settings_of,
)
from vqaudit.cli.console import print_summary, quoted, say, stoppable
from vqaudit.cli.data_options import Data, Limit, RowOptions, Split, data_of
from vqaudit.cli.executor_options import ExecutorOptions, execution_of
from vqaudit.cli.groups import with_groups
from vqaudit.cli.model_options import Device, Dtype, LocalOptions, Model, maker_of
from vqaudit.cli.options import AsJson
from vqaudit.cli.server_options import NoiseFloor, ServerOptions, is_server
from vqaudit.errors import EngineUnavailable, PlanError

if TYPE_CHECKING:
    from vqaudit.analysis.planning import Precision
    from vqaudit.analysis.summary import Summary
    from vqaudit.asking.formats import Format
    from vqaudit.auditing import Run
    from vqaudit.items import Dataset

_MOST_DETAILED = 500_000
"""Trials up to which a run ends with every figure. Some need whole records, which take 2.7 GB at a million trials
(docs/reliability.md)."""


@app.command("run")
@with_groups
def run_command(
    *,
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Run directory.", metavar="RUN")],
    split: Split = None,
    design: DesignNames = None,
    interface: InterfaceNames = None,
    draws: Draws = 1,
    until: Until = None,
    max_draws: MaxDraws = 16,
    confirm_orders: ConfirmOrders = 1,
    seed: Seed = 0,
    limit: Limit = None,
    variants: VariantOptions,
    keep_states: KeepStates = None,
    prompts: PromptOptions,
    local: LocalOptions,
    server: ServerOptions,
    noise_floor: NoiseFloor = None,
    rows: RowOptions,
    executor: ExecutorOptions,
    page: Annotated[bool, typer.Option(help="Write page.html too.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Audits a model on a dataset; the same command goes on where it was stopped."""
    from vqaudit.auditing import audit

    rounds = {"draws": draws, "until": until, "max_draws": max_draws, "confirm_orders": confirm_orders, "seed": seed}
    rounds |= {"keep_states": keep_states, "noise_floor": noise_floor}
    with stoppable() as stop:
        execution = execution_of(executor, stop)
        dataset = data_of(data, rows, split=split, limit=limit)
        settings = settings_of(design, interface, variants=variants, prompts=prompts, **rounds)
        _warn_of_mismatches(settings)
        make = maker_of(model, local=local, server=server, chat_kwargs=prompts.chat_kwargs)
        run = audit(make, dataset, out=out, progress=not quiet, execution=execution, **settings)
    if page:
        run.add_pictures(dataset)
    _finish_run(run, page=page, quiet=quiet)


def _warn_of_mismatches(settings: dict[str, Any]) -> None:
    """Says, before anything is loaded or spent, which endings ask for another event than the one that is scored."""
    from vqaudit.asking.interfaces import misalignments
    from vqaudit.run import make_spec
    from vqaudit.run.spec import chosen_interface

    spec = make_spec(settings)
    names = dict.fromkeys(entry.partition("@")[0] for entry in spec.interface)
    found = misalignments(chosen_interface(name, spec) for name in names)
    if found:
        say("[yellow]asked for is not what is scored[/] (such scores can fall far below what the model knows):")
    for sentence in found:
        say(f"[yellow]  {quoted(sentence)}[/]")


def _finish_run(run: Run, *, page: bool, quiet: bool) -> None:
    from vqaudit.records import QUARANTINE, write_text

    if (found := len(list((run.path / QUARANTINE).glob("*.json")))) and not quiet:
        place = quoted(run.path / QUARANTINE)
        say(f"[yellow]{found} damaged part(s) set aside in {place}, their trials asked again[/]")
    summary = _summarise(run, quiet=quiet)
    write_text(run.path / "summary.json", summary.to_json() + "\n")
    if not quiet:
        print_summary(summary)
    if page:
        try:
            say(f"[dim]page:[/] {quoted(run.report(run.path / 'page.html'))}")
        except EngineUnavailable as error:
            say(f"[dim]no page: {quoted(error)}[/]")
    if summary.counts.done == 0:
        raise PlanError(f"no trial could be answered; see the errors in {run.path}")


def _summarise(run: Run, *, quiet: bool) -> Summary:
    """The findings; of a large run, those that need no whole records."""
    from vqaudit.records import read_manifest

    planned = read_manifest(run.path).counts.get("planned", 0)
    if planned <= _MOST_DETAILED:
        return run.summary()
    if not quiet:
        rest = f"vqaudit summary {quoted(run.path)} --details (or --json)"
        say(
            f"[dim]{planned:,} trials: effects, remedies and the like are left out to save memory; {rest} tells them[/]"
        )
    return run.summary(details=False)


@app.command("plan")
@with_groups
def plan_command(
    *,
    model: Model,
    data: Data,
    split: Split = None,
    design: DesignNames = None,
    interface: InterfaceNames = None,
    draws: Draws = 1,
    half_width: HalfWidth = None,
    seed: Seed = 0,
    limit: Limit = None,
    variants: VariantOptions,
    prompts: PromptOptions,
    local: LocalOptions,
    server: ServerOptions,
    rows: RowOptions,
    timed: Annotated[
        bool | None,
        typer.Option(help="Answer a few trials to tell the time; nothing is kept. For servers only where asked for."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Says what a run would cost: trials, pictures, tokens, time. Writes nothing and spends nothing."""
    from vqaudit.report.terminal import cost_view
    from vqaudit.run import estimate_cost, make_audit_plan, make_spec
    from vqaudit.run.spec import chosen_formats

    dataset = data_of(data, rows, split=split, limit=limit)
    settings = settings_of(design, interface, variants=variants, prompts=prompts, draws=draws, seed=seed)
    _warn_of_mismatches(settings)
    spec = make_spec(settings)
    plan = make_audit_plan(dataset.items, spec)
    engine = maker_of(model, local=local, server=server, chat_kwargs=prompts.chat_kwargs)()
    timed = not is_server(model) if timed is None else timed
    cost = estimate_cost(plan, engine, spec=spec.asking, timed=timed)
    precision = None if half_width is None else _precision(dataset, half_width, chosen_formats(spec)[0])
    if as_json:
        aimed = {} if precision is None else {"precision": precision.model_dump(mode="json")}
        typer.echo(json.dumps(cost.to_dict() | aimed, indent=1))
        return
    console = Console()
    console.print(cost_view(cost.to_dict(), model=engine.name, data=dataset.name))
    for sentence in () if precision is None else precision.sentences:
        console.print(quoted(sentence))


def _precision(dataset: Dataset, half_width: float, formats: Sequence[Format]) -> Precision:
    """What a half-width takes with these items; refused where there is no such half-width."""
    from vqaudit.analysis.planning import plan_precision
    from vqaudit.asking.plan import grid_size

    items = dataset.items
    grid = round(grid_size(items, formats) / max(1, len(items)))
    return plan_precision(half_width, items=len(items), clusters=len({item.cluster for item in items}), grid=grid)


@app.command("rank")
@with_groups
def rank_command(
    *,
    model: Annotated[
        list[str], typer.Option("--model", "-m", help="Model; repeat for each.", metavar="PATH_OR_HUB_ID")
    ],
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder; each model has a run in it.", metavar="FOLDER")],
    margin: Annotated[float, typer.Option("--margin", help="Differences below it count as equal.", min=0.0)] = 0.01,
    max_draws: MaxDraws = 16,
    split: Split = None,
    interface: InterfaceNames = None,
    seed: Seed = 0,
    limit: Limit = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    server: ServerOptions,
    noise_floor: NoiseFloor = None,
    rows: RowOptions,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draws until every two models are told apart on this dataset, or equal to within a margin; resumes."""
    from vqaudit.ranking import audit_ranking
    from vqaudit.report.terminal.layout import View, bullets

    local = LocalOptions(device=device, dtype=dtype)
    with stoppable():
        dataset = data_of(data, rows, split=split, limit=limit)
        found = audit_ranking(
            {name: maker_of(name, local=local, server=server, several=True) for name in model},
            dataset,
            out=out,
            rule={"margin": margin, "max_draws": max_draws},
            progress=not quiet,
            seed=seed,
            interface=interface or ["direct"],
            noise_floor=noise_floor,
        )
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1))
    else:
        Console().print(View([bullets(found.sentences)]))
