"""The command that looks inside: `internals`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from vqaudit.cli.app import app
from vqaudit.cli.console import say
from vqaudit.cli.options import AsJson, OneRun


@app.command("internals")
def internals_command(
    run: OneRun,
    train: Annotated[
        Path | None,
        typer.Option("--train", help="Run with the training examples; else a part of RUN itself.", metavar="RUN"),
    ] = None,
    validation: Annotated[
        Path | None,
        typer.Option("--validation", help="Run that selects checkpoints; else a part of --train.", metavar="RUN"),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option("--part", help="probe, layers, readout or vocabulary; repeat. All by default.", metavar="NAME"),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Fits; figures are means over them.", min=1)] = 5,
    epochs: Annotated[int, typer.Option("--epochs", help="Passes of a probe at most.", min=1)] = 50,
    rank: Annotated[int, typer.Option("--rank", help="Rank of the retrained readout.", min=1)] = 32,
    most_train: Annotated[int, typer.Option("--most-train", help="Training examples at most.", min=1)] = 3000,
    seed: Annotated[int, typer.Option("--seed", help="Of splits, fits and intervals.", min=0)] = 0,
    device: Annotated[str, typer.Option("--device", help="Where fits are computed: cpu, cuda ...")] = "cpu",
    stored: Annotated[bool, typer.Option("--stored", help="Show what is stored; fit nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Probes, layers and retrained readouts from the hidden states that a run kept (--keep-states)."""
    from vqaudit.analysis.internals import read_internals
    from vqaudit.internals import PARTS, Part, ProbeSpec, Sources, study_internals
    from vqaudit.report.terminal import internals_view

    if validation is not None and train is None:
        raise typer.BadParameter("--validation needs --train")
    if unknown := [name for name in part or () if name not in PARTS]:
        raise typer.BadParameter(f"no part {unknown[0]!r}: choose from {', '.join(PARTS)}")
    if stored:
        found = read_internals(run)
    else:
        settings: dict[str, Any] = {"seeds": seeds, "epochs": epochs, "rank": rank, "most_train": most_train}
        spec = ProbeSpec(**settings, seed=seed, device=device)
        chosen: tuple[Part, ...] = PARTS if part is None else tuple(name for name in PARTS if name in set(part))

        def starting() -> None:
            if not as_json:
                say(f"[dim]fitting {', '.join(chosen)}; results go to {run}/internals[/]")

        sources = Sources(run=run, train=train, validation=validation)
        found = study_internals(sources, spec=spec, parts=chosen, starting=starting)
    if as_json:
        typer.echo(found.model_dump_json(indent=1))
    else:
        Console().print(internals_view(found))
