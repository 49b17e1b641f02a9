"""Where commands speak, and how they are stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape

from vqaudit.report.untrusted import printable

if TYPE_CHECKING:
    from vqaudit.analysis.summary import Summary
    from vqaudit.run.stopping import Stop

__all__ = ["print_summary", "quoted", "say", "stoppable"]


def quoted(text: object) -> str:
    r"""Returns what others wrote (a path, a name, an error's words) for `say`: no markup, and nothing a terminal obeys.

    Example:
        >>> quoted("[red]\x1b[2J")
        '\\[red]␛[2J'
    """
    return escape(printable(str(text)))


def say(message: str) -> None:
    """Prints a line on standard error; rich markup is read."""
    Console(stderr=True).print(message)


def print_summary(summary: Summary) -> None:
    """Prints what a run found on standard output."""
    from vqaudit.report.terminal import summary_view

    Console().print(summary_view(summary))


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Turns Ctrl-C into exit code 130 and SIGTERM into 143, with a word on how to go on.

    Yields what SIGTERM leaves word with: whoever has a batch in hand finishes and writes it first.
    """
    from vqaudit.run.stopping import Stop, Terminated

    stop = Stop()
    try:
        with stop.listening():
            yield stop
    except KeyboardInterrupt as error:
        say("[yellow]stopped; what was answered is kept, and the same command goes on[/]")
        raise typer.Exit(143 if isinstance(error, Terminated) else 130) from None
