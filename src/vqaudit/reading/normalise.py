"""A raw reply, made plain: one form for every bracket, quote, dash, blank and piece of mark-up.

Knows characters and mark-up. Knows no option and decides nothing. Replies and option texts go through the same
door, so that what is removed from one is removed from the other.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

__all__ = ["CLOSE", "OPEN", "Thoughts", "fold", "plain", "split_thoughts", "unify"]

OPEN, CLOSE = "\x02", "\x03"
"""Stand around what a model marked as its answer (`\\boxed{..}`, `<answer>..</answer>`); no input can hold them."""

_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′´", "'"),
        **dict.fromkeys("“”„‟«»「」『』《》〈〉″", '"'),
        **dict.fromkeys("‐‑‒–—―−﹘", "-"),
        **dict.fromkeys("【〔〖", "["),
        **dict.fromkeys("】〕〗", "]"),
        **dict.fromkeys("\u2028\u2029\u0085", "\n"),
        "。": ". ",
        "、": ", ",
        "…": "...",
    }
)
_KEPT_FORMS = ("<super>", "<sub>", "<fraction>")  # 10² is not 102

_THOUGHT = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)"
_THOUGHT_TAG = re.compile(
    rf"(?P<open><{_THOUGHT}>|<\|begin_of_thought\|>|◁think▷|\[think\]|<\|channel\|>analysis<\|message\|>)"
    rf"|</{_THOUGHT}>|<\|end_of_thought\|>|◁/think▷|\[/think\]|<\|channel\|>final<\|message\|>",
    re.IGNORECASE,
)
_ANSWER_OPENS = re.compile(
    r"<(?:(?:final_)?answer|final|choice|option|response|output)>|<\|begin_of_box\|>", re.IGNORECASE
)
_ANSWER_CLOSES = re.compile(
    r"</(?:(?:final_)?answer|final|choice|option|response|output)>|<\|end_of_box\|>", re.IGNORECASE
)
_SPECIAL_TOKEN = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|<(?:end_of_turn|eos|pad|unk)>|\[/?INST\]|\A\s*(?:assistant|model|bot)\s*:\s*",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:b|i|em|strong|p|u|span|code|div|li|ul|ol|h[1-6]|mark|font)(?: [^<>\n]{0,80})?>", re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*\w*[ \t]*$", re.MULTILINE)

_BRACE = re.compile(r"(?P<box>\\(?:boxed|fbox|framebox)\s*\{)|(?<!\\)\{|(?P<close>(?<!\\)\})")
_MACRO = re.compile(
    r"\\(?:text|textbf|textit|textrm|texttt|mathrm|mathbf|mathit|mathsf|mathbb|operatorname|mbox|bm)\*?\s*"
    r"\{([^{}]*)\}"
)
_MATHS_SPACE = re.compile(r"\\[()\[\],;:! ]|\\q?quad\b")
_DOLLARS = re.compile(r"(?<![\\$])\$\$?(?=[^\s$])([^$\n]{1,200}?)(?<=[^\s\\$])\$\$?(?![\d$])")
_ESCAPE = re.compile(r"\\([$%&#_*])")

_LINE_LEAD = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]+(?=[A-Za-z*]))?(?:[-*+][ \t]+(?!\d)|[•·●▪◦‣][ \t]*)?", re.MULTILINE
)
_BOLD = re.compile(r"(?<!\d)\*\*+|\*\*+(?!\d)|~~")
_EMPHASIS = re.compile(r"(?<![A-Za-z0-9])[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?![A-Za-z0-9])")
_BLANKS = re.compile(r"[ \t]+")
_LINE_EDGE = re.compile(r" ?\n ?")
_DIGIT_LETTER = re.compile(r"(?<=\d)\s+(?=[a-zµ°%])|(?<=[a-z])\s+(?=\d)")


class Thoughts(NamedTuple):
    """A reply without its thinking."""

    answer: str
    """What stands outside the thinking blocks."""
    unfinished: bool
    """True where a block was opened and never closed."""


def split_thoughts(text: str) -> Thoughts:
    """Takes the thinking blocks out of a reply.

    A closing tag without an opening one ends a block that the chat template opened. Tags do not nest: a model that
    writes about `<think>` inside its thinking opens nothing.

    Example:
        >>> split_thoughts("<think>A or B?</think>B").answer
        'B'
        >>> split_thoughts("Perhaps C.</think>D").answer
        'D'
        >>> split_thoughts("<think>Perhaps C").unfinished
        True
    """
    outside: list[str] = []
    thinking, seen, start, end = False, False, 0, len(text.rstrip())
    for tag in _THOUGHT_TAG.finditer(text):
        if tag["open"] and not thinking:
            outside.append(text[start : tag.start()])
            thinking = True
        elif not tag["open"]:
            if not thinking:
                # A stray end at the very end ends nothing; anywhere else all before it was thinking.
                outside = [*outside, text[start : tag.start()]] if seen and tag.end() >= end else []
            thinking, start = False, tag.end()
        seen = True
    if not thinking:
        outside.append(text[start:])
    return Thoughts("\n".join(part for part in outside if part.strip()), thinking)


def _one_form(character: str) -> str:
    if unicodedata.decomposition(character).startswith(_KEPT_FORMS):
        return character
    if unicodedata.category(character) in {"Cf", "Cc"} and character not in "\n\t":
        return ""
    return unicodedata.normalize("NFKC", character)


def unify(text: str) -> str:
    """Gives every character its usual form: full-width, circled and styled letters, quotes, dashes, blanks.

    Look-alikes of another alphabet stay what they are: a Cyrillic letter is no Latin one.

    Example:
        >>> unify("答案：（Ｃ）")
        '答案:(C)'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_PUNCTUATION)
    forms = {ord(character): _one_form(character) for character in set(text)}
    return unicodedata.normalize("NFC", text.translate(forms))


def _mark_boxes(text: str) -> str:
    """Puts OPEN and CLOSE around what was boxed, in one pass over the braces."""
    parts: list[str] = []
    is_box: list[bool] = []
    start = 0
    for brace in _BRACE.finditer(text):
        if brace["close"]:
            mark = CLOSE if is_box and is_box.pop() else ""
        else:
            is_box.append(bool(brace["box"]))
            mark = OPEN if brace["box"] else ""
        if mark:
            parts += [text[start : brace.start()], mark]
            start = brace.end()
    return "".join([*parts, text[start:]])


def _without_latex(text: str) -> str:
    if "\\" in text:
        for _ in range(4):
            text, count = _MACRO.subn(r"\1", text)
            if not count:
                break
        text = _MATHS_SPACE.sub(" ", _mark_boxes(text))
    if "$" in text:
        text = _DOLLARS.sub(r"\1", text)
    return _ESCAPE.sub(r"\1", text)


def plain(text: str) -> str:
    r"""Strips a reply or an option text of mark-up: Markdown, LaTeX, HTML, special tokens, bullets.

    Example:
        >>> plain("**Answer:** $B$")
        'Answer: B'
        >>> plain("- `12`, that is \\text{twelve}")
        "'12', that is twelve"
    """
    text = _FENCE.sub("", unify(text))
    text = _ANSWER_CLOSES.sub(CLOSE, _ANSWER_OPENS.sub(OPEN, text))
    text = _TAG.sub("", _LINE_BREAK.sub("\n", _SPECIAL_TOKEN.sub("", text)))
    text = _LINE_LEAD.sub("", _without_latex(text))
    text = _EMPHASIS.sub("", _BOLD.sub("", text)).replace("`", "'")
    return _LINE_EDGE.sub("\n", _BLANKS.sub(" ", text)).strip()


def fold(text: str) -> str:
    """Gives the form in which two option texts are the same text: case, blanks and outer punctuation aside.

    Example:
        >>> fold("A  wooden bridge.") == fold('"a wooden bridge"')
        True
        >>> fold("10 MPa") == fold("10MPa")
        True
    """
    folded = " ".join(text.casefold().split()).strip("\"' ").rstrip(".,;:").strip("\"' ")
    if folded[-2:-1].isalpha():
        folded = folded.removesuffix("!")
    return _DIGIT_LETTER.sub("", folded)
