"""Models by name: hub ID, engine, size, memory, traps.

Knows data about models. Loads no weights and no model library.
"""

from vqaudit.engines.models.entries import MODELS
from vqaudit.engines.models.entry import ModelEntry
from vqaudit.engines.models.memory import Shape, memory_needed
from vqaudit.engines.models.names import find_model, known_model, local_model, resolve_model

__all__ = [
    "MODELS",
    "ModelEntry",
    "Shape",
    "find_model",
    "known_model",
    "local_model",
    "memory_needed",
    "resolve_model",
]
