"""How far a run is, in a terminal.

Knows the status of a run. Computes nothing.
"""

from __future__ import annotations

from rich.console import Group, RenderableType

from vqaudit.records import RunStatus
from vqaudit.report.digits import UNKNOWN, count, duration
from vqaudit.report.terminal.layout import View, bullets, columns, dim, plain, rows, section, share_bar
from vqaudit.report.untrusted import bare_name

__all__ = ["status_view"]

_WORDS = {
    "running": ("running", "bold green"),
    "complete": ("complete", "bold green"),
    "imported": ("imported from a log", "bold green"),
    "interrupted": ("stopped; the same command goes on", "bold yellow"),
    "failed": ("ended by an error; the same command goes on", "bold red"),
    "gone": ("its process is gone; the same command goes on", "bold red"),
}
_MANY_PARTS = 256
"""Parts from which compaction is worth a word."""
_SHOWN_WORKERS = 16


def status_view(status: RunStatus) -> View:
    """Returns what `rich` prints of a run's status: trials by design, rate, time left, workers."""
    parts: list[RenderableType] = [
        plain(f"{bare_name(status.model)}: {_WORDS[status.state][0]}", _WORDS[status.state][1])
    ]
    parts.append(_figures(status))
    if status.designs:
        parts.append(section("By design", _designs(status)))
    if status.workers and status.state == "running":
        parts.append(section("Workers", _workers(status)))
    if remarks := _remarks(status):
        parts.append(Group("", bullets(remarks, style="yellow")))
    return View(parts)


def _figures(status: RunStatus) -> RenderableType:
    share = status.done / status.planned if status.planned else None
    lines: list[tuple[RenderableType, ...]] = [
        ("trials", count(status.planned), share_bar(share)),
        ("answered", count(status.done), dim("" if share is None else f"{100 * share:.1f} %")),
        ("failed", count(status.failed), dim("asked again when the run goes on" if status.failed else "")),
        ("missing", count(status.missing)),
    ]
    if status.state == "running":
        rate = UNKNOWN if status.rate is None else f"{status.rate:,.1f}/s"
        lines.append(("rate", rate, dim("over the last minute")))
        lines.append(("time left", duration(status.seconds_left), dim("at this rate")))
    lines.append(("last part", duration(status.last_part_seconds), dim("ago")))
    return rows(lines, right=(1,), folding=(2,))


def _designs(status: RunStatus) -> RenderableType:
    table = columns("interface", "design", "planned", "answered", "failed", "missing", right=(2, 3, 4, 5), folding=(0,))
    for each in status.designs:
        figures = (count(n) for n in (each.planned, each.done, each.failed, each.missing))
        table.add_row(plain(each.interface), plain(each.design), *figures)
    return table


def _workers(status: RunStatus) -> RenderableType:
    table = columns("worker", "machine", "process", "state", "trials", "silent", "replaced", right=(2, 4, 5, 6))
    for worker in status.workers[:_SHOWN_WORKERS]:
        table.add_row(
            plain(worker.name),
            plain(worker.host or UNKNOWN),
            UNKNOWN if worker.pid is None else str(worker.pid),
            plain(worker.state),
            count(worker.trials),
            duration(worker.silent),
            count(worker.replaced),
        )
    more = len(status.workers) - _SHOWN_WORKERS
    alive = f"{status.workers_alive} of {len(status.workers)} alive (heard within a minute)"
    return Group(table, dim(alive if more <= 0 else f"{alive}; {more} more are not shown"))


def _some(number: int, what: str) -> str:
    return f"{count(number)} {what}{'' if number == 1 else 's'}"


def _remarks(status: RunStatus) -> list[str]:
    found = []
    if status.session is not None and status.session.deaths:
        found.append(f"{_some(status.session.deaths, 'worker')} died or hung in this session and were replaced")
    if status.quarantined:
        found.append(f"{_some(status.quarantined, 'damaged part')} set aside in quarantine/, each with a note")
    if status.parts >= _MANY_PARTS and status.state != "running":
        found.append(f"{count(status.parts)} parts; vqaudit compact makes few of them, without losing a record")
    return found
