"""YAML of task files as plain values with their lines; includes are resolved and no tag is ever acted upon.

Knows YAML and the key `include`. Knows no harness. It owns the package `yaml`, which it loads when it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from vqaudit.errors import DatasetError, EngineUnavailable
from vqaudit.lint.finding import Place
from vqaudit.lint.shapes import as_list

__all__ = ["Tagged", "YamlFile", "forget_yaml", "read_yaml"]

_LARGEST = 16 * 2**20
_DEEPEST = 60
_INCLUDES = 20
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")


@dataclass(frozen=True, kw_only=True, slots=True)
class Tagged:
    """A value with a tag of its own, such as `!function utils.doc_to_text`: kept as words."""

    tag: str
    value: Any
    place: Place


@dataclass(frozen=True, kw_only=True, slots=True)
class YamlFile:
    """A mapping with its includes merged, and where each key was written."""

    path: Path
    values: dict[str, Any]
    places: dict[str, Place]
    """By key, and by keys joined with dots two levels down."""
    own: frozenset[str]
    """Keys of the file itself, apart from those that an include brought."""

    def place(self, *keys: str) -> Place:
        """Returns where a key is written; where that is not known, where its parent is."""
        for length in range(len(keys), 0, -1):
            if (found := self.places.get(".".join(keys[:length]))) is not None:
                return found
        return Place(file=str(self.path), key=".".join(keys) or None)


def read_yaml(path: Path) -> YamlFile:
    """Reads a YAML mapping and what it includes.

    Raises:
        DatasetError: The file is none, or an include is missing or goes in circles.
        EngineUnavailable: The package `pyyaml` is missing.
    """
    return _resolved(path.resolve() if path.is_symlink() else path, shown=path, trail=())


def _resolved(path: Path, *, shown: Path, trail: tuple[Path, ...]) -> YamlFile:
    if path in trail or len(trail) >= _INCLUDES:
        raise DatasetError(f"it includes itself by way of {path.name}; remove one of the includes", file=shown)
    values, places = _read(path)
    if not isinstance(values, dict):
        raise DatasetError("it holds no mapping of keys to values; a task file needs one", file=shown)
    own = frozenset(values)
    merged: dict[str, Any] = {}
    spots: dict[str, Place] = {}
    included = values.get("include")
    for name in as_list(included):
        base = _included(path, name, shown=shown, trail=trail)
        merged |= {key: value for key, value in base.values.items() if key != "task_list"}
        spots |= base.places
    merged |= {key: value for key, value in values.items() if key != "include"}
    spots = {key: place for key, place in spots.items() if key.partition(".")[0] not in own} | places
    return YamlFile(path=shown, values=merged, places=spots, own=own)


def _included(path: Path, name: object, *, shown: Path, trail: tuple[Path, ...]) -> YamlFile:
    target = (path.parent / str(name)).resolve()
    if not target.is_file():
        raise DatasetError(
            f"its include {str(name)!r} does not exist; put the file there", file=shown, column="include"
        )
    return _resolved(target, shown=path.parent / str(name), trail=(*trail, path))


@lru_cache(maxsize=512)
def _read(path: Path) -> tuple[Any, dict[str, Place]]:
    node = _compose(path)
    places: dict[str, Place] = {}
    try:
        value = _Plain(path, places).value(node, "", 0)
    except RecursionError as error:
        raise DatasetError("it is nested too deeply; flatten it", file=path) from error
    return value, places


def forget_yaml() -> None:
    """Forgets what was read, so that a file that has changed is read anew."""
    _read.cache_clear()


def _compose(path: Path) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise EngineUnavailable("reading YAML", extra="logs") from error
    try:
        if path.stat().st_size > _LARGEST:
            raise DatasetError(f"it is larger than {_LARGEST >> 20} MiB, which no task file is", file=path)
        text = path.read_text(encoding="utf-8-sig")
        return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise DatasetError(f"it cannot be read ({error.strerror or error})", file=path) from error
    except UnicodeDecodeError as error:
        raise DatasetError("it is not UTF-8 text; save it as UTF-8", file=path) from error
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())
        raise DatasetError(f"it is no YAML ({said[:160]})", file=path) from error
    except RecursionError as error:
        raise DatasetError("it is nested too deeply; flatten it", file=path) from error


class _Plain:
    """Turns nodes into values; an anchor that is used twice is one value, so that none of them multiplies."""

    def __init__(self, path: Path, places: dict[str, Place]) -> None:
        self._path = path
        self._places = places
        self._done: dict[int, Any] = {}
        self._open: set[int] = set()

    def value(self, node: Any, key: str, depth: int) -> Any:
        name = id(node)
        if node is None or name in self._done:
            return self._done.get(name)
        if name in self._open or depth > _DEEPEST:
            raise DatasetError("an anchor of it holds itself, or it is nested too deeply", file=self._path)
        self._open.add(name)
        self._done[name] = found = self._converted(node, key, depth)
        self._open.discard(name)
        return found

    def _converted(self, node: Any, key: str, depth: int) -> Any:
        own_tag = not node.tag.startswith("tag:yaml.org,2002:")
        if isinstance(node.value, str):
            plain: Any = node.value if own_tag else _scalar(node.tag, node.value)
        elif node.id == "mapping":
            plain = self._mapping(node, key, depth)
        else:
            plain = [self.value(child, key, depth + 1) for child in node.value]
        if not own_tag or node.tag == "!null":
            return None if own_tag else plain
        place = Place(file=str(self._path), key=key or None, line=node.start_mark.line + 1)
        return Tagged(tag=node.tag, value=plain, place=place)

    def _mapping(self, node: Any, key: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name_node, value_node in node.value:
            name = name_node.value if isinstance(name_node.value, str) else str(self.value(name_node, key, depth + 1))
            path = f"{key}.{name}" if key else name
            if depth <= 2:
                self._places[path] = Place(file=str(self._path), key=path, line=name_node.start_mark.line + 1)
            value = self.value(value_node, path, depth + 1)
            if name == "<<" and isinstance(value, Mapping):
                found = {**value, **found}
            else:
                found[name] = value
        return found


def _scalar(tag: str, text: str) -> Any:
    kind = tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool" and text.lower() in _TRUE + _FALSE:
        return text.lower() in _TRUE
    if kind in ("int", "float"):
        try:
            return int(text) if kind == "int" else float(text)
        except ValueError:
            return text
    return text
