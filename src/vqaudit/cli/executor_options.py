"""Options that say who asks: this process, or workers on Ray. Knows no command."""

from __future__ import annotations

from typing import Annotated, Any

import typer

__all__ = [
    "Address",
    "ExecutorName",
    "GpusPerWorker",
    "GraceSeconds",
    "HangSeconds",
    "Workers",
    "execution_of",
]

ExecutorName = Annotated[
    str, typer.Option("--executor", help="here: this process asks; ray: workers on Ray do.", metavar="here|ray")
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", help="Ray cluster to join, or auto; by default Ray starts on this machine.", metavar="ADDRESS"
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", help="Workers on Ray; by default as the GPUs allow, else one for 4 CPUs.", min=1),
]
GpusPerWorker = Annotated[
    float | None,
    typer.Option("--gpus-per-worker", help="GPUs of one worker, or a share of one; 1 where there are any.", min=0.0),
]
HangSeconds = Annotated[
    float,
    typer.Option("--hang-seconds", help="A worker on Ray that answers nothing for so long is replaced.", min=1.0),
]
GraceSeconds = Annotated[
    float,
    typer.Option("--grace-seconds", help="Workers on Ray have so long to finish their batch on SIGTERM.", min=0.0),
]
_OF_RAY = ("address", "workers", "gpus_per_worker")


def execution_of(given: dict[str, Any], stop: Any) -> Any:
    """Who asks, as a command's options say.

    Args:
        given: The command's parameters.
        stop: What the command's signals leave word with.
    """
    from vqaudit.auditing import Execution
    from vqaudit.run.executors import ExecutorSpec

    kind = given["executor"]
    if kind not in ("here", "ray"):
        raise typer.BadParameter(f"--executor is here or ray, not {kind!r}")
    if kind == "here" and (named := [name for name in _OF_RAY if given[name] is not None]):
        raise typer.BadParameter(f"--{named[0].replace('_', '-')} needs --executor ray")
    fields = ("address", "workers", "gpus_per_worker", "hang_seconds", "grace_seconds")
    return Execution(executor=ExecutorSpec(kind=kind, **{name: given[name] for name in fields}), stop=stop)
