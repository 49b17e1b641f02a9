"""Data sets of the Hugging Face hub, and local copies of them, into rows.

The only module that imports `datasets`. Pictures stay encoded. No code that comes with a data set is ever run.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vqaudit.errors import DatasetError, EngineUnavailable
from vqaudit.items.cells import describe

__all__ = ["HubSource", "read_hub"]

_BATCH = 32
"""Rows that are taken out of Arrow at once: few, since pictures can have megabytes."""
_SAVED = ("state.json", "dataset_dict.json")
"""What `datasets.save_to_disk` leaves in a folder."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HubSource:
    """Where rows come from."""

    name: str
    """`OWNER/NAME` on the hub, or a local folder."""
    configs: tuple[str | None, ...] = (None,)
    split: str
    revision: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether it is a folder on this machine."""
        return Path(self.name).is_dir()


def read_hub(source: HubSource) -> Iterator[dict[str, Any]]:
    """Yields the rows of a data set as plain values, one configuration after the other.

    A folder is read where it lies; a data set of the hub is downloaded into the cache of `datasets` once, and read
    from there afterwards, also without a network.

    Args:
        source: A data set on the hub or a folder: the hub's files, or what `save_to_disk` wrote.

    Raises:
        EngineUnavailable: `datasets` is not installed.
        DatasetError: It cannot be reached or read, or has no such configuration or split.
    """
    try:
        import datasets
    except ImportError as error:
        raise EngineUnavailable(f"reading data set {source.name!r}", extra="hub") from error
    for config in _configs(datasets, source):
        with _one_sentence(source, config), _quiet(datasets, source):
            data = _open(datasets, source, config)
        for batch in data.with_format("arrow").iter(batch_size=_BATCH):
            yield from batch.to_pylist()


def _configs(datasets: Any, source: HubSource) -> tuple[str | None, ...]:
    """Returns the configurations to read; a folder that has only one has it under whatever name."""
    if not source.is_local:
        return source.configs
    if _is_saved(source):
        return (None,)
    with _one_sentence(source, None), _quiet(datasets, source):
        present = datasets.get_dataset_config_names(source.name)
    return (present[0],) if len(present) == 1 else source.configs


def _is_saved(source: HubSource) -> bool:
    return any((Path(source.name) / name).is_file() for name in _SAVED)


def _open(datasets: Any, source: HubSource, config: str | None) -> Any:
    if not source.is_local:
        return datasets.load_dataset(source.name, config, split=source.split, revision=source.revision)
    if not _is_saved(source):
        return datasets.load_dataset(source.name, config, split=source.split, streaming=True)
    saved = datasets.load_from_disk(source.name)
    if not isinstance(saved, datasets.DatasetDict):
        return saved
    if source.split not in saved:
        raise DatasetError(f"no split {source.split!r}; it has {describe(list(saved))}", file=source.name)
    return saved[source.split]


@contextmanager
def _one_sentence(source: HubSource, config: str | None) -> Iterator[None]:
    """Turns whatever `datasets` raises into one sentence that says what to do."""
    where = f"{source.name}{'' if config is None else f' ({config})'}, split {source.split!r}"
    try:
        yield
    except DatasetError:
        raise
    except Exception as error:  # `datasets` and the hub's client raise their own and others' errors, OSError among them
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        advice = "" if source.is_local else f"; {_advice(source)}"
        raise DatasetError(f"{where} cannot be read: {reason}{advice}") from error


def _advice(source: HubSource) -> str:
    return (
        f"where there is a network, `hf download {source.name} --repo-type dataset --local-dir FOLDER`, "
        "then give --data NAME=FOLDER"
    )


@contextmanager
def _quiet(datasets: Any, source: HubSource) -> Iterator[None]:
    """Keeps retries, and for a local copy progress bars, from the terminal; a download shows its own."""
    client = logging.getLogger("huggingface_hub")
    level, was_on = client.level, not datasets.are_progress_bars_disabled()
    client.setLevel(logging.ERROR)
    if source.is_local:
        datasets.disable_progress_bars()
    try:
        yield
    finally:
        client.setLevel(level)
        if was_on:
            datasets.enable_progress_bars()
