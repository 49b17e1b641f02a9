"""Commands that spend: `run`, and `plan`, which says beforehand what it would cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from vqaudit.cli.app import app
from vqaudit.cli.console import print_summary, say, stoppable
from vqaudit.cli.options import (
    Answers,
    AsJson,
    Budget,
    ChatKwargs,
    Columns,
    ConfirmOrders,
    Data,
    DesignNames,
    Device,
    Draws,
    Dtype,
    FormatsFile,
    HalfWidth,
    ImageRoot,
    InterfaceNames,
    Limit,
    MaxDraws,
    MaxPixels,
    MaxTokens,
    Model,
    Orders,
    Reference,
    Revision,
    Seed,
    SkipBad,
    System,
    TrustRemoteCode,
    Until,
    data_of,
    model_of,
    settings_of,
)
from vqaudit.errors import PlanError


@app.command("run")
def run_command(
    context: typer.Context,
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Run directory.", metavar="RUN")],
    design: DesignNames = None,
    interface: InterfaceNames = None,
    draws: Draws = 1,
    until: Until = None,
    max_draws: MaxDraws = 16,
    confirm_orders: ConfirmOrders = 1,
    seed: Seed = 0,
    limit: Limit = None,
    reference: Reference = None,
    formats: FormatsFile = None,
    orders: Orders = "circular",
    system: System = None,
    chat_kwargs: ChatKwargs = None,
    image_max_pixels: MaxPixels = None,
    budget: Budget = "emitted",
    max_tokens: MaxTokens = 512,
    device: Device = "auto",
    dtype: Dtype = "auto",
    revision: Revision = None,
    trust_remote_code: TrustRemoteCode = False,
    columns: Columns = None,
    answers: Answers = None,
    skip_bad_items: SkipBad = False,
    image_root: ImageRoot = None,
    page: Annotated[bool, typer.Option(help="Write page.html too.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Audits a model on a dataset; the same command goes on where it was stopped."""
    from vqaudit.auditing import audit

    with stoppable():
        dataset = data_of(context.params)
        engine = model_of(context.params)
        run = audit(engine, dataset, out=out, progress=not quiet, **settings_of(context.params))
        engine.close()
    _finish_run(run, page=page, quiet=quiet)


def _finish_run(run: Any, *, page: bool, quiet: bool) -> None:
    from vqaudit.errors import EngineUnavailable
    from vqaudit.records import write_text

    summary = run.summary()
    write_text(run.path / "summary.json", summary.to_json() + "\n")
    if not quiet:
        print_summary(summary)
    if page:
        try:
            say(f"[dim]page:[/] {escape(str(run.report(run.path / 'page.html')))}")
        except EngineUnavailable as error:
            say(f"[dim]no page: {escape(str(error))}[/]")
    if summary.counts.done == 0:
        raise PlanError(f"no trial could be answered; see the errors in {run.path}")


@app.command("plan")
def plan_command(
    context: typer.Context,
    model: Model,
    data: Data,
    design: DesignNames = None,
    interface: InterfaceNames = None,
    draws: Draws = 1,
    half_width: HalfWidth = None,
    seed: Seed = 0,
    limit: Limit = None,
    reference: Reference = None,
    formats: FormatsFile = None,
    orders: Orders = "circular",
    system: System = None,
    chat_kwargs: ChatKwargs = None,
    image_max_pixels: MaxPixels = None,
    budget: Budget = "emitted",
    max_tokens: MaxTokens = 512,
    device: Device = "auto",
    dtype: Dtype = "auto",
    revision: Revision = None,
    trust_remote_code: TrustRemoteCode = False,
    columns: Columns = None,
    answers: Answers = None,
    skip_bad_items: SkipBad = False,
    image_root: ImageRoot = None,
    timed: Annotated[bool, typer.Option(help="Answer a few trials to tell the time; nothing is kept.")] = True,
    as_json: AsJson = False,
) -> None:
    """Says what a run would cost: trials, pictures, tokens, time. Writes nothing and spends nothing."""
    from vqaudit.report.terminal import cost_view
    from vqaudit.run import estimate_cost, make_audit_plan, make_spec

    dataset = data_of(context.params)
    spec = make_spec(settings_of(context.params))
    plan = make_audit_plan(dataset.items, spec)
    engine = model_of(context.params)
    cost = estimate_cost(plan, engine, spec=spec.asking, timed=timed)
    precision = None if half_width is None else _precision(dataset, half_width)
    if as_json:
        aimed = {} if precision is None else {"precision": precision.model_dump(mode="json")}
        typer.echo(json.dumps(cost.to_dict() | aimed, indent=1))
        return
    console = Console()
    console.print(cost_view(cost.to_dict(), model=engine.name, data=dataset.name))
    for sentence in () if precision is None else precision.sentences:
        console.print(escape(sentence))


def _precision(dataset: Any, half_width: float) -> Any:
    """What a half-width takes with these items; refused where there is no such half-width."""
    from vqaudit.analysis.planning import plan_precision

    variants = [48 * (item.n_options if item.permutable else 1) for item in dataset.items]
    clusters = len({item.cluster for item in dataset.items})
    grid = round(sum(variants) / max(1, len(variants)))
    return plan_precision(half_width, items=len(variants), clusters=clusters, grid=grid)


@app.command("rank")
def rank_command(
    context: typer.Context,
    model: Annotated[
        list[str], typer.Option("--model", "-m", help="Model; repeat for each.", metavar="PATH_OR_HUB_ID")
    ],
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder; each model has a run in it.", metavar="FOLDER")],
    margin: Annotated[float, typer.Option("--margin", help="Differences below it count as equal.", min=0.0)] = 0.01,
    max_draws: MaxDraws = 16,
    interface: InterfaceNames = None,
    seed: Seed = 0,
    limit: Limit = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    columns: Columns = None,
    answers: Answers = None,
    skip_bad_items: SkipBad = False,
    image_root: ImageRoot = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draws until every two models are told apart on this dataset, or equal to within a margin; resumes."""
    from functools import partial

    from vqaudit.auditing import load_model
    from vqaudit.ranking import audit_ranking

    with stoppable():
        dataset = data_of(context.params)
        spec = {"device": device, "dtype": dtype}
        settings = {"seed": seed, "interface": interface or ["direct"]}
        found = audit_ranking(
            {name: partial(load_model, name, **spec) for name in model},
            dataset,
            out=out,
            rule={"margin": margin, "max_draws": max_draws},
            progress=not quiet,
            **settings,
        )
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1))
    else:
        for sentence in found.sentences:
            Console().print(escape(sentence))
