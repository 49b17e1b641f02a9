"""Options that say who asks: this process, or workers on Ray. Knows no command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from vqaudit.cli.options import flag

if TYPE_CHECKING:
    from vqaudit.auditing import Execution
    from vqaudit.run.stopping import Stop

__all__ = ["ExecutorOptions", "execution_of"]

_OF_RAY = ("address", "workers", "gpus_per_worker")


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutorOptions:
    """Who asks."""

    executor: Annotated[
        str, typer.Option("--executor", help="here: this process asks; ray: workers on Ray do.", metavar="here|ray")
    ] = "here"
    address: Annotated[
        str | None,
        typer.Option(
            "--address", help="Ray cluster to join, or auto; by default Ray starts on this machine.", metavar="ADDRESS"
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Workers on Ray; by default as the GPUs allow, else one for 4 CPUs.", min=1),
    ] = None
    gpus_per_worker: Annotated[
        float | None,
        typer.Option(
            "--gpus-per-worker", help="GPUs of one worker, or a share of one; 1 where there are any.", min=0.0
        ),
    ] = None
    hang_seconds: Annotated[
        float,
        typer.Option("--hang-seconds", help="A worker on Ray that answers nothing for so long is replaced.", min=1.0),
    ] = 900.0
    grace_seconds: Annotated[
        float,
        typer.Option("--grace-seconds", help="Workers on Ray have so long to finish their batch on SIGTERM.", min=0.0),
    ] = 60.0


def execution_of(options: ExecutorOptions, stop: Stop) -> Execution:
    """Returns who asks, as a command's options say.

    Args:
        options: The options.
        stop: What the command's signals leave word with.

    Raises:
        typer.BadParameter: There is no such executor, or an option is of the other one.
    """
    from vqaudit.auditing import Execution
    from vqaudit.run.executors import ExecutorSpec

    kind = options.executor
    if kind != "here" and kind != "ray":
        raise typer.BadParameter(f"--executor is here or ray, not {kind!r}")
    if kind == "here" and (named := [name for name in _OF_RAY if getattr(options, name) is not None]):
        raise typer.BadParameter(f"{flag(named[0])} needs --executor ray")
    spec = ExecutorSpec(
        kind=kind,
        address=options.address,
        workers=options.workers,
        gpus_per_worker=options.gpus_per_worker,
        hang_seconds=options.hang_seconds,
        grace_seconds=options.grace_seconds,
    )
    return Execution(executor=spec, stop=stop)
