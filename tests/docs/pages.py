"""The code blocks of a Markdown page, and which of them are to be run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\S*) *(?P<rest>.*)$")
_NOT_RUN = re.compile(r"^ *<!-- not run: (?P<reason>\S.*) -->$")
_FILE = re.compile(r"^ *<!-- file: (?P<name>\S+) -->$")
RUN = ("bash", "python")
"""Languages of blocks that are commands; `console` and blocks without a language are shown and never run."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A code block: what stands in it, from which line, why it is not run, or the file that it is to become."""

    language: str
    text: str
    line: int
    not_run: str | None = None
    file: str | None = None


def read_blocks(page: Path) -> list[Block]:
    """Returns the blocks in the order of the page.

    A comment on the last non-empty line before a block says more: `<!-- not run: reason -->`, or `<!-- file: name -->`
    for a block that is written to a file.
    """
    blocks, before = [], ""
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            before = line if line.strip() else before
            continue
        inside = []
        for _, text in lines:
            if text.strip() == "```":
                break
            inside.append(text.removeprefix(fence["indent"]))
        said, named = _NOT_RUN.match(before), _FILE.match(before)
        blocks.append(
            Block(
                language=fence["language"],
                text="\n".join(inside) + "\n",
                line=number,
                not_run=said["reason"] if said else None,
                file=named["name"] if named else None,
            )
        )
        before = ""
    return blocks
