"""Prints the lowest versions that pyproject.toml allows, one `name==version` a line, as constraints for pip.

python constraints/lowest.py                  those of the core
python constraints/lowest.py report server    those of the core and of these extras
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[\w,-]+)\])?(?:>=(?P<version>[\w.]+))?")


def lowest_versions(extras: Sequence[str] = ()) -> dict[str, str]:
    """Returns package -> lowest version; an extra that names others of ours brings theirs too.

    Raises:
        SystemExit: There is no such extra, or a requirement has no lower bound.
    """
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    if unknown := sorted(set(extras) - set(optional)):
        raise SystemExit(f"no extra {', '.join(unknown)}; pyproject.toml has {', '.join(optional)}")
    found: dict[str, str] = {}
    for text in (*project["dependencies"], *(text for extra in extras for text in optional[extra])):
        bound = _BOUND.fullmatch(text)
        if bound is not None and bound["name"] == project["name"]:
            found |= lowest_versions(bound["extras"].split(","))
        elif bound is None or bound["version"] is None:
            raise SystemExit(f"{text!r} in pyproject.toml has no lower bound of the form NAME>=VERSION")
        else:
            found[bound["name"]] = bound["version"]
    return found


if __name__ == "__main__":
    for name, version in sorted(lowest_versions(sys.argv[1:]).items()):
        print(f"{name}=={version}")
