"""vqaudit: whether a multiple-choice score of a vision-language model can be trusted, and the score that can.

Importing this package loads no model library, touches no file and configures nothing; heavy parts are loaded where
they are used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vqaudit.analysis.summary import Comparison, Summary, compare
    from vqaudit.asking.formats import FORMATS, Format
    from vqaudit.asking.interfaces import INTERFACES, Interface
    from vqaudit.auditing import Run, audit, load_model, open_run
    from vqaudit.engines.scripted import ScriptedEngine
    from vqaudit.errors import VqauditError
    from vqaudit.items import Columns, Dataset, Item, load_items
    from vqaudit.reading import Reading, read_reply

__all__ = [
    "FORMATS",
    "INTERFACES",
    "Columns",
    "Comparison",
    "Dataset",
    "Format",
    "Interface",
    "Item",
    "Reading",
    "Run",
    "ScriptedEngine",
    "Summary",
    "VqauditError",
    "audit",
    "compare",
    "load_items",
    "load_model",
    "open_run",
    "read_reply",
]

_HOMES = {
    "FORMATS": "asking.formats",
    "INTERFACES": "asking.interfaces",
    "Columns": "items",
    "Comparison": "analysis.summary",
    "Dataset": "items",
    "Format": "asking.formats",
    "Interface": "asking.interfaces",
    "Item": "items",
    "Reading": "reading",
    "Run": "auditing",
    "ScriptedEngine": "engines.scripted",
    "Summary": "analysis.summary",
    "VqauditError": "errors",
    "audit": "auditing",
    "compare": "analysis.summary",
    "load_items": "items",
    "load_model": "auditing",
    "open_run": "auditing",
    "read_reply": "reading",
}


def __getattr__(name: str) -> object:
    """Loads a public name from its home on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'vqaudit' has no attribute {name!r}")
    return getattr(import_module(f"vqaudit.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """Lists the public names."""
    return sorted(__all__)
