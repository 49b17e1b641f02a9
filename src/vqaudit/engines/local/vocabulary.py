"""What every token of a vocabulary reads as.

Knows a tokenizer. Knows no option ID and no probability.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

__all__ = ["Vocabulary"]


class Vocabulary:
    """The texts of a tokenizer's tokens.

    A token is decoded behind an ordinary word, since many decoders drop the blank of a text's first token; its own
    text is what it adds.

    Args:
        tokenizer: A tokenizer of transformers.
        control_ids: Tokens that are no text.
    """

    def __init__(self, tokenizer: Any, *, control_ids: Iterable[int]) -> None:
        self._tokenizer = tokenizer
        self._backend = getattr(tokenizer, "backend_tokenizer", None)
        self._dropped = frozenset(control_ids) | frozenset(tokenizer.all_special_ids)
        self._anchor: list[int] = tokenizer.encode("a", add_special_tokens=False)
        self._skip = len(self._decode_all([self._anchor])[0])

    def __len__(self) -> int:
        return len(self._tokenizer)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Returns the text of some tokens: control tokens dropped, white space kept."""
        return self.decode_each([token_ids])[0]

    def decode_each(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Returns the text of each sequence of tokens."""
        kept = [[token for token in ids if token not in self._dropped] for ids in sequences]
        return [text[self._skip :] for text in self._decode_all([self._anchor + ids for ids in kept])]

    def text(self, token_id: int) -> str:
        """Returns the text of one token; empty for control tokens and for rows beyond the vocabulary."""
        return self.texts[token_id] if token_id < len(self.texts) else ""

    @cached_property
    def texts(self) -> list[str]:
        """The text of every token, by token ID."""
        return self.decode_each([[token] for token in range(len(self))])

    @cached_property
    def _by_stripped_text(self) -> dict[str, tuple[int, ...]]:
        index: dict[str, tuple[int, ...]] = {}
        for token, text in enumerate(self.texts):
            if stripped := text.strip():
                index[stripped] = (*index.get(stripped, ()), token)
        return index

    def spellings(self, word: str) -> tuple[int, ...]:
        """Returns all single tokens that read, white space stripped, exactly as the word."""
        return self._by_stripped_text.get(word, ())

    def continuing(self, rest: str) -> frozenset[int]:
        """Returns the tokens that, right after a text, carry it on towards `rest` or past it.

        A token past the end counts only where `rest` ends as a word: after `I`, the tokens `I` and `II` carry on
        towards `III`, and so does `II.`; `It` does not make a numeral.
        """
        return frozenset(token for token, text in enumerate(self.texts) if _carries_on(text, rest))

    def _decode_all(self, sequences: list[list[int]]) -> list[str]:
        if self._backend is not None:
            return self._backend.decode_batch(sequences, skip_special_tokens=False)
        options = {"skip_special_tokens": False, "clean_up_tokenization_spaces": False}
        return [self._tokenizer.decode(ids, **options) for ids in sequences]


def _carries_on(text: str, rest: str) -> bool:
    if not text:
        return False
    if rest.startswith(text):
        return True
    return text.startswith(rest) and not text[len(rest)].isalnum()
