"""Which of several things that a sentence names does it affirm?

Knows negation in a clause. Knows neither IDs nor options: it is given spans.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence

__all__ = ["affirmed", "before", "denied_after", "denies_one", "first_sentence", "questions_removed"]

_SPAN = "\x04"
_END = re.compile(r"[.!?;](?=\s|$)|\n")
_QUESTION = re.compile(r"[^.!?\n]*\?")
_CLAUSE = re.compile(
    r"[;.!?](?=\s|$)|\n|,?\s{1,3}(?:but|which|leaving|leaves|so|therefore|thus|hence|however|while|whereas|because|since|though)\b"
    r"|,\s?(?:it|this|that|we|i|the (?:answer|correct))\b",
    re.IGNORECASE,
)
_DENIES_NEXT = re.compile(
    r"\b(?:not|never|neither|nor|without|except|excluding|unlike|than|instead of|rul(?:e|es|ed|ing) out|"
    r"eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed)|reject(?:s|ed|ing)?|dismiss(?:es|ed|ing)?|discard(?:s|ed|ing)?|"
    r"isn't|aren't|wasn't|can't be|cannot be|won't be|couldn't be|nicht|kein|no es|pas|non è|não é|не)(?![A-Za-z])"
    r"|不是|不选|不選|并非|而非",
    re.IGNORECASE,
)
_FILLER = re.compile(
    rf"(?:[\s,/&\"'()\[\]:{_SPAN}-]|\b(?:and|or|nor|either|options?|choices?|answers?|letters?|the|an?|be|by|any|of|both|out|all|"
    r"also|even|it|is|simply|just)\b)*",
    re.IGNORECASE,
)
_REACH = 200
"""Characters of a clause on either side in which a denial is looked for."""
_ONE = re.compile(r"[\s)\"'\]]*(?:is|was|does|has|seems|looks|appears|isn't|doesn't|wasn't|hasn't)\b", re.IGNORECASE)
_DENIED = re.compile(
    rf"(?P<list>(?:\([^()]{{0,80}}\)|[\s,/&\"')\]{_SPAN}]|\b(?:and|or|nor|options?|choices?|all|both|therefore|thus|also|alone|clearly)\b)*)"
    r"(?:(?:can|could|must|should|may|might|do|does|did|is|are|was|were|has|have|had|seems?|looks?|appears?|being)\s+"
    r"(?:\w+\s+){0,3}?(?:not\b|n't|ruled out|eliminated|excluded|rejected|discarded|dismissed|wrong|incorrect|false|"
    r"unlikely|implausible|impossible|invalid|inconsistent|irrelevant|inaccurate)"
    r"|(?:isn't|aren't|doesn't|don't|can't|cannot|won't|wasn't|couldn't|didn't)\b"
    r"|[:-]\s*(?:(?:this|it|that) is\s+)?(?:incorrect\b|wrong\b|false\b|no\s*(?:[.,;\n]|$))"
    r"|(?:ist|sind|es|est|è|é)\s+(?:nicht|falsch|incorrect[ao]|fausse?|sbagliat[ao]|errad[ao])"
    r"|是?(?:错|不对|不正确|不是)|(?:では|じゃ)(?:な|あり)|(?:가|이)?\s*아[니닙]|不正解|неверн|не\b)",
    re.IGNORECASE,
)


def first_sentence(text: str) -> str:
    """Gives a text up to the end of its first sentence."""
    end = _END.search(text)
    return text[: end.start()] if end else text


def before(text: str, place: int, *, reach: int = 120) -> str:
    """Gives what stands in the same sentence before a place."""
    piece = text[max(0, place - reach) : place]
    ends = [end.end() for end in _END.finditer(piece)]
    return piece[ends[-1] :] if ends else piece


def questions_removed(text: str) -> str:
    """Gives a text without its questions: what is asked is not claimed."""
    return _QUESTION.sub(" ", text) if "?" in text else text


def denied_after(text: str, place: int) -> bool:
    """True where the words after a place deny what stands before it: `A` `can be ruled out`."""
    return _DENIED.match(text, place) is not None


def denies_one(text: str, place: int) -> bool:
    """True where a denial speaks of one thing: in `B, A is wrong` the B stands."""
    return _ONE.match(text, place) is not None


def affirmed(text: str, spans: Sequence[tuple[int, int]], asked: Collection[int] | None = None) -> list[int]:
    """Gives the indices of the spans that a text does not deny.

    Args:
        text: The text.
        spans: Where it names something, in reading order.
        asked: The indices that are wanted; all of them by default.

    Example:
        >>> text = "A and B can be ruled out, which leaves C."
        >>> affirmed(text, [(0, 1), (6, 7), (39, 40)])
        [2]
        >>> affirmed("It is D, not A", [(6, 7), (13, 14)])
        [0]
    """
    blanked = list(text)
    for start, end in spans:
        blanked[start:end] = _SPAN * (end - start)
    bare = "".join(blanked)
    edges = [0, *(clause.end() for clause in _CLAUSE.finditer(bare)), len(bare)]
    kept: list[int] = []
    for index in range(len(spans)) if asked is None else asked:
        start, end = spans[index]
        place = bisect_right(edges, start, hi=len(edges) - 1)
        from_, to = max(edges[place - 1], start - _REACH), min(edges[place], end + _REACH)
        if not _denied(bare[from_:to], start - from_, end - from_):
            kept.append(index)
    return kept


def _denied(clause: str, start: int, end: int) -> bool:
    negations = list(_DENIES_NEXT.finditer(clause, 0, start))
    if negations and _FILLER.fullmatch(clause, negations[-1].end(), start):
        return True
    denial = _DENIED.match(clause, end)
    if denial is None:
        return False
    return _SPAN not in denial["list"] or not denies_one(clause, denial.end("list"))
