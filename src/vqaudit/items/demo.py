"""The packaged demonstration: a tiny trained model and held-out items with images.

Knows where the package keeps them.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from vqaudit.errors import DatasetError
from vqaudit.items.dataset import Dataset
from vqaudit.items.loading import load_items

__all__ = ["demo_items", "demo_model_path"]

_REINSTALL = "the demonstration is not packaged here; reinstall vqaudit unpacked (pip install vqaudit)"


def demo_items(*, limit: int | None = None) -> Dataset:
    """Returns the packaged items, which the packaged model has not seen.

    Args:
        limit: Return at most so many, from the first.

    Raises:
        DatasetError: This installation does not carry them.
    """
    path = _demo_folder() / "items.jsonl"
    if not path.is_file():
        raise DatasetError(_REINSTALL, file=path)
    return replace(load_items(path, limit=limit), name="demo")


def demo_model_path() -> Path:
    """Returns the folder of the packaged model, as `transformers` loads it.

    Raises:
        DatasetError: This installation does not carry it.
    """
    path = _demo_folder() / "model"
    if not path.is_dir():
        raise DatasetError(_REINSTALL, file=path)
    return path


def _demo_folder() -> Path:
    return Path(str(files("vqaudit"))) / "demo_data"
