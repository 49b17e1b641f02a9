"""A progress bar with rate and time left, and nothing else.

Knows counts. Knows no engine and no record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

__all__ = ["Advance", "no_progress", "rich_progress"]

Advance = Callable[[int, int], None]
"""Called with (trials finished now, of which failed)."""


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f}/s", style="cyan")


def no_progress(done: int, failed: int) -> None:
    """Shows nothing."""


@contextmanager
def rich_progress(label: str, *, total: int, done: int, console: Console | None = None) -> Iterator[Advance]:
    """Shows a bar on standard error while the block runs; yields what to call after each batch.

    Args:
        label: What is being done.
        total: Trials planned.
        done: Trials that earlier sessions finished.
        console: Where to draw; standard error by default, so that output can be piped.
    """
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        _Rate(),
        TextColumn("{task.fields[failed]}", style="red"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console or Console(stderr=True)) as progress:
        task = progress.add_task(label, total=total, completed=done, failed="")
        failures = 0

        def advance(finished: int, failed: int) -> None:
            nonlocal failures
            failures += failed
            progress.update(task, advance=finished, failed=f"{failures} failed" if failures else "")

        yield advance
