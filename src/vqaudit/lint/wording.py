"""The words by which prompts ask for reasoning, for the bare answer, or for an answer line. Data, no logic.

Knows regular expressions over one lower-case sentence. Other languages than English are covered where public task
files use them. Names of subjects ("a reasoning test") are no requests and match nothing here.
"""

from __future__ import annotations

import re

__all__ = [
    "ANALYSIS",
    "ANSWER_LINE",
    "ANSWER_ONLY",
    "CUE",
    "ID",
    "NEGATED_AFTER",
    "NEGATED_BEFORE",
    "REASONING",
    "SCOPED",
]

_URGED = r"(?:^|[,;:(]\s*|\b(?:please|and|then|first|carefully|must|should|to|let's|let us|let me|can|will|you)[,]?\s+)"
_PROCESS = (
    r"(?:reasoning(?: process| steps)?|rationale|thought process|thinking process|thinking|thoughts|working|work|"
    r"steps|explanation|justification|chain[\s-]of[\s-]thought)"
)

REASONING = re.compile(
    "|".join(
        (
            r"\bstep[\s-]*by[\s-]*step\b|\bstepwise\b",
            _URGED + r"think\s+(?:carefully|aloud|out loud|through|about|before|hard|deeply|first|it)\b",
            r"\b(?:explain|describe|show|give|provide|write(?: out| down)?|state|present|output|articulate|with)\b"
            rf"[^.]{{0,30}}\b(?:your|a|its) (?:\w+[\s-]+){{0,2}}{_PROCESS}\b",
            r"\boutput (?:the |your )?(?:reasoning|thinking)\b",
            r"\bexplain(?:ing)? (?:your|why you|how you)\b|\bjustify(?:ing)? your\b",
            _URGED + r"(?:reason|reasoning) (?:step|through|carefully|about|first|before|over|out)\b",
            r"\b(?:answer|solve)\b[^.]{0,30}\bwith reasoning\b",
            r"\b(?:use|with|using|write|give)\s+(?:a )?chain[\s-]of[\s-]thought\b",
            r"<(?:think|thinking|reasoning|analysis|rationale)>",
            r"\bpaso a paso\b|\bétape par étape\b|\bschritt für schritt\b",
            r"\bpasso a passo\b|\bpasso (?:dopo|per) passo\b|шаг за шагом|пошагово",
            r"一步一步|逐步(?:思考|推理|分析|解)|一步步",
            r"ステップ(?:バイ|・バイ・)ステップ|段階的に|단계별로",
        )
    )
)
"""Asks for reasoning before the answer."""

CUE = re.compile(
    r"^(?:(?:step[\s-]by[\s-]step )?(?:reasoning|rationale|explanation|thoughts?|chain[\s-]of[\s-]thought|analysis)"
    r"|step[\s-]by[\s-]step (?:answer|solution)|let(?:'s| us| me) think)\s*[:.…]*\s*$"
)
"""As the prompt's last words, makes the model begin with reasoning."""

ANALYSIS = re.compile(
    r"(?:^|[,;:]\s*|\b(?:please|and|first|carefully|then|must|should|asked to|task is to)[,]?\s+)"
    r"(?:analy[sz]e|explain|examine|discuss)\b"
    r"|\b(?:critically|carefully) (?:analy[sz]e|evaluate|assess|consider)\b"
)
"""Asks to analyse or explain something, which may mean: silently."""

_NOUN = r"(?:letter|label|option|choice|answer|number|index|intent|digit|word|name)"
ANSWER_ONLY = re.compile(
    "|".join(
        (
            r"\b(?:answer|respond|reply)\b[^.]{0,40}\bwith (?:only|just)\b",
            rf"(?<!is )(?<!are )\b(?:only|just)(?: with)? the(?: [\w']+){{0,3}} {_NOUN}\b",
            r"\b(?:letter|label|option|choice|number|index)(?:'s)?\b[^.]{0,60}\bdirectly\b(?! \w+ (?:to|on|at)\b)",
            r"(?:^|[,;:]\s*|\b(?:please|and) )(?:answer|respond|reply)\b[^.]{0,40}\bdirectly\b",
            r"\bdirect (?:\w+ )?answers?\b",
            rf"\b(?:a single|one single|exactly one) (?:\w+ )?{_NOUN}\b",
            r"\bnothing else\b|\bno other (?:text|words?|output)\b|\bany other (?:text|words?)\b",
            r"\bwithout (?:any )?(?:additional|other|extra|further|supplementary)\b",
            r"\bno (?:additional|supplementary|extra|further) (?:\w+)\b",
            r"\b(?:don't|do not|never) (?:provide|include|add|write|give|output)\b[^.]{0,20}"
            r"\b(?:additional|supplementary|extra|further|other|anything|explanations?)\b",
            rf"\b{_NOUN} only\b",
            r"\bonly (?:output|return|provide|give|write|print|respond|answer|reply)\b(?! one\b)",
            r"\b(?:output|return|provide|give|write|print|respond|answer|reply) only\b",
            r"\bentire (?:content of your )?(?:response|reply|answer|output) should\b",
            r"直接(?:回答|给出|输出|作答)|(?:只|仅)(?:需|要|能)?(?:回答|输出|给出|返回)",
        )
    )
)
"""Asks for the answer and nothing more."""

ID = re.compile(r"\b(?:answer|respond|reply) with the (?:[\w']+ ){0,3}(?:letter|label)\b")
"""Asks for the ID."""

SCOPED = re.compile(
    r"\b(?:last|final) (?:line|answer|sentence|letter)\b|\b(?:end|conclude|finish|finishing|ending)\b[^.]{0,40}\bwith\b"
    r"|\bafter (?:this|that) line\b|\b(?:beyond|besides|other than|except)\b"
    r"|\bat the (?:very )?end\b|\b(?:finally|then|afterwards|after that)\b|\\boxed|<answer>"
)
"""Speaks of the end of the reply, so that `only` does not mean the whole of it."""

ANSWER_LINE = re.compile(
    r"\banswer(?: is)?\s*:?\s*[\"'“]?[\[$({\\<]|\bthe (?:best |final )?answer is\b"
    r"|\\boxed|<answer>|format[^.]{0,40}\banswer\b"
)
"""Asks for the answer in words of its own, such as `Answer: B`."""

NEGATED_BEFORE = re.compile(
    r"(?:\b(?:do not|don't|does not|must not|should not|never|without|no need|avoid|not|no|nor|instead of|"
    r"rather than|refrain from|skip|leave out|omit|sin|sans|ohne|kein|keine|nicht|sem|não)\b"
    r"(?:[^\w.;]+[\w']+){0,6}[^\w.;]*"
    r"|(?:不要|无需|不用|不需要|勿)\S{0,8})$"
)
"""Stands right before what it takes back."""

NEGATED_AFTER = re.compile(
    r"^[^.;]{0,30}?\b(?:is|are) (?:not (?:needed|required|necessary|allowed|wanted)|forbidden|unnecessary)\b"
    r"|^[^.;,]{0,30}?\b(?:if (?:needed|necessary|you like)|optional)\b"
)
"""Stands right behind what it takes back."""
