"""Text that others wrote (questions, replies, names) made fit to show.

Knows characters. Escaping for HTML or for rich is left to those who print.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath

__all__ = ["bare_name", "printable"]

_BIDI_CONTROLS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN = {
    # control pictures tell which character it was; a terminal would obey the character itself
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: "␡",
    **dict.fromkeys(range(0x80, 0xA0), "�"),
    # these would reorder what stands around them
    **dict.fromkeys(_BIDI_CONTROLS, "�"),
    **dict.fromkeys(range(0xD800, 0xE000), "�"),
    0xFFFE: "�",
    0xFFFF: "�",
}
_LOOKS_LIKE_A_PATH = re.compile(r"(?:[/~]|\.{1,2}[\\/]|[A-Za-z]:[\\/]|\\\\)")


def printable(text: str) -> str:
    r"""Returns the text with every character visible and none that acts: line breaks and tabs stay.

    Control characters become their pictures; bidirectional controls and lone surrogates become U+FFFD. Letters of
    every script, right-to-left ones and emoji included, stay as they are.

    Example:
        >>> printable("red\x1b[31m\x00"), printable("\ud800 and \u202e")
        ('red␛[31m␀', '� and �')
    """
    return text.translate(_SHOWN)


def bare_name(name: str) -> str:
    r"""Returns the last part of what looks like a path, so that a page does not tell where its author's files lie.

    Names of models on a hub stay whole.

    Example:
        >>> bare_name("/home/ada/models/tiny"), bare_name("org/model-8B"), bare_name(r"C:\\data\\mmbench.tsv")
        ('tiny', 'org/model-8B', 'mmbench.tsv')
    """
    if not _LOOKS_LIKE_A_PATH.match(name):
        return name
    return (PureWindowsPath(name) if "\\" in name else PurePosixPath(name)).name or name
