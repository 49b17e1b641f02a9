"""Shows the examples of docstrings as code: to griffe, `Example:` is a box of prose, and `Examples:` is one of code."""

from __future__ import annotations

from typing import Any

import griffe


class Examples(griffe.Extension):
    """Renames the heading wherever it stands alone on its line."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Runs once for every function, class, attribute and module, before its docstring is read."""
        if obj.docstring is not None:
            lines = obj.docstring.value.splitlines()
            obj.docstring.value = "\n".join("Examples:" if line.strip() == "Example:" else line for line in lines)
