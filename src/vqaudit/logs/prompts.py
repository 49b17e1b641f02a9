"""The options that a logged prompt shows, and the format that it shows them in.

Knows how lists of options look. Knows no harness and no answer. A log that drops its data set keeps the options in
the prompt alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from vqaudit.logs.rows import LETTERS

__all__ = ["PromptFormat", "Shown", "find_options", "format_of"]

_ROMANS = (
    *("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII"),
    *("XIV", "XV", "XVI", "XVII", "XVIII", "XIX", "XX", "XXI", "XXII", "XXIII", "XXIV", "XXV", "XXVI"),
)
_ID_SETS: dict[str, tuple[str, ...]] = {
    "upper": tuple(LETTERS),
    "lower": tuple(LETTERS.lower()),
    "number": tuple(str(number) for number in range(1, 27)),
    "roman": _ROMANS,
}
_DELIMITERS = {"colon": "{}:", "dot": "{}.", "bracket": "{})", "double_brackets": "({})"}
_SEPARATORS = {"line_break": "\n", "comma": ", ", "semicolon": "; "}


class PromptFormat(NamedTuple):
    """Names of the standard grid's levels; None where a prompt shows something else."""

    id_set: str | None
    delimiter: str | None
    separator: str | None


class Shown(NamedTuple):
    """What a prompt shows."""

    question: str
    """What stands before the options, earlier examples left out."""
    options: tuple[str, ...]
    option_ids: tuple[str, ...]


class _Label(NamedTuple):
    place: int
    """Index into the ID set."""
    start: int
    end: int


def find_options(prompt: str) -> Shown | None:
    r"""Returns the last list of options that a prompt shows; earlier ones belong to examples.

    A list begins with the first ID of a set and goes on in order. The last option ends with its line, so that an
    instruction below it is none of its text. Options on one line are looked for where no list has a line each.

    Example:
        >>> find_options("What is it?\nA. a cat\nB. a dog\nAnswer with the letter.")
        Shown(question='What is it?', options=('a cat', 'a dog'), option_ids=('A', 'B'))
        >>> find_options("How many cats are there?") is None
        True
    """
    for inline in (False, True):
        found = [
            (run, name)
            for name, delimiter in product(_ID_SETS, _DELIMITERS)
            for run in _runs(prompt, name, delimiter, inline)
        ]
        if found:
            run, name = max(found, key=lambda pair: (pair[0][-1].start, len(pair[0])))
            before = [other[-1].end for other, _ in found if other[-1].end <= run[0].start]
            return _shown(prompt, run, _ID_SETS[name], max(before, default=None), inline=inline)
    return None


def _runs(prompt: str, id_set: str, delimiter: str, inline: bool) -> Iterator[list[_Label]]:
    run: list[_Label] = []
    for label in _labels(prompt, id_set, delimiter, inline):
        if run and label.place == len(run):
            run.append(label)
            continue
        if len(run) > 1:
            yield run
        run = [label] if label.place == 0 else []
    if len(run) > 1:
        yield run


def _labels(prompt: str, id_set: str, delimiter: str, inline: bool) -> Iterator[_Label]:
    ids = _ID_SETS[id_set]
    for found in _pattern(id_set, delimiter, inline).finditer(prompt):
        yield _Label(ids.index(found["id"]), found.start(), found.end())


@cache
def _pattern(id_set: str, delimiter: str, inline: bool) -> re.Pattern[str]:
    one_of = "|".join(sorted(_ID_SETS[id_set], key=len, reverse=True))
    bound = re.escape(_DELIMITERS[delimiter]).replace(r"\{\}", f"(?P<id>{one_of})")
    before = r"(?:^|(?<=[\s,;]))" if inline else r"^[ \t]*"
    return re.compile(rf"{before}{bound}[ \t]+(?=\S)", re.MULTILINE)


def _shown(prompt: str, run: list[_Label], ids: Sequence[str], earlier: int | None, *, inline: bool) -> Shown:
    ends = [label.start for label in run[1:]]
    line_end = prompt.find("\n", run[-1].end)
    ends.append(len(prompt) if line_end < 0 else line_end)
    texts = [prompt[label.end : end].strip() for label, end in zip(run, ends, strict=True)]
    if inline:
        texts = [text.rstrip(",;") for text in texts]
    question = prompt[: run[0].start] if earlier is None else _after_example(prompt[earlier : run[0].start])
    return Shown(question.strip(), tuple(texts), tuple(ids[: len(run)]))


def _after_example(text: str) -> str:
    """Drops the rest of an example: its last option's line and its answer, up to a blank line where there is one."""
    rest = text.partition("\n")[2]
    _, blank, question = rest.partition("\n\n")
    return question if blank and question.strip() else rest


def format_of(prompt: str | None, options: Sequence[str], option_ids: Sequence[str]) -> PromptFormat:
    r"""Returns the format in which a prompt shows these very options.

    Example:
        >>> format_of("What is it?\n(A) a cat\n(B) a dog", ["a cat", "a dog"], ["A", "B"])
        PromptFormat(id_set='upper', delimiter='double_brackets', separator='line_break')
    """
    names = [name for name, ids in _ID_SETS.items() if tuple(option_ids) == ids[: len(option_ids)] and option_ids]
    if prompt is None or not names:
        return PromptFormat(None, None, None)
    for (delimiter, template), (separator, text) in product(_DELIMITERS.items(), _SEPARATORS.items()):
        bound = [f"{template.replace('{}', i)} {option}" for i, option in zip(option_ids, options, strict=True)]
        if text.join(bound) in prompt:
            return PromptFormat(names[0], delimiter, separator)
    return PromptFormat(names[0], None, None)
