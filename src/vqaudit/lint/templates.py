"""The fixed words of a prompt template: what stands outside its places to fill in, without worked examples.

Knows the marks of Jinja templates and of worked examples. Fills nothing in.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Piece", "fixed_pieces", "has_literal_escape", "shown_ids", "without_examples"]

FILLED = "{{…}}"
"""Stands for what a row fills in."""
_MARKS = re.compile(r"(\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\})", re.DOTALL)
_BRANCH = re.compile(r"\{%-?\s*(if|for)\b")
_BRANCH_END = re.compile(r"\{%-?\s*(endif|endfor)\b")
_EXAMPLE = re.compile(
    r"(?:^|\n)[ \t]*(?:Q|Question|Problem|Example|Pregunta|Frage|Domanda|Pergunta|问题)[ \t]*\d*[ \t]*[:：.]",
    re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\n(?=\\n|\s|$|[A-Z{])")
_LABEL = re.compile(
    r"(?:^|\n|[,;}\]?.][ \t]*)[ \t]*\(?([A-Ja-j1-9])[.):](?=\s|\{|$)|(?:(?<=[\s,;])|^)\(([A-Ja-j1-9])\)"
)
"""An ID begins a line, follows a separator or a filled place, or stands in brackets: no "Sentence 1:"."""


class Piece(NamedTuple):
    """Words, and whether every row shows them."""

    words: str
    certain: bool


def fixed_pieces(template: str) -> list[Piece]:
    """Returns the words of a Jinja template in order; what stands in a branch is not certain.

    Example:
        >>> [tuple(piece) for piece in fixed_pieces("Read. {% if hint %}Think.{% endif %} {{question}} Answer:")]
        [('Read. ', True), ('Think.', False), (' {{…}} Answer:', True)]
    """
    pieces: list[Piece] = []
    depth = 0
    for part in _MARKS.split(template):
        if _BRANCH.match(part):
            depth += 1
        elif _BRANCH_END.match(part):
            depth = max(0, depth - 1)
        elif part.startswith(("{%", "{#")) and _MARKS.fullmatch(part):
            continue
        elif part:
            words = FILLED if _MARKS.fullmatch(part) else part
            if pieces and pieces[-1].certain == (depth == 0):
                pieces[-1] = Piece(pieces[-1].words + words, depth == 0)
            else:
                pieces.append(Piece(words, depth == 0))
    return pieces


def without_examples(text: str) -> str:
    r"""Returns a text without its worked examples: what stands before the first question and from the last one on.

    Example:
        >>> without_examples("Solve.\nQ: 1+1\nA: Step by step, 2.\nQ: 2+2\nA:")
        'Solve.\nQ: 2+2\nA:'
    """
    starts = [found.start() for found in _EXAMPLE.finditer(text)]
    if len(starts) < 2:
        return text
    return text[: starts[0]] + text[starts[-1] :]


def has_literal_escape(template: str) -> bool:
    r"""Returns whether the fixed words hold a backslash and an n where a line break was meant.

    Example:
        >>> has_literal_escape(r"Read this.\n\nQuestion: {{q}}"), has_literal_escape(r"Is \neg p true?")
        (True, False)
    """
    return any(_ESCAPE.search(piece.words) for piece in fixed_pieces(template))


def shown_ids(text: str) -> tuple[str, ...]:
    r"""Returns the option IDs that a text shows before its options, in order; empty where it shows none.

    Example:
        >>> shown_ids("{{q}}\nA. {{choices[0]}}\nB. {{choices[1]}}"), shown_ids("{{q}} (1) one (2) two")
        (('A', 'B'), ('1', '2'))
    """
    labels = [found.group(1) or found.group(2) for found in _LABEL.finditer(text)]
    for first in ("A", "a", "1"):
        run = _run(labels, first)
        if len(run) >= 2:
            return run
    return ()


def _run(labels: list[str], first: str) -> tuple[str, ...]:
    """The longest run of neighbours in the alphabet that begins with `first`."""
    best: list[str] = []
    for start, label in enumerate(labels):
        if label != first:
            continue
        run = [label]
        for following in labels[start + 1 :]:
            if ord(following) == ord(run[-1]) + 1:
                run.append(following)
        best = max(best, run, key=len)
    return tuple(best)
