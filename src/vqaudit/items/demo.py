"""The packaged demonstration: two tiny trained models and held-out items with images.

Knows where the package keeps them.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from vqaudit.errors import DatasetError
from vqaudit.items.dataset import Dataset
from vqaudit.items.loading import load_items

__all__ = ["DEMO_MODELS", "demo_items", "demo_model_path"]

DEMO_MODELS = {"demo": "model", "demo-1": "model-1"}
"""Name of a packaged model -> its folder. The same recipe from another seed, and other flaws: `demo` never replies some
IDs and cannot read them either, `demo-1` reads IDs that it never replies."""

_REINSTALL = "the demonstration is not packaged here; reinstall vqaudit unpacked (pip install vqaudit)"


def demo_items(*, limit: int | None = None) -> Dataset:
    """Returns the packaged items, which the packaged models have not seen.

    Args:
        limit: Return at most so many, from the first.

    Raises:
        DatasetError: This installation does not carry them.
    """
    path = _demo_folder() / "items.jsonl"
    if not path.is_file():
        raise DatasetError(_REINSTALL, file=path)
    return replace(load_items(path, limit=limit), name="demo")


def demo_model_path(name: str = "demo") -> Path:
    """Returns the folder of a packaged model, as `transformers` loads it.

    Args:
        name: A key of `DEMO_MODELS`.

    Raises:
        DatasetError: This installation does not carry it.
    """
    path = _demo_folder() / DEMO_MODELS[name]
    if not path.is_dir():
        raise DatasetError(_REINSTALL, file=path)
    return path


def _demo_folder() -> Path:
    return Path(str(files("vqaudit"))) / "demo_data"
