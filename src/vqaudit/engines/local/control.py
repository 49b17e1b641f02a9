"""Control tokens: what a tokenizer reads as a command, and how text that looks like one stays text.

Knows strings and a tokenizer. Knows no chat and no picture. A question may quote `<image>` or `<|im_end|>`; only
the chat template may *say* them. Text that comes from outside is marked before the template sees it; what is
marked is encoded as plain text, what is not is control.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from tokenizers import AddedToken, Tokenizer

from vqaudit.engines.local.outcomes import BadInput

__all__ = ["ControlTokens"]

# Unicode keeps these four for a program's own use: no text that is meant for others holds them.
_MARK, _UNMARK = "\ufdd0", "\ufdd1"
_FENCE, _UNFENCE = "\ufdd2", "\ufdd3"
_RESERVED = re.compile("[\ufdd0-\ufdd3]")
_NEVER = "(?!)"
_WINDOW, _TAIL = 128, 32


class ControlTokens:
    """The control tokens of one tokenizer.

    Args:
        tokenizer: A tokenizer of transformers.
        template: The chat template's source: added tokens that it writes are control, special or not.
        others: Further control tokens, such as a processor's image place.
    """

    def __init__(self, tokenizer: Any, *, template: str = "", others: Iterable[str] = ()) -> None:
        self._tokenizer = tokenizer
        self._backend: Tokenizer | None = getattr(tokenizer, "backend_tokenizer", None)
        if self._backend is not None:
            self._backend.no_padding()
            self._backend.no_truncation()
        self._added = {token.content: token for token in tokenizer.added_tokens_decoder.values()}
        named = {*tokenizer.all_special_tokens, *others}
        self.contents = tuple(
            sorted(
                (text for text, token in self._added.items() if _is_control(token, named, template)),
                key=len,
                reverse=True,  # so that the regex prefers the longer of two that begin alike
            )
        )
        self.ids = frozenset(tokenizer.convert_tokens_to_ids(list(self.contents)))
        any_of = "|".join(map(re.escape, self.contents)) or _NEVER
        self._control = re.compile(any_of)
        self._marked_or_control = re.compile(f"{_MARK}(?P<text>.*?){_UNMARK}|(?P<control>{any_of})", re.DOTALL)

    def mark(self, text: str) -> str:
        """Returns text from outside with its look-alikes of control tokens marked as text.

        Raises:
            BadInput: The text holds a code point that serves as the mark.
        """
        if reserved := _RESERVED.search(text):
            code = f"U+{ord(reserved.group()):04X}"
            raise BadInput(f"the text holds {code}, which Unicode reserves for a program's own use; remove it")
        return self._control.sub(lambda found: f"{_MARK}{found.group()}{_UNMARK}", text)

    def unmark(self, text: str) -> str:
        """Returns the text as it was before `mark`."""
        return text.replace(_MARK, "").replace(_UNMARK, "")

    def find(self, text: str) -> list[re.Match[str]]:
        """Returns where the marked text holds control tokens, in order; look-alikes are no control tokens."""
        return [found for found in self._marked_or_control.finditer(text) if found["control"] is not None]

    def replace(self, text: str, token: str, replacements: Sequence[str]) -> str:
        """Returns the marked text with the k-th place of one control token replaced by the k-th replacement."""
        remaining = iter(replacements)

        def swap(found: re.Match[str]) -> str:
            return next(remaining) if found["control"] == token else found.group()

        return self._marked_or_control.sub(swap, text)

    def tail(self, text: str) -> str:
        """Returns the end of a marked text on which the tokens of what follows depend.

        It begins at the last control token, across which no tokenizer merges, or else at a blank about 32
        characters before the end.
        """
        window = text[-_WINDOW:]
        if _MARK in window or _UNMARK in window:  # rare: a cut could fall between the two
            return text
        controls = self.find(window)
        if controls:
            return window[controls[-1].start() :]
        blank = text.find(" ", max(0, len(text) - _TAIL))
        return text[blank:] if blank >= 0 else text[-_TAIL:]

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Returns the token IDs of marked texts, without special tokens added.

        Raises:
            BadInput: A look-alike cannot be written as plain text with this tokenizer.
        """
        marked = [index for index, text in enumerate(texts) if _MARK in text]
        encoded = self._encode_plain([text for text in texts if _MARK not in text])
        for index in marked:  # ascending, so that every earlier text is in its place already
            encoded.insert(index, self._encode_marked(texts[index]))
        return encoded

    def _encode_plain(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        if self._backend is None:
            return [list(ids) for ids in self._tokenizer(texts, add_special_tokens=False)["input_ids"]]
        return [encoding.ids for encoding in self._backend.encode_batch_fast(texts, add_special_tokens=False)]

    def _encode_marked(self, text: str) -> list[int]:
        tokenizer, ids = self._fenced
        written = [found["control"] for found in self.find(text)]
        fenced = self._marked_or_control.sub(_fence_control, text)
        encoded = [ids.get(token, token) for token in tokenizer.encode(fenced, add_special_tokens=False).ids]
        if sum(token in self.ids for token in encoded) != len(written):
            raise BadInput("the text quotes a control token that this tokenizer cannot write as plain text")
        return encoded

    @cached_property
    def _fenced(self) -> tuple[Tokenizer, dict[int, int]]:
        """A copy of the tokenizer to which a control token is one only between fences, and its IDs -> ours."""
        if self._backend is None:
            raise BadInput("the text quotes a control token, and this tokenizer cannot take it as plain text")
        state = json.loads(self._backend.to_str())
        state["added_tokens"], state["post_processor"] = [], None
        copy = Tokenizer.from_str(json.dumps(state))
        names = {
            f"{_FENCE}{text}{_UNFENCE}" if text in self.contents else text: token for text, token in self._added.items()
        }
        copy.add_tokens([_renamed(token, name) for name, token in names.items()])
        ours = {name: self._tokenizer.convert_tokens_to_ids(token.content) for name, token in names.items()}
        theirs = {name: copy.token_to_id(name) for name in ours}
        return copy, {token: ours[name] for name, token in theirs.items() if token is not None}


def _is_control(token: AddedToken, named: set[str], template: str) -> bool:
    text = token.content
    # Gemma adds white-space runs as tokens; a template writes those as text.
    return bool(text.strip()) and (token.special or text in named or text in template)


def _fence_control(found: re.Match[str]) -> str:
    return found["text"] if found["control"] is None else f"{_FENCE}{found['control']}{_UNFENCE}"


def _renamed(token: AddedToken, name: str) -> AddedToken:
    return AddedToken(
        name,
        single_word=token.single_word,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        normalized=token.normalized,
        special=token.special,
    )
