"""The page's own script and style, and the policy that lets a browser run these and nothing else.

Knows template files and Content Security Policy (level 3). Knows no run.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

__all__ = ["content_policy", "page_script", "page_style"]

_PARTS = ("data", "elements", "search", "list", "grid", "trial", "item", "start")
"""Files of the explorer in the order in which they build on one another."""


def page_script() -> str:
    """Returns the script of the page: the explorer's files as one, with no name outside it."""
    parts = [_template(f"explorer/{name}.js") for name in _PARTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def page_style() -> str:
    """Returns the style sheets of the page as one."""
    return _template("page.css") + _template("explorer.css")


def content_policy(*, script: str, style: str) -> str:
    """Returns the policy: nothing is fetched, nothing runs or styles but these texts, byte for byte.

    Args:
        script: What stands between the tags of the page's script.
        style: The same of its style sheet.

    Example:
        >>> content_policy(script="", style="").split("; ")[:2]
        ["default-src 'none'", "script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"]
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_source(script)}",
            f"style-src {_source(style)}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _template(name: str) -> str:
    return files("vqaudit.report").joinpath("templates", *name.split("/")).read_text(encoding="utf-8")
