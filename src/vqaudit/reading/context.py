"""One reply, ready to be read: plain, without its thinking, beside the options of its trial.

Knows how the parts fit together. Decides nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from vqaudit.reading.labels import Labels
from vqaudit.reading.normalise import plain
from vqaudit.reading.tails import Options
from vqaudit.reading.texts import OptionTexts

__all__ = ["PROSE_LIMIT", "WINDOW", "Reply", "after_label_word", "windowed"]

WINDOW = 24_000
"""Characters of a reply that are looked at: five sixths of them at its end, the rest at its beginning."""
PROSE_LIMIT = 4_000
"""Characters at the end of a reply in which options that contradict a hedged answer are looked for."""

_LABEL_WORD = re.compile(
    r"\s*(?:(?:the\s+)?(?:correct\s+|right\s+|best\s+)?"
    r"(?:options?|choices?|letter|answers?|opción|opzione|opção|alternativa|letra|lettera|lettre|buchstabe|вариант)"
    r"\s*:?\s+|选项|選項)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the rules are asked about."""

    raw: str
    """Without thinking, otherwise as the model wrote it."""
    text: str
    """Plain."""
    options: Options
    cut: bool
    """The engine stopped it: its last words are no conclusion."""

    @property
    def labels(self) -> Labels:
        """The shown IDs."""
        return self.options.labels

    @property
    def texts(self) -> OptionTexts:
        """The option texts."""
        return self.options.texts

    def part(self, raw: str) -> Reply:
        """Gives a part of the reply as a reply of its own."""
        return replace(self, raw=raw.strip(), text=plain(windowed(raw)))


def windowed(text: str) -> str:
    """Gives the beginning and the end of a long text, a short one whole."""
    if len(text) <= WINDOW:
        return text
    return text[: WINDOW // 6] + "\n" + text[-WINDOW * 5 // 6 :]


def after_label_word(text: str) -> int:
    """Gives the place behind the word that may stand before an ID: `option`, `the answer:`.

    Example:
        >>> "Option B"[after_label_word("Option B") :]
        'B'
    """
    found = _LABEL_WORD.match(text)
    return found.end() if found else 0
