"""From a path to descriptions: which reader a file needs, and which files of a folder are looked at.

Knows file names and first keys. A file that cannot be read is a finding, never passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.lint.description import Description
from vqaudit.lint.finding import Place
from vqaudit.lint.inspect_logs import describe_inspect, is_inspect, read_archive
from vqaudit.lint.results import describe_results, is_results
from vqaudit.lint.samples import describe_samples, is_sample_row
from vqaudit.lint.stated import describe_manifest, describe_stated, is_manifest, is_stated
from vqaudit.lint.tasks import describe_task, task_of_file
from vqaudit.lint.yaml_files import read_yaml

__all__ = ["Source", "find_files", "read_source"]

_SUFFIXES = (".yaml", ".yml", ".json", ".jsonl", ".eval")
_LARGEST = 256 * 2**20
_SKIPPED = ("__pycache__", ".git", ".ipynb_checkpoints", "node_modules", ".venv")


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A file and what it describes."""

    path: Path
    kind: str
    """`task file`, `template or group`, `results`, `samples`, `Inspect log`, `interfaces`, `run`, or `other`."""
    descriptions: tuple[Description, ...] = ()
    rows: bool = False
    """Whether each description is a row of one log."""


def find_files(path: Path) -> Iterator[tuple[Path, bool]]:
    """Yields the files behind a path, and whether each was named by the user rather than found in a folder.

    Raises:
        DatasetError: There is no such path.
    """
    if path.is_dir():
        if (path / "manifest.json").is_file():
            yield path / "manifest.json", True
            return
        for child in sorted(path.rglob("*")):
            wanted = child.suffix.lower() in _SUFFIXES and not set(child.parts) & set(_SKIPPED)
            if wanted and child.is_file():
                yield child, False
    elif path.exists():
        yield path, True
    else:
        raise DatasetError("there is no such file or folder", file=path)


def read_source(path: Path, *, named: bool) -> Source:
    """Reads one file.

    Args:
        path: The file.
        named: The user named this file: then it must be one that lint reads.

    Raises:
        DatasetError: It cannot be read, or was named and is no file that lint knows.
    """
    source = _read(path)
    if source.kind == "other" and named:
        raise DatasetError(
            "it is no task file, results file, sample log, Inspect log, run or list of interfaces", file=path
        )
    return source


def _read(path: Path) -> Source:
    kind = path.suffix.lower()
    if kind == ".eval":
        return _inspect(read_archive(path), path)
    if kind == ".jsonl":
        return _samples(path)
    if kind == ".json":
        return _json(path)
    return _yaml(path)


def _yaml(path: Path) -> Source:
    file = read_yaml(path)
    if is_stated(file.values):
        return Source(path=path, kind="interfaces", descriptions=tuple(describe_stated(file.values, path, file.place)))
    task = task_of_file(file)
    if task is None:
        return Source(path=path, kind="template or group")
    return Source(path=path, kind="task file", descriptions=describe_task(task))


def _samples(path: Path) -> Source:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            first = json.loads(lines.readline(_LARGEST) or "null")
    except (OSError, ValueError, RecursionError) as error:
        raise DatasetError(f"its first line is no JSON ({error})", file=path) from error
    if not is_sample_row(first):
        return Source(path=path, kind="other")
    return Source(path=path, kind="samples", descriptions=tuple(describe_samples(path)), rows=True)


def _json(path: Path) -> Source:
    data = _load(path)
    if is_results(data):
        return Source(path=path, kind="results", descriptions=tuple(describe_results(data, path)))
    if is_inspect(data):
        return _inspect(data, path)
    if is_manifest(data):
        return Source(path=path, kind="run", descriptions=tuple(describe_manifest(data, path)))
    if is_stated(data):

        def place(*keys: str) -> Place:
            return Place(file=str(path), key=".".join(keys))

        return Source(path=path, kind="interfaces", descriptions=tuple(describe_stated(data, path, place)))
    return Source(path=path, kind="other")


def _load(path: Path) -> Any:
    try:
        if path.stat().st_size > _LARGEST:
            raise DatasetError(f"it is larger than {_LARGEST >> 20} MiB; name its sample log instead", file=path)
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DatasetError(f"it cannot be read ({error.strerror or error})", file=path) from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"it is no JSON ({error})", file=path) from error


def _inspect(log: Any, path: Path) -> Source:
    rows = isinstance(log.get("samples"), list) and bool(log["samples"])
    return Source(path=path, kind="Inspect log", descriptions=tuple(describe_inspect(log, path)), rows=rows)
