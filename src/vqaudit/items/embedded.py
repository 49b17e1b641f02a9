"""Questions that carry their own options: the text before the options, the options, and the instruction after them.

Knows texts. Knows no column. It never guesses: where the options cannot be told apart in only one way, there are none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from vqaudit.items.screening import carries_instruction

__all__ = ["EmbeddedOptions", "split_options"]

_STYLES = (r"[(（\[]\s*{0}\s*[)）\]]", r"{0}\s*[)）]", r"{0}\s*[.．]", r"{0}\s*[:：、]")
"""`(A)`, `A)`, `A.` and `A:` with their full-width forms; `{0}` is the letter."""
_WHOLE = ("?", ".", ":", "？", "。", "：")
_HEAD = re.compile(r"(?:^|\n)?[ \t]*\b(?:the\s+)?(?:options|choices|answer choices)(?:\s+are)?\s*[:：]\s*$", re.I)


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedOptions:
    """A question's text taken apart."""

    question: str
    """Without the options and without an instruction on how to answer."""
    options: tuple[str, ...]
    """Without their IDs."""
    instruction: str | None = None
    """What the text said about how to answer; the ending of the prompt says it instead."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The IDs that the text gave to the options: A, B, ... in order."""
        return tuple(ascii_uppercase[: len(self.options)])


def split_options(text: str) -> EmbeddedOptions | None:
    r"""Takes the options out of a question's text; None where it has none, or where they cannot be told apart.

    Options begin with A, B, ... in order, all written alike: each on a line of its own (V*Bench, RealWorldQA); or all
    in one text after `Options:` (MMStar), where each follows a comma, a semicolon or a blank; or, as `(A) ... (B) ...`,
    after a whole question. An instruction in the lines after the last option, or at the end of the question, is taken
    out too.

    Args:
        text: The question as the dataset has it.

    Example:
        >>> found = split_options("What is worn?\n(A) a hat\n(B) a scarf\nAnswer with the option's letter directly.")
        >>> found.question, found.options, found.instruction
        ('What is worn?', ('a hat', 'a scarf'), "Answer with the option's letter directly.")
        >>> split_options("Which fits?\nOptions: A: left, B: right, C: both, or none").options
        ('left', 'right', 'both, or none')
        >>> split_options("How many?") is None
        True
    """
    text = text.replace("\r\n", "\n").strip()
    found = _in_lines(text) or _in_one_line(text)
    if found is None:
        return None
    before, options = found
    options[-1], after = _without_instruction(options[-1])
    question, within = _without_instruction(_HEAD.sub("", before).strip())
    if not question or not all(options):
        return None
    said = " ".join(part for part in (within, after) if part)
    return EmbeddedOptions(question=question, options=tuple(options), instruction=said or None)


def _in_lines(text: str) -> tuple[str, list[str]] | None:
    """Finds options of which each begins a line."""
    return _sequence(text, r"(?:^|\n)[ \t]*", after=r"[ \t]*(?=\S)")


def _in_one_line(text: str) -> tuple[str, list[str]] | None:
    """Finds options behind `Options:`, or in round brackets behind a whole question; every ID must occur once."""
    head = re.search(r"(?:options|choices|answer choices)(?:\s+are)?\s*[:：]", text, re.IGNORECASE)
    if head is None:
        found = _sequence(text, r"\s+", after=r"[ \t]*(?=\S)", styles=_STYLES[:1])
        return found if found is not None and found[0].rstrip().endswith(_WHOLE) else None
    found = _sequence(text[head.end() :], r"(?:^|[,;，；]|\s)\s*", after=r"[ \t]*(?=\S)")
    if found is None or found[0].strip():
        return None
    return text[: head.end()], [option.rstrip(" ,;，；") for option in found[1]]


def _sequence(text: str, lead: str, *, after: str, styles: Sequence[str] = _STYLES) -> tuple[str, list[str]] | None:
    """Cuts at A, B, ...: all with the brackets of the first, and none of them twice."""
    for style in styles:
        cuts: list[re.Match[str]] = []
        for letter in ascii_uppercase:
            pattern = re.compile(lead + style.format(letter) + after)
            places = list(pattern.finditer(text, cuts[-1].end() - 1 if cuts else 0))
            if not places:
                break
            if len(places) > 1:
                return None
            cuts.append(places[0])
        if len(cuts) >= 2:
            ends = [*(cut.start() for cut in cuts[1:]), len(text)]
            options = [text[cut.end() : end].strip() for cut, end in zip(cuts, ends, strict=True)]
            return text[: cuts[0].start()], options
    return None


def _without_instruction(text: str) -> tuple[str, str | None]:
    """Cuts the last sentence or lines of a text off where they tell how to answer."""
    for cut in re.finditer(r"\n|(?<=[.?!。？！])\s+", text):
        rest = text[cut.end() :].strip()
        if rest and carries_instruction(rest) and carries_instruction(text[: cut.start()]) is None:
            return text[: cut.start()].strip(), rest
    return text, None
