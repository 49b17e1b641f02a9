"""Commands that spend: `run`, and `plan`, which says beforehand what it would cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.console import print_summary, quoted, say, stoppable
from vqaudit.cli.executor_options import (
    Address,
    ExecutorName,
    GpusPerWorker,
    GraceSeconds,
    HangSeconds,
    Workers,
    execution_of,
)
from vqaudit.cli.options import (
    AnswerCue,
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
    EndingsFile,
    FormatsFile,
    HalfWidth,
    ImageRoot,
    InterfaceNames,
    KeepStates,
    Limit,
    MaxDraws,
    MaxPixels,
    MaxTokens,
    Model,
    Orders,
    Permutations,
    Preset,
    Reference,
    Revision,
    Seed,
    SkipBad,
    Split,
    System,
    TrustRemoteCode,
    Until,
    Watch,
    data_of,
    maker_of,
    model_of,
    model_settings,
    settings_of,
)
from vqaudit.cli.server_options import (
    ApiKeyEnv,
    BaseUrl,
    Concurrency,
    ExtraBody,
    ImageEncoding,
    NoiseFloor,
    PriceCached,
    PriceIn,
    PriceOut,
    ReasoningTokens,
    Retries,
    Timeout,
    is_server,
)
from vqaudit.errors import PlanError


@app.command("run")
def run_command(
    context: typer.Context,
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
    reference: Reference = None,
    formats: FormatsFile = None,
    endings: EndingsFile = None,
    preset: Preset = None,
    watch: Watch = None,
    answer_cue: AnswerCue = None,
    permutations: Permutations = 5,
    keep_states: KeepStates = None,
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
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    retries: Retries = None,
    reasoning_tokens: ReasoningTokens = None,
    image_encoding: ImageEncoding = None,
    extra_body: ExtraBody = None,
    price_in: PriceIn = None,
    price_cached: PriceCached = None,
    price_out: PriceOut = None,
    noise_floor: NoiseFloor = None,
    columns: Columns = None,
    answers: Answers = None,
    skip_bad_items: SkipBad = False,
    image_root: ImageRoot = None,
    executor: ExecutorName = "here",
    address: Address = None,
    workers: Workers = None,
    gpus_per_worker: GpusPerWorker = None,
    hang_seconds: HangSeconds = 900.0,
    grace_seconds: GraceSeconds = 60.0,
    page: Annotated[bool, typer.Option(help="Write page.html too.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Audits a model on a dataset; the same command goes on where it was stopped."""
    from vqaudit.auditing import audit

    with stoppable() as stop:
        execution = execution_of(context.params, stop)
        dataset = data_of(context.params)
        settings = settings_of(context.params)
        _warn_of_mismatches(settings)
        make = maker_of(context.params)
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


def _finish_run(run: Any, *, page: bool, quiet: bool) -> None:
    from vqaudit.errors import EngineUnavailable
    from vqaudit.records import QUARANTINE, write_text

    if (found := len(list((run.path / QUARANTINE).glob("*.json")))) and not quiet:
        place = quoted(run.path / QUARANTINE)
        say(f"[yellow]{found} damaged part(s) set aside in {place}, their trials asked again[/]")
    summary = run.summary()
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


@app.command("plan")
def plan_command(
    context: typer.Context,
    model: Model,
    data: Data,
    split: Split = None,
    design: DesignNames = None,
    interface: InterfaceNames = None,
    draws: Draws = 1,
    half_width: HalfWidth = None,
    seed: Seed = 0,
    limit: Limit = None,
    reference: Reference = None,
    formats: FormatsFile = None,
    endings: EndingsFile = None,
    preset: Preset = None,
    watch: Watch = None,
    answer_cue: AnswerCue = None,
    permutations: Permutations = 5,
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
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    retries: Retries = None,
    reasoning_tokens: ReasoningTokens = None,
    image_encoding: ImageEncoding = None,
    extra_body: ExtraBody = None,
    price_in: PriceIn = None,
    price_cached: PriceCached = None,
    price_out: PriceOut = None,
    columns: Columns = None,
    answers: Answers = None,
    skip_bad_items: SkipBad = False,
    image_root: ImageRoot = None,
    timed: Annotated[
        bool | None,
        typer.Option(help="Answer a few trials to tell the time; nothing is kept. For servers only where asked for."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Says what a run would cost: trials, pictures, tokens, time. Writes nothing and spends nothing."""
    from vqaudit.report.terminal import cost_view
    from vqaudit.run import estimate_cost, make_audit_plan, make_spec

    dataset = data_of(context.params)
    settings = settings_of(context.params)
    _warn_of_mismatches(settings)
    spec = make_spec(settings)
    plan = make_audit_plan(dataset.items, spec)
    engine = model_of(context.params)
    timed = not is_server(model) if timed is None else timed
    cost = estimate_cost(plan, engine, spec=spec.asking, timed=timed)
    precision = None if half_width is None else _precision(dataset, half_width)
    if as_json:
        aimed = {} if precision is None else {"precision": precision.model_dump(mode="json")}
        typer.echo(json.dumps(cost.to_dict() | aimed, indent=1))
        return
    console = Console()
    console.print(cost_view(cost.to_dict(), model=engine.name, data=dataset.name))
    for sentence in () if precision is None else precision.sentences:
        console.print(quoted(sentence))


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
    split: Split = None,
    interface: InterfaceNames = None,
    seed: Seed = 0,
    limit: Limit = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    retries: Retries = None,
    reasoning_tokens: ReasoningTokens = None,
    image_encoding: ImageEncoding = None,
    extra_body: ExtraBody = None,
    price_in: PriceIn = None,
    price_cached: PriceCached = None,
    price_out: PriceOut = None,
    noise_floor: NoiseFloor = None,
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
    from vqaudit.report.terminal.layout import View, bullets

    with stoppable():
        dataset = data_of(context.params)
        options = {name: context.params | {"model": name} for name in model}
        settings = {"seed": seed, "interface": interface or ["direct"], "noise_floor": noise_floor}
        found = audit_ranking(
            {name: partial(load_model, name, **model_settings(options[name], several=True)) for name in model},
            dataset,
            out=out,
            rule={"margin": margin, "max_draws": max_draws},
            progress=not quiet,
            **settings,
        )
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1))
    else:
        Console().print(View([bullets(found.sentences)]))
