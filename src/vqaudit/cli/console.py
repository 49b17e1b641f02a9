"""Where commands speak, and how they are stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

__all__ = ["print_summary", "say", "stoppable"]


def say(message: str) -> None:
    """Prints a line on standard error; rich markup is read."""
    Console(stderr=True).print(message)


def print_summary(summary: Any) -> None:
    """Prints what a run found on standard output."""
    from vqaudit.report.terminal import summary_view

    Console().print(summary_view(summary))


def _interrupt(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def stoppable() -> Iterator[None]:
    """Turns Ctrl-C and SIGTERM into exit code 130 with a word on how to go on."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except KeyboardInterrupt:
        say("[yellow]stopped; what was answered is kept, and the same command goes on[/]")
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)
