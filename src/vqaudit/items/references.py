"""Texts that speak of options by their ID, their place, or as "the above": after a permutation they mean another.

Knows texts. The order of options without such a text may be changed; where one is overlooked, a permuted question is
nonsense, and where one is seen wrongly, the item is only left out of permutations. So doubt counts as a reference,
except where the letters evidently name something in the picture or in the question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase

from vqaudit.numerals import whole_number

__all__ = ["lists_options", "names_options", "position_dependent"]

_ID = r"(?:\([A-Za-z]\)|\(\d{1,2}\)|\([IVXivx]{1,4}\)|[A-Z]\b|\d{1,2}\b|[IVX]{1,4}\b)"
_BARE_ID = rf"(?:{_ID}|[a-z]\b)"
_AND = r"(?:\s*,\s*(?:and|or|nor)\s+|\s*[,&]\s*|\s+(?:and|or|nor|as\s+well\s+as)\s+)"
_END = (
    r"(?=\s*(?:$|[.,;:!?)]|(?:are|is|were|but|only|together|alone|above|correct|true|right|equally|apply|applies|"
    r"have|has|can|could|may)\b))"
)
_LISTS = (
    # both A and B; neither (A) nor (C); only 1 and 2; but not "omitting both A and G", which are things
    re.compile(
        r"(?:^|[.,;:]\s*|\b(?i:is|are|be|answer)\s+)(?i:both|neither|either|only|just)\s+"
        rf"(?P<ids>{_BARE_ID}(?:{_AND}{_BARE_ID})+){_END}"
    ),
    # only A; A alone; only A is correct
    re.compile(rf"^(?i:only|just)\s+(?P<ids>{_ID})(?:\s+(?i:is|are)\b.*)?\W*$"),
    re.compile(rf"^(?P<ids>{_ID})\s+(?i:only|alone)\W*$"),
    # all except B
    re.compile(rf"\b(?i:all|any|everything)\s+(?i:except|but)\s+(?i:for\s+)?(?P<ids>{_ID}(?:{_AND}{_ID})*){_END}"),
    # A and C only; 1 and 2 are correct
    re.compile(
        rf"^(?P<ids>{_ID}(?:{_AND}{_ID})+)\s+(?i:only|both|together|above|(?:are|is)\s+(?:both\s+|all\s+)?"
        r"(?:correct|true|right))\W*$"
    ),
    # A and C: letters alone, since plain numbers may be an amount
    re.compile(rf"^(?P<ids>(?:\([A-Za-z]\)|[A-Z]\b)(?:{_AND}(?:\([A-Za-z]\)|[A-Z]\b))+)\W*$"),
)
_NAMED = re.compile(
    rf"\b(?i:(?:answer\s+)?(?:options?|choices?)|alternatives?|answers?|same\s+as)\s+(?P<ids>{_ID}(?:{_AND}{_ID})*)"
)
_NAMED_IN_QUESTION = re.compile(
    rf"\b(?i:(?:answer\s+)?(?:options?|choices?)|alternatives?)\s+(?P<ids>{_ID}(?:{_AND}{_ID})*)(?!\s*%)"
)
_SUBJECT = re.compile(
    rf"^(?i:only\s+|both\s+|neither\s+)?{_ID}(?:{_AND}{_ID})*\s+(?i:are|is|were|was|have|has)\b"
    rf"|^\W*(?:\d+|[IVX]+)(?:{_AND}(?:\d+|[IVX]+))*\W*$"
)
"""An option that only says something about named things (`A and B are not shown`), or lists bare numbers."""

_SOME = r"(?:none|all|both|any|either|neither|each|some|most|one|two|three|more\s+than\s+one)"
_ALTERNATIVES = r"(?:options|choices|answers|alternatives)"
_PHRASES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_SOME}\s+of\s+(?:the\s+)?above\b(?!-|\s+(?:ground|average|zero|water|sea))",
        rf"\b{_SOME}\s+(?:of\s+)?(?:the\s+)?(?:above|below|foregoing|previous|preceding)"
        r"(?=\s*(?:$|[.,;:!)]|(?:options?|answers?|choices?|statements?|are|is|mentioned|listed|apply)\b))",
        rf"\b{_SOME}\s+of\s+the\s+following\b",
        rf"\b{_SOME}\s+of\s+(?:the|these|those)\s+(?:\w+\s+){{0,2}}{_ALTERNATIVES}\b",
        rf"\b(?:all|both|(?:all\s+|the\s+)other)\s+(?:\w+\s+)?{_ALTERNATIVES}\b",
        r"\babove\s+(?:options?|answers?|choices?)\b",
        rf"^\W*{_SOME}\s+of\s+(?:these|those)\W*$",
        r"\b(?:first|second|third|fourth|fifth|last|final|previous|preceding|next|following)\s+"
        r"(?:and\s+(?:second|third|fourth|fifth|last)\s+)?(?:(?:two|three)\s+)?"
        r"(?:options?|alternatives?|answers?|answer\s+choices?)\b",
        r"\b(?:first|last|previous|preceding)\s+(?:two|three)\s+choices\b",
        r"(?<![\d一二三四五六七八九十百千万两几])(?<!\d[个人岁米元天年次])(?:以上|上述)\s*(?:都|皆|均|全|所有|选项|答案|任|两|各|三|四)",
        r"(?:选项|答案)\s*[A-Za-z](?![A-Za-z])|[A-Z]\s*[和与或及、]\s*[A-Z]\s*(?:都|均|皆|$)",
        r"\b(?:ningun[ao]|tod[ao]s|nenhuma?|ambas?)\s+(?:de\s+)?(?:l?[ao]s|d[ao]s)\s+(?:opciones\s+|opções\s+|alternativas\s+)?"
        r"(?:anteriores|acima)\b",
        r"\b(?:aucune?|toutes?|tous)\b.{0,60}\b(?:ci-dessus|précédent\w*|ces\s+réponses)",
        r"\b(?:keine?s?|alle|beide)\b.{0,60}\b(?:oben|obigen|oben\s?genannten|dieser\s+antworten)\b",
    )
)
_PLACES_IN_QUESTION = re.compile(
    r"\b(?:first|second|third|fourth|fifth|last|previous|next)\s+(?:(?:two|three)\s+)?"
    r"(?:options?|alternatives?|answer\s+(?:options?|choices?))\b|选项\s*[A-Z](?![A-Za-z])",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"^[ \t]*(?:\(A\)|A[).:])[ \t]*\S.*^[ \t]*(?:\(B\)|B[).:])[ \t]*\S"
    r"|\(A\)\s*\w.*\(B\)\s*\w"
    r"|\b[Oo]ptions?:\s*\(?A[).:]",
    re.DOTALL | re.MULTILINE,
)
_ROMANS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def position_dependent(options: Sequence[str]) -> tuple[int, ...]:
    """Returns the indices of the options that speak of positions or of other options.

    Letters and numbers that stand outside the list, or that refer to options which are such references themselves,
    name something else (`I and II only` beside `I only`: statements of the question), and do not count.

    Example:
        >>> position_dependent(["rain", "snow", "Both A and B", "Neither of the above"])
        (2, 3)
        >>> position_dependent(["Vitamin A and vitamin B", "Both sides of the road", "None"])
        ()
    """
    return tuple(index for index in range(len(options)) if _refers(index, options))


def names_options(question: str, count: int) -> bool:
    """Returns whether a question names options by their ID or place.

    Args:
        question: The question's text.
        count: How many options there are; a letter beyond them names something else.

    Example:
        >>> names_options("Which of the options A and B is larger?", 4), names_options("Is vitamin A shown?", 4)
        (True, False)
    """
    if _PLACES_IN_QUESTION.search(question):
        return True
    return any(_indices(match["ids"], count) for match in _NAMED_IN_QUESTION.finditer(question))


def lists_options(question: str) -> bool:
    """Returns whether a question's text holds a list of options with IDs, such as `(A) left (B) right`."""
    return _LISTED.search(question) is not None


def _refers(index: int, options: Sequence[str]) -> bool:
    text = options[index].strip()
    if any(phrase.search(text) for phrase in _PHRASES):
        return True
    named = [match["ids"] for match in _NAMED.finditer(text)]
    listed = [match["ids"] for pattern in _LISTS for match in pattern.finditer(text)]
    return any(_names_content(ids, index, options) for ids in named) or any(
        _names_content(ids, index, options) for ids in listed if index not in _indices(ids, len(options))
    )


def _names_content(ids: str, own: int, options: Sequence[str]) -> bool:
    """Returns whether the IDs in an option name others that say something themselves.

    Numbers mostly count statements of the question (`None`, `I only`, `I and II only`), so all of theirs must.
    """
    content = [_is_content(options[index]) for index in _indices(ids, len(options)) if index != own]
    has_letter = re.search(r"[A-HJ-UWYZa-hj-uwyz]", re.sub(r"\b(?:and|or|nor|as|well)\b", "", ids))
    return any(content) if has_letter else bool(content) and all(content)


def _is_content(option: str) -> bool:
    """Returns whether an option says something itself, rather than only naming others."""
    text = option.strip()
    return not any(pattern.search(text) for pattern in (*_LISTS, _NAMED, _SUBJECT))


def _indices(ids: str, count: int) -> tuple[int, ...]:
    """Returns which options the IDs name, or nothing where one of them is not among `count` options."""
    names = re.findall(_BARE_ID, re.sub(r"\b(?:and|or|nor|as\s+well\s+as)\b", " ", ids))
    names = [name.strip("()") for name in names]
    is_roman = len(names) + len(max(names, key=len, default="")) > 2 and all(n.upper() in _ROMANS for n in names)
    indices = [_ROMANS.index(name.upper()) if is_roman else _index(name) for name in names]
    return tuple(indices) if all(0 <= index < count for index in indices) else ()


def _index(name: str) -> int:
    if (number := whole_number(name)) is not None:
        return number - 1
    alphabet = ascii_uppercase if name.isupper() else ascii_lowercase
    return alphabet.find(name) if len(name) == 1 else -1
