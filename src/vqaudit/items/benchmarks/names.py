"""What `--data` says when it names a benchmark: `mmstar`, `mmmu:Art,Biology`, `mmstar=FOLDER`, `mmstar=OWNER/NAME`.

Knows names and paths. Reads no data.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from vqaudit.errors import DatasetError
from vqaudit.items.benchmarks.entries import BENCHMARKS
from vqaudit.items.benchmarks.entry import Benchmark
from vqaudit.items.cells import describe

__all__ = ["Wanted", "find_benchmark", "parse_name"]

_HUB_NAME = re.compile(r"(?P<hub>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@(?P<revision>[\w./-]+))?")
_NAME = re.compile(r"[A-Za-z][\w*. +-]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A benchmark and where its data is."""

    entry: Benchmark
    configs: tuple[str | None, ...]
    hub: str
    """The data set on the hub."""
    revision: str | None = None
    """Branch, tag or commit on the hub; None is the newest."""
    place: Path | None = None
    """A local copy, which is read instead of the hub."""


def find_benchmark(name: str) -> Benchmark:
    """Returns the benchmark of that name; case, blanks, `-`, `_`, `*` and dots do not count.

    Raises:
        DatasetError: There is none.

    Example:
        >>> find_benchmark("V*Bench").name, find_benchmark("MMMU_Pro").name
        ('vstar', 'mmmu-pro')
    """
    found = _by_name(name)
    if found is None:
        near = difflib.get_close_matches(name.casefold(), list(BENCHMARKS), n=2, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise DatasetError(f"no benchmark is called {name!r}; {hint}`vqaudit data` lists them")
    return found


def parse_name(data: str) -> Wanted | None:
    """Returns what a text names as a benchmark; None where it is the path of a file, or a name of nothing known.

    `NAME=PATH` names a local copy, `NAME=OWNER/NAME` another data set of the same layout on the hub (`@REVISION` behind
    it pins a commit), and `NAME:PART,PART` some of the parts (subjects) of a benchmark that has several.

    Raises:
        DatasetError: The name before `=` is unknown, there is no such copy, or no such part.

    Example:
        >>> parse_name("mmstar").hub, parse_name("answers.csv") is None
        ('Lin-Chen/MMStar', True)
        >>> parse_name("mmmu:Art,Music").configs
        ('Art', 'Music')
    """
    if Path(data).is_file():
        return None
    name, equals, source = data.partition("=")
    name, colon, parts = name.partition(":")
    entry = _by_name(name)
    if entry is None:
        if equals and _NAME.fullmatch(name):
            find_benchmark(name)
        return None
    configs = _parts(entry, parts) if colon else entry.configs
    if not equals:
        return Wanted(entry=entry, configs=configs, hub=entry.hub, revision=entry.revision)
    place = Path(source).expanduser()
    if place.exists():
        return Wanted(entry=entry, configs=configs, hub=entry.hub, place=place)
    if match := _HUB_NAME.fullmatch(source):
        return Wanted(entry=entry, configs=configs, hub=match["hub"], revision=match["revision"])
    raise DatasetError(f"there is no file or folder {source!r} for {entry.name}")


def _by_name(name: str) -> Benchmark | None:
    wanted = _normal(name)
    return next((e for e in BENCHMARKS.values() if wanted in (_normal(e.name), _normal(e.title))), None)


def _normal(name: str) -> str:
    return re.sub(r"[\s_.*-]+", "", name).casefold()


def _parts(entry: Benchmark, text: str) -> tuple[str, ...]:
    known = {_normal(config): config for config in entry.configs if config is not None}
    chosen = [part.strip() for part in text.split(",") if part.strip()]
    if len(known) < 2 or not chosen:
        raise DatasetError(f"{entry.title} has no parts to choose from")
    if unknown := [part for part in chosen if _normal(part) not in known]:
        raise DatasetError(f"{entry.title} has no part {unknown[0]!r}; it has {describe(list(known.values()))}")
    return tuple(known[_normal(part)] for part in chosen)
