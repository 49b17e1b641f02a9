"""What a reply says that its answer is, and what its prose closes in on.

Knows cues and what stands after them. The rules say which of several statements counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from vqaudit.reading.context import Reply
from vqaudit.reading.cues import Cue, find_cues, find_prose_cues, peel
from vqaudit.reading.labels import Label
from vqaudit.reading.lines import listed_in
from vqaudit.reading.normalise import CLOSE, OPEN, fold
from vqaudit.reading.phrases import corrects_itself, is_hedged
from vqaudit.reading.reading import Reading
from vqaudit.reading.sentences import affirmed, before, first_sentence
from vqaudit.reading.tails import chosen

__all__ = ["Statement", "conclusions", "corrected", "judged_right", "may_go_on", "statements"]

_REACH = 1000
"""Characters after a cue in which its answer stands."""
_MOST = 100
"""IDs called right that are looked at, the last of a reply."""

_IS = r"(?:is|must be|would be|has to be|should be|seems(?: to be)?|appears to be|looks)"
_RIGHT = (
    r"(?:correct|right(?!\s+(?:of|side|hand|next|above|below|behind|in|at|on)\b)|best|answer|option|choice|true|one|"
    r"accurate|appropriate|solution|suitable|plausible|likely|fit|match)"
)
_VERDICT = re.compile(
    rf"[\s,]*{_IS}\s+(?:\w+ly\s+|therefore\s+|thus\s+|indeed\s+)?(?:the\s+)?"
    rf"(?:only\s+|most\s+|single\s+|best\s+|correct\s+|right\s+)*(?:one that is\s+)?{_RIGHT}"
    r"\s*(?:$|[.,;:!)\n]|(?:answer|option|choice|one|because|since|as|here|and|so|given|based|for|to|among|of)\b)"
    r"|[\s,]*(?:fits|matches)\s+(?:the\s+)?(?:best|description|picture|image|figure|evidence)\b"
    r"|\s*项?(?:是|が)?(?:正确|正確|对的|最合适|正解)|(?:가|이)?\s*(?:정답|맞)"
    r"|[\s,]*(?:the\s+)(?:correct|right|best)\s+(?:answer|option|choice|one)\b",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\bonly\s+(?:options?\s+|choice\s+)?[\"'(\[]?$", re.IGNORECASE)
_REMAINS = re.compile(
    r"\s+(?:fits|works|matches|is|remains|is left|makes|qualifies|shows|has|does|can|satisf\w+)\b(?! not\b|n't)",
    re.IGNORECASE,
)
_LEFT_OPEN = re.compile(r"\b(?:if|whether|not|why|how|either|or)\b", re.IGNORECASE)


class Statement(NamedTuple):
    """Something that a reply says its answer is."""

    start: int
    told: int
    """Where its cue ends."""
    end: int
    reading: Reading
    firm: bool
    """Neither hedged nor merely named somewhere after the cue."""


def statements(reply: Reply) -> Iterator[Statement]:
    """Reads what follows every explicit cue."""
    text = reply.text
    cues = [cue for cue in find_cues(text) if not _gap_has_label(reply, cue)]
    for cue, following in zip_longest(cues, cues[1:]):
        start, end = _piece(reply, cue)
        if following and following.start > cue.end:
            end = min(end, following.start)
        piece = text[start:end]
        reading, plainly = reply.options.read_piece(piece, formatted=cue.formatted)
        if reading is None or (start > cue.end and not _stands_below(reply, piece, end)):
            continue
        hedged = cue.hedged or (not cue.formatted and "at first" in piece)
        yield Statement(cue.start, cue.end, end, reading, firm=plainly and not hedged)


def _stands_below(reply: Reply, line: str, end: int) -> bool:
    """True for a line under a cue that is the answer, and no first item of what is now gone through."""
    if line.rstrip().endswith(":"):
        return False
    if reply.options.read_whole(line):
        return True
    label = reply.labels.head(line)
    if label is None:
        return False
    rest = reply.options.rests(line, label)[0]
    begun = fold(reply.texts.own(label.option_id)).startswith(fold(rest))
    return begun or not (reply.cut and end == len(reply.text))


def _gap_has_label(reply: Reply, cue: Cue) -> bool:
    """`Option A: ...` and `option B is ...` speak of an option; they do not announce one."""
    gap = cue.gap.strip()
    if not gap:
        return False
    label = reply.labels.head(gap)
    return label is not None and label.exact


def _piece(reply: Reply, cue: Cue) -> tuple[int, int]:
    """Gives the words after a cue: the rest of its line, or the next line where that is blank."""
    text, start = reply.text, cue.end
    if text[cue.start : cue.end] == OPEN:
        close = text.find(CLOSE, start, start + _REACH)
        return start, close if close >= 0 else len(text[: start + _REACH])
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if text[start:end].strip(" \"'*:" + CLOSE) == "":
        while end < len(text) and text[end] == "\n":
            end += 1
        start, end = end, text.find("\n", end)
        end = len(text) if end < 0 else end
        following = text[end:].lstrip("\n").partition("\n")[0]
        if listed_in(reply, text[start:end]) and listed_in(reply, following[:400]):
            return end, end
    return start, min(end, start + _REACH)


def may_go_on(reply: Reply, reading: Reading) -> bool:
    """True where the engine stopped right behind an ID that may be the beginning of a longer one."""
    if not reply.cut or reading.option_id is None or not reply.text[-1:].isalnum():
        return False
    return reply.labels.prefixes_another(reading.option_id)


def corrected(reply: Reply, reading: Reading, since: int) -> Reading | None:
    """Gives what a reply takes its answer back for, where it says so in prose."""
    for place, option_id in sorted(conclusions(reply, since), reverse=True):
        if option_id != reading.option_id and corrects_itself(reply.text[since:place]):
            return chosen(option_id, "corrected")
    return None


def conclusions(reply: Reply, since: int = 0) -> Iterator[tuple[int, str]]:
    """Finds the IDs that prose affirms, with their places."""
    text = reply.text
    for cue in find_prose_cues(text):
        if cue.start < since or cue.hedged:
            continue
        line = text[cue.end : cue.end + 300].partition("\n")[0]
        reading = reply.options.label_first(line[peel(line) :], formatted=False)
        if reading is None and cue.formatted:
            reading = reply.options.read_whole(first_sentence(line[peel(line) :]))
        if reading and reading.option_id:
            yield cue.end, reading.option_id
    for label in judged_right(reply, hedged=False):
        if label.start >= since:
            yield label.start, label.option_id


def judged_right(reply: Reply, *, hedged: bool) -> list[Label]:
    """Finds the IDs that are called right: `B is correct`, `(B) a blue van fits best`; not `neither A nor B is`."""
    tokens = list(reply.labels.tokens(reply.text))
    called = [index for index, label in enumerate(tokens) if _verdict(reply, label, hedged=hedged)][-_MOST:]
    kept = affirmed(reply.text, [(label.start, label.end) for label in tokens], called) if called else []
    return [tokens[index] for index in kept]


def _verdict(reply: Reply, label: Label, *, hedged: bool) -> bool:
    text, place = reply.text, label.end
    own = reply.texts.at_start(text[place : place + 400])
    if own and label.option_id in own.ids:
        place += own.end + len(text[place + own.end :][:4]) - len(text[place + own.end :][:4].lstrip(")]\"'"))
    context = before(text, label.start)[-30:]
    found = _VERDICT.match(text, place) or (_ONLY.search(context) and _REMAINS.match(text, place))
    if found is None or is_hedged(found.group()) != hedged:
        return False
    return not _LEFT_OPEN.search(context)
