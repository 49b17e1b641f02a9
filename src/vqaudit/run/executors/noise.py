"""What Ray does by itself, and how it is kept from it.

Knows environment variables and one prefix; does not load Ray, which reads the variables when it is loaded. For what it
prints there is no setting: messages of its node daemon about lost workers go to standard output whatever is asked
for, and would break what a command prints for another program to read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["keep_out", "set_surroundings"]

_PREFIX = "(raylet)"


def set_surroundings(*, local: bool) -> None:
    """Sets what Ray reads when it is loaded, unless the user has set it.

    Nothing is reported to anybody, and a cluster of this process alone writes no token into the home directory.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if local:
        os.environ.setdefault("RAY_AUTH_MODE", "disabled")


class _Filter:
    """Standard output without the lines of Ray's node daemon."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._dropping = False

    def write(self, text: str) -> int:
        """Writes the text, unless it is a line of the daemon or the line break behind one."""
        if _PREFIX in text:
            self._dropping = not text.endswith("\n")
            return len(text)
        if self._dropping and text == "\n":
            self._dropping = False
            return len(text)
        return self._inner.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def keep_out() -> Callable[[], None]:
    """Keeps the daemon's lines out of standard output; returns what lets everything through again."""
    before = sys.stdout
    mine: Any = _Filter(before)
    sys.stdout = mine

    def let_through() -> None:
        if sys.stdout is mine:
            sys.stdout = before

    return let_through
