"""The command line: parse, call, print. Knows no statistic and no model.

Exit codes: 0 done, 1 an error that the message explains, 2 wrong usage, 130 stopped by Ctrl-C, 143 by SIGTERM.
"""

from __future__ import annotations

from rich.console import Console

from vqaudit.cli import ask, card, check, data, diff, export, grid, internals, lint, logs, models, run, show, status
from vqaudit.cli.app import app
from vqaudit.cli.console import quoted
from vqaudit.errors import VqauditError

__all__ = [
    "app",
    "ask",
    "card",
    "check",
    "data",
    "diff",
    "export",
    "grid",
    "internals",
    "lint",
    "logs",
    "main",
    "models",
    "run",
    "show",
    "status",
]


def main() -> None:
    """Runs the command line; errors of ours are one line on standard error."""
    try:
        app()
    except VqauditError as error:
        Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {quoted(error)}")
        raise SystemExit(1) from None
