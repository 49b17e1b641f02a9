"""The command line: parse, call, print. Knows no statistic and no model.

Exit codes: 0 done, 1 an error that the message explains, 2 wrong usage, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from vqaudit.cli import ask, grid, run, show
from vqaudit.cli.app import app
from vqaudit.errors import VqauditError

__all__ = ["app", "ask", "grid", "main", "run", "show"]


def main() -> None:
    """Runs the command line; errors of ours are one line on standard error."""
    try:
        app()
    except VqauditError as error:
        Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {escape(str(error))}")
        raise SystemExit(1) from None
