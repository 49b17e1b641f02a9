"""What only imported logs have, in a terminal: the log's scoring beside ours, and questions in several orders.

Knows the summary. Computes nothing.
"""

from __future__ import annotations

from rich.console import Group, RenderableType

from vqaudit.analysis.as_logged import AsLogged
from vqaudit.analysis.schema import Summary
from vqaudit.report.digits import UNKNOWN, count, difference, interval
from vqaudit.report.terminal.layout import columns, dim, plain, rows, section

__all__ = ["as_logged_view", "circular_view"]

_MOST_KINDS = 8


def as_logged_view(summary: Summary) -> RenderableType | None:
    """Returns how the log scores itself, how its replies read anew, and which rules made the difference."""
    found = summary.as_logged
    if found is None:
        return None
    lines: list[tuple[RenderableType, ...]] = [
        (plain("as logged"), plain(interval(found.accuracy)), dim("the log's own verdicts")),
        (plain("read anew"), plain(interval(found.reread)), dim("the same replies, one reader for all logs")),
        (plain("difference"), plain(difference(found.difference)), dim("paired by row")),
        (plain("agreement"), plain(interval(found.agreement)), dim("the same option read, or none by both")),
        (plain("changed"), plain(f"{count(found.changed)} of {count(found.trials)}"), dim(_moves(found))),
    ]
    table = rows(lines, right=(1,), folding=(2,))
    return section("The log's scoring and ours", Group(table, *_kinds(found)))


def _moves(found: AsLogged) -> str:
    return f"{count(found.gained)} become right, {count(found.lost)} become wrong"


def _kinds(found: AsLogged) -> list[RenderableType]:
    if not found.kinds:
        return []
    table = columns("read as", "by which rule, or why not", "rows", "gained", "lost", right=(2, 3, 4))
    for kind in found.kinds[:_MOST_KINDS]:
        numbers = (plain(count(number)) for number in (kind.trials, kind.gained, kind.lost))
        table.add_row(plain(kind.outcome), plain(kind.reason), *numbers)
    rest = found.kinds[_MOST_KINDS:]
    more = f"and {count(sum(kind.trials for kind in rest))} rows of {count(len(rest))} more kinds (--json has all)"
    return ["", table, *([dim(more)] if rest else [])]


def circular_view(summary: Summary) -> RenderableType | None:
    """Returns how many questions a log holds in how many orders, and what clustering them changes."""
    found = summary.circular
    if found is None:
        return None
    held = ", ".join(f"{count(number)} in {orders}" for orders, number in found.by_orders.items())
    errors = [
        UNKNOWN if error is None else f"{100 * error:.2f} pp"
        for error in (found.standard_error_clustered, found.standard_error_naive)
    ]
    lines: list[tuple[RenderableType, ...]] = [
        (
            plain("questions"),
            plain(count(found.groups + found.single)),
            dim(f"{held} orders; {count(found.rows)} rows"),
        ),
        (plain("short"), plain(count(found.fewer_orders_than_options)), dim("in fewer orders than they have options")),
        (plain("by question"), plain(interval(found.item_mean)), dim("mean over the orders of each question")),
        (
            plain("standard error"),
            plain(errors[0]),
            dim(f"of the mean over rows; as if rows were independent {errors[1]}"),
        ),
    ]
    return section("Questions in several orders", rows(lines, right=(1,), folding=(2,)))
