"""Finds the places where a reply says that its answer follows.

Knows the words for an answer in several languages. Knows neither IDs nor options; what follows a cue is read
elsewhere.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from vqaudit.reading.labels import WORD_CHARACTERS
from vqaudit.reading.normalise import OPEN
from vqaudit.reading.phrases import is_conditional, is_hedged, is_template
from vqaudit.reading.sentences import before

__all__ = ["Cue", "find_cues", "find_prose_cues", "peel"]

# The vocabulary. Every entry is a pattern; a language is added by adding its words here.
_NOUNS = "|".join(
    (
        "answers?|ans|option|choice|response|selection|prediction|solution|letter|guess|pick",
        "antwort|lösung|richtig|antwoord",
        "respuesta|opción|resposta|alternativa|opção",
        "réponse|choix|risposta|scelta|opzione",
        "odpowiedź|ответ|вариант|cevap|jawaban|đáp án|الإجابة|الجواب|उत्तर",
    )
)
_COLON_NOUNS = "final|verdict|decision|selected|chosen|conclusion|result|output|correct|richtig|correcta|correto"
_IS = "is|be|are|was|becomes|remains|lautet|ist|wäre|sei|es|sería|est|serait|è|sarebbe|é|seria|это"
_EAST_ASIAN_NOUNS = "答案|正确选项|正确的?(?:选项)?|正確選項|最佳选项|正解|答え|回答|解答|정답|답변|(?<![가-힣])답"
_VERBS = (
    "choose|chose|choosing|picks?|picking|selects?|selecting|go(?:ing)? with|opt(?:ing)? for|vote for|settle on|say|"
    "answer"
)
_FOREIGN_VERBS = "ich wähle|elijo|je choisis|scelgo|escolho|выбираю|выберу"
_SO = "so|therefore|thus|hence|consequently|also|donc|daher|entonces|поэтому"
_SMALL_WORDS = "|".join(
    (
        "the|la|el|le|die|der|das|il|lo",
        "options?|choice|letter|label|number|answer|alternative",
        "opción|opzione|opção|alternativa|letra|lettera|lettre|buchstabe|вариант",
        "clearly|definitely|certainly|obviously|most likely|likely|probably|simply|indeed|actually|thus|therefore",
        "it is|it's|that is|is|be|to be|es|ist|est|è|é|das ist|c'est",
        "i think|i believe|i guess|i'd say|i would say|maybe|perhaps|possibly",
        "closest to|best|given by|represented by|labell?ed|marked|correct one",
        "choose|pick|select|also|still|now|just",
    )
)

_EDGE = rf"(?<![{WORD_CHARACTERS}])"
_END = rf"(?![{WORD_CHARACTERS}])"
_LINE = re.IGNORECASE | re.MULTILINE

_COLON = re.compile(
    rf"{_EDGE}(?:{_NOUNS}|{_COLON_NOUNS}){_END}\.?"
    r"(?:(?P<gap>[^\n.:;?!\x02]{0,60}?)[\"')\]]*\s?(?::(?!//)|→|->|=>|⇒)|\s?=|\s-(?=\s))",
    re.IGNORECASE,
)
_COPULA = re.compile(
    rf"{_EDGE}(?:{_NOUNS}){_END}(?P<gap>(?:[^\n.:;?!\x02]|\.(?=\d)){{0,80}}?)(?:\s(?:{_IS}){_END}|'s\b)(?:\s*[:,])?",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"(?:\b(?:i|we|let|let's)(?:'d|'ll|'m)?(?P<gap>(?:\s\w+){0,3}?)|(?:^|(?<=[.!\n]))\s*)\s?"
    rf"\b(?:{_VERBS})\b|\b(?:{_FOREIGN_VERBS})(?!\w)",
    re.IGNORECASE,
)
_EAST_ASIAN = re.compile(
    rf"(?:{_EAST_ASIAN_NOUNS})(?P<gap>[^\n.:;?!A-Za-z0-9\x02\"'(\[]{{0,8}}?)"
    r"(?:[是为為选選は은는이]|\s|(?=[:(\[\"']|[A-Za-z](?![A-Za-z])))\s*:?"
)
_EAST_ASIAN_VERB = re.compile(r"(?<![不没沒别別])(?:选|選)(?:择|擇)?(?![项項])\s*:?")
_HEADING = re.compile(rf"^(?:the )?(?:\w+ ){{0,2}}(?:{_NOUNS}|{_EAST_ASIAN_NOUNS})\s*$", _LINE)
_DIRECT = re.compile(
    r"^(?:the )?(?:final |correct |my )?(?:answer|ans\.?|antwort|respuesta|réponse|risposta|resposta|ответ)\s"
    r"(?=[\"'(\[]*\S{1,6}\s*(?:$|[.,;:)\]\"'-]))",
    _LINE,
)
_BOX = re.compile(OPEN)

_RIVALS = r"(?:distractor|decoy|alternative|rival|competitor|competing|runner-up|wrong|incorrect|other)\b"
_DESCRIBES = re.compile(r"\b(?:it|this|that|which)(?:\sis|'s)\b|\blooks like\b", re.IGNORECASE)
_CONCLUDES = re.compile(
    "|".join(
        (
            r"\b(?:it|this|that|which)\s(?:must be|should be|has to be|would be|can only be)\b",
            r"\b(?:match(?:es|ing)?|correspond(?:s|ing)?(?:\s(?:to|with))?|closest to|given (?:by|as|in)|aligns with)"
            r"\s(?:the\s)?(?=(?:options?|choice|answer|letter)\b)",
            rf"(?<!second )(?<!second-)(?<!next )(?<!not the )\b(?:closest|nearest|best|matching)\s"
            rf"(?:(?!{_RIVALS})[\w-]+\s){{0,5}}is\s(?:therefore\s|thus\s)?(?:the\s)?(?=(?:option|choice)\b)",
            r"\b(?:leaves|leaving|left with|remaining is)\b(?:\s(?:us|me|you))?(?:\swith)?(?:\s(?:only|just))?",
            r"\b(?:wait|actually|correction|corrected|edit|i mean|sorry|scratch that|hmm|nope)\b[\s,.:;-]*",
            r"\bno\s?[,.;:-]\s*",
            rf"(?:^|(?<=[.!,;\n]))\s*(?:and\s)?(?:{_SO})\b,?|所以|因此|よって|而是",
            r"(?:^|(?<=[.!\n]))\s*(?:in conclusion|in summary|to conclude|to sum up|in short|overall|finally)\b[\s,:]*",
            r"(?:^|(?<=[.!\n]))\s*(?:→|⇒|=>|->)",
        )
    ),
    _LINE,
)

_NOT_OURS = re.compile(
    r"(?:\b(?:wrong|incorrect|false|worst|bad|invalid|other|another|each|every|any|no|possible|distractor|eliminated|"
    r"second|alternative|tempting|unlikely|falsche?|incorrecta|which|what|least \w+|not (?:the|a|an))"
    r"|n't (?:the|a|an)) (?:\w+ )?$",
    re.IGNORECASE,
)
_LISTS = re.compile(
    r"\s*(?:options|choices|possibilities|candidates|explanation|analysis|reason(?:ing)?)\b", re.IGNORECASE
)
_TALKS = re.compile(
    r"\b(?:let|let's|we|i'll|evaluat\w+|analy[sz]\w+|consider\w*|examin\w+|check\w*|compar\w+|steps?|each|following|where)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r".*(?:[,:]\s?|\b(?:so|therefore|thus|hence|but|and|because|then|that means)\s)", re.IGNORECASE | re.DOTALL
)
_DENIES = re.compile(r"\b(?:not|never|nor|neither|i doubt|hardly|cannot)\b|n't\b|不|非|没|нельзя", re.IGNORECASE)
_DENIES_IS = re.compile(r"(?:\b(?:not|never|cannot|no longer)|n't)\s*$|[不非没]", re.IGNORECASE)
_PEEL = re.compile(
    r"(?:[\s\"'(\[*:,=\x02]+|-(?=\s)|#(?=\d)|l'|选项?|選項?|是|为|為|は|은|는"
    rf"|(?-i:a) (?=(?:letra|opção|alternativa|(?-i:[A-Z])){_END})|(?:{_SMALL_WORDS}){_END})*",
    re.IGNORECASE,
)

_MOST = 60
"""Cues that are looked at, the last of a reply: a reply that says "answer" more often is no answer."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A place after which an answer should stand."""

    start: int
    end: int
    """Where the answer begins."""
    gap: str
    """What stands inside the cue: `to the first question` in `answer to the first question: `."""
    formatted: bool
    """A marked answer (`Answer:`, a box) or a conclusion (`which leaves`), not words that may merely describe."""
    hedged: bool


def find_cues(text: str) -> list[Cue]:
    """Finds the explicit cues in reading order, those left out that deny, ask for a format or list the options.

    Example:
        >>> [text[cue.end :] for text in ["The answer is B"] for cue in find_cues(text)]
        [' B']
    """
    patterns = (
        (_COPULA, False),
        (_VERB, False),
        (_EAST_ASIAN, True),
        (_EAST_ASIAN_VERB, True),
        (_HEADING, True),
        (_DIRECT, True),
        (_COLON, True),
        (_BOX, True),
    )
    matches = [(match, formatted) for pattern, formatted in patterns for match in pattern.finditer(text)]
    matches.sort(key=lambda pair: pair[0].end())
    found = {match.end(): cue for match, formatted in matches[-_MOST:] if (cue := _cue(text, match, formatted))}
    return list(found.values())


def find_prose_cues(text: str) -> Iterator[Cue]:
    """Finds the words with which prose closes in on an answer: `which leaves`, `so`, `it must be`."""
    for pattern, conclusive in ((_DESCRIBES, False), (_CONCLUDES, True)):
        for match in deque(pattern.finditer(text), maxlen=_MOST):
            context = _CLAUSE.sub("", before(text, match.start()))
            if not _DENIES.search(context):
                hedged = is_hedged(context)
                yield Cue(match.start(), match.end(), gap="", formatted=conclusive, hedged=hedged)


def peel(text: str, start: int = 0) -> int:
    """Gives the place after the small words and brackets that may stand between a cue and its answer."""
    found = _PEEL.match(text, start)
    return found.end() if found else start


def _cue(text: str, match: re.Match[str], formatted: bool) -> Cue | None:
    gap = match.groupdict().get("gap") or ""
    context = before(text, match.start())
    clause = _CLAUSE.sub("", context)
    if match.group() != OPEN and (
        _NOT_OURS.search(context)
        or _LISTS.match(gap)
        or (formatted and _TALKS.search(gap))
        or _DENIES_IS.search(gap)
        or _DENIES.search(clause)
        or is_template(clause)
    ):
        return None
    hedged = is_hedged(gap) or is_hedged(clause) or is_conditional(context, gap)
    return Cue(match.start(), match.end(), gap=gap, formatted=formatted, hedged=hedged)
