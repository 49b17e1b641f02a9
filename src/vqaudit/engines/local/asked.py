"""What every kind of event is answered with.

Knows the parts that answering needs. Knows no event.
"""

from __future__ import annotations

from dataclasses import dataclass

from vqaudit.engines.base import Request
from vqaudit.engines.local.encoding import Prompt, PromptEncoder
from vqaudit.engines.local.ids import IDTokens
from vqaudit.engines.local.images import Pictures
from vqaudit.engines.local.sessions import Row
from vqaudit.engines.local.states import Lens
from vqaudit.engines.local.vocabulary import Vocabulary

__all__ = ["Asked", "Tools", "too_long"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request with its prompt and pictures."""

    request: Request
    prompt: Prompt
    pictures: Pictures | None = None

    def row(self, *more: int) -> Row:
        """Returns the prompt, with some tokens after it, as a row to compute."""
        return Row(token_ids=self.prompt.token_ids + more, pictures=self.pictures)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """The parts of an engine that answering needs."""

    ids: IDTokens
    """Writes option IDs."""
    vocabulary: Vocabulary
    """Reads tokens."""
    encoder: PromptEncoder
    """Encodes continuations."""
    max_positions: int | None = None
    """Most tokens that the model can take; None where it does not say."""
    lens: Lens | None = None
    """Reads earlier layers; None where nobody asks for them."""


def too_long(prompt_length: int, new: int, tools: Tools) -> str | None:
    """Returns why so many tokens cannot be put to the model, or None where they can."""
    limit = tools.max_positions
    if limit is None or prompt_length + new <= limit:
        return None
    return f"the prompt has {prompt_length} tokens and needs {new} more, but the model takes {limit}"
