"""Phrases that say what a reply is when it is not an answer: a refusal, a broken request, a guess, a template.

Knows words. Knows neither IDs nor options.
"""

from __future__ import annotations

import re

__all__ = [
    "corrects_itself",
    "is_conditional",
    "is_failure",
    "is_hedged",
    "is_template",
    "names_none",
    "refuses",
]


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_CANNOT = r"(?:can ?not|can't|could not|couldn't|(?:am |'m )?not able to|(?:am |'m )?unable to)"
_ACT = (
    r"(?:determine|tell|see|view|make out|identify|answer|read|assist|help|provide|analy[sz]e|access|process|decide|"
    r"choose|select|interpret|say|comply|fulfil|recogni[sz]e|display|open|discern|calculate|compute|solve|know|give|"
    r"respond|perform|verify|directly|show|diagnose|do (?:that|this)|evaluate|make|complete|execute|support|generate|"
    r"offer|confirm|comment|understand)"
)
_KNOWN = r"(?:determined|answered|identified|established|inferred|known|deduced|decided|told|concluded|verified)"
_REFUSAL = _any_of(
    rf"\b(?:i|we)\b[^.!?\n]{{0,30}}?{_CANNOT} (?:\w+ ){{0,2}}?{_ACT}\b",
    rf"(?:^|[.!?,:\n]\s*)(?:sorry,? )?(?:but |so )?{_CANNOT} (?:\w+ ){{0,2}}?{_ACT}\b",
    rf"\b(?:can ?not|can't|could not|couldn't) (?:\w+ ){{0,2}}?be (?:\w+ ){{0,2}}?{_KNOWN}\b",
    r"\b(?:cannot|can't|(?:unable|impossible|not possible|no way) to) (?:determine|tell|identify|say|know|answer)\b",
    r"\b(?:i|we) (?:\w+ )?(?:do not|don't) (?:know|have (?:access|enough|the ability|sufficient))",
    r"\b(?:i|we) (?:\w+ )?(?:do not|don't) see (?:an?|any|the) (?:image|picture|photo)",
    r"\b(?:not enough|insufficient) (?:information|context|detail|data|evidence)",
    r"\bno (?:image|picture|photo|figure|diagram)s? (?:(?:is|are|was|were|has been|have been) )?"
    r"(?:provided|attached|visible|shown|given|included)",
    r"\b(?:i|we)(?: am|'m| are|'re) (?:really |honestly )?(?:not sure|unsure|uncertain)",
    r"\b(?:i|we) (?:have no idea|have to decline|must decline|decline|refuse|won't|will not|would rather not)",
    r"\b(?:no idea|don't know|do not know|as an ai)\b",
    r"不知道|(?:无法|不能)(?:确定|判断|看到|看清|回答|识别)|看不清|不确定|無法(?:確定|判斷)",
    r"わかりません|分かりません|判断できません|答えられません",
    r"모르겠|알 수 없|판단할 수 없",
    r"\bich wei(?:ß|ss) (?:es )?nicht|\bkann (?:ich |man )?(?:\w+ ){0,3}nicht|\bnicht (?:erkennbar|bestimmbar)",
    r"\bno (?:(?:lo )?s[eé]|puedo|entiendo|se puede)\b",
    r"\bje ne (?:sais|peux) pas\b",
    r"\bnon (?:(?:lo )?so|posso)\b",
    r"\bn[aã]o (?:sei|posso|consigo)\b",
    r"не знаю|не могу|невозможно",
)
_NONE = _any_of(
    r"\b(?:none|neither) (?:of|is|fits|matches)\b",
    r"\bno (?:option|choice|answer|correct)\b",
    r"\bnot (?:listed|among|one of)\b",
    r"以上都不|都不(?:是|对)|どれでもない|いずれでもない",
    r"keine (?:der|davon)|ninguna|aucune?\b|nessuna|nenhuma|ни один",
)

_STATUS = r"http(?:/\d(?:\.\d)?)?(?: error| status(?: code)?)?:?"
_TROUBLE = (
    r"(?:rate.?limit|time(?:d)?.?out|overloaded|unavailable|connection|upstream|gateway|server|quota|too many requests|"
    r"\bapi\b|\bhttp|status|[45]\d\d\b|cuda|out of memory|request|internal|exception|network|socket|credit|"
    r"authenti|permission|token limit|context length|content (?:filter|policy)|max(?:imum)? retries)"
)
_FAILURE = _any_of(
    rf"[\[(<]?(?:\w+[ .])?\w*(?:error|exception|failure)\b[\])>]?(?: code)?\s*:\s*[^\n]{{0,200}}?{_TROUBLE}",
    rf"\[?(?:error|failed|failure)\]?[^\n:]{{0,40}}{_TROUBLE}",
    r"(?:api |the )?request (?:failed|timed out|was rejected)",
    r"(?:api|server|network|inference|runtime|system) (?:error|failure)[.!]?\s*$",
    r"failed to (?:obtain|get|fetch|connect|generate|call)\b",
    r"\w*time-?out(?:error|exception)?\s*:[^\n]*(?:time|connection|http)",
    r"traceback \(most recent call last\)",
    rf"(?:{_STATUS} )?(?:429|5\d\d):? (?:too many|internal|bad gateway|service|gateway|server|error|bandwidth)",
    rf"{_STATUS} [45]\d\d\b",
    r"service (?:temporarily )?unavailable|internal server error|bad gateway|gateway time-?out|too many requests",
    r"connection (?:error|refused|reset|aborted|timed out)|read timed out|upstream (?:error|connect|request|rate)",
    r"(?:<!doctype html|<html)[\s\S]{0,2000}?(?:[45]\d\d\b|error|gateway|unavailable)",
    r"\{\s*[\"'](?:error|errors|detail|fault)[\"']\s*:",
    r"(?:torch\.)?(?:cuda\.)?OutOfMemoryError|cuda (?:error|out of memory)",
)

_HEDGE = _any_of(
    r"\b(?:seems?|appears?|might|may|could|perhaps|maybe|possibly|conceivabl[ey]|tempting|whether|unclear|either)\b",
    r"\b(?:at first|first (?:sight|glance|thought)|initially|thought|would have|not (?:sure|certain))\b",
    r"\b(?:(?:was|were) (?:going|about)|wanted|inclined) to\b",
    r"\b(?:peut-être|vielleicht|scheint|quizás|forse|talvez|возможно)\b|可能|也许|似乎|かもしれ|아마",
)
_CONDITION = _any_of(r"\b(?:if|unless|suppos(?:e|ing)|assum(?:e|ing)|were)\b")
_WOULD = _any_of(r"\b(?:would|could|might)\b")
_TEMPLATE = _any_of(
    r"\b(?:format(?:ted)?|template|instruct(?:ions?|ed)?)\b",
    r"\b(?:must|should|needs? to|have to|has to|supposed to|asked to|told to) "
    r"(?:read|end|look|finish|conclude|write|output|respond|reply|answer|give)\b",
    r"(?:\be\.g\.|\bfor example|\bsuch as|\blike|\bwrite)[\s:,\"']*(?:the )?(?:final )?$",
)
_CORRECTION = _any_of(
    r"\b(?:wait|actually|correction|scratch that|sorry|instead|rather|hold on|edit|i mean|oops|hmm|nope|no[,.;:-])",
    r"\b(?:on second thoughts?|correct(?:ing)? myself|i made an? (?:error|mistake)|mistaken?)\b|\bmisread\b|my mind\b",
    r"\b(?:let me (?:re|double)|re-?check|re-?consider)",
    r"\b(?:doch|moment|espera|attends|aspetta|нет,|подожд)|不对|等等|待って|아니",
)


def refuses(text: str) -> bool:
    """True for a text that declines or says that it cannot know.

    Example:
        >>> refuses("I'm unable to view the image."), refuses("The unknown animal is a fox.")
        (True, False)
    """
    return _REFUSAL.search(text) is not None


def names_none(text: str) -> bool:
    """True for a text that says that no option is right."""
    return _NONE.search(text) is not None


def is_failure(text: str) -> bool:
    """True for what an engine, a proxy or a network wrote in place of a model.

    Example:
        >>> is_failure("Error code: 503 - server overloaded"), is_failure("Error bars overlap: B")
        (True, False)
    """
    return _FAILURE.match(text[:4000].lstrip()) is not None


def is_hedged(text: str) -> bool:
    """True for words that put a statement forward without making it."""
    return _HEDGE.search(text) is not None


def is_conditional(context: str, verb: str) -> bool:
    """True for an answer that holds only if something else did: `if it were dark, the answer would be C`."""
    return _CONDITION.search(context) is not None and _WOULD.search(verb) is not None


def is_template(text: str) -> bool:
    """True for words that speak of how an answer should look."""
    return _TEMPLATE.search(text) is not None


def corrects_itself(text: str) -> bool:
    """True for words that take something back.

    Example:
        >>> corrects_itself("Wait, the shadow falls east."), corrects_itself("The shadow falls east.")
        (True, False)
    """
    return _CORRECTION.search(text) is not None
