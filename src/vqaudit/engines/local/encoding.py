"""Text and pictures -> token IDs.

Knows how one prompt becomes a sequence of tokens and what stands at its end. Knows no model and no batch.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vqaudit.engines.base import Request
from vqaudit.engines.local.chat import Chat, RenderedChat, lead_after
from vqaudit.engines.local.control import ControlTokens
from vqaudit.engines.local.images import PictureReader, Pictures
from vqaudit.engines.local.outcomes import BadInput

__all__ = ["Prompt", "PromptEncoder", "shared_prefix"]

_KEPT_PROMPTS = 4096
_Key = tuple[object, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """One request as the model takes it, but for its pixels."""

    token_ids: tuple[int, ...] = field(repr=False)
    text: str = field(repr=False)
    """Marked, pictures expanded: what `token_ids` encode."""
    tail: str
    """The end of the text, from its last control token or blank: what the next word's tokens depend on."""
    lead: str
    """White space between the text and the first word of a reply."""
    order: tuple[int, ...] = ()
    """Indices into the request's images, by place."""


class PromptEncoder:
    """Encodes requests and keeps the last prompts, since a request is asked for its length before its answer.

    Args:
        chat: Renders requests.
        control: Encodes text.
        reader: Reads pictures; None for a model without pictures.
        begin: Control tokens before every prompt that does not begin with them; empty for none.
    """

    def __init__(
        self, *, chat: Chat, control: ControlTokens, reader: PictureReader | None, begin: Sequence[str]
    ) -> None:
        self._chat = chat
        self._control = control
        self._reader = reader
        self._begin_text = "".join(begin)
        self._begin = tuple(token for ids in control.encode([self._begin_text]) for token in ids)
        self._kept: OrderedDict[_Key, Prompt] = OrderedDict()

    def encode(self, requests: Sequence[Request]) -> list[Prompt | BadInput]:
        """Returns a prompt for every request, or why there is none, in order."""
        keys = [_key(request) for request in requests]
        made: dict[_Key, Prompt | BadInput] = {key: self._kept[key] for key in keys if key in self._kept}
        missing = {key: request for key, request in zip(keys, requests, strict=True) if key not in made}
        drafts = {key: self._draft(request) for key, request in missing.items()}
        made |= {key: draft for key, draft in drafts.items() if isinstance(draft, BadInput)}
        made |= self._finish({key: draft for key, draft in drafts.items() if isinstance(draft, RenderedChat)})
        return [made[key] for key in keys]

    def encode_with(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[int, ...]]:
        """Returns the joint token IDs of a prompt and each text after it.

        Raises:
            BadInput: A continuation cannot be encoded.
        """
        texts = [prompt.text + self._control.mark(continuation) for continuation in continuations]
        begin = self._begin_of(prompt.text)
        return [begin + tuple(ids) for ids in self._control.encode(texts)]

    def extend(self, prompt: Prompt, text: str) -> Prompt:
        """Returns the prompt with a text written behind it, its own tokens left as they are.

        Where the text's beginning would merge with the prompt's last token, it is encoded on its own: what the
        model has written cannot change what it was given.

        Raises:
            BadInput: The text cannot be encoded.
        """
        marked = self._control.mark(text)
        (joint,) = self.encode_with(prompt, [text])
        length = len(prompt.token_ids)
        own = joint[length:] if joint[:length] == prompt.token_ids else tuple(self._control.encode([marked])[0])
        return replace(
            prompt,
            token_ids=prompt.token_ids + own,
            text=prompt.text + marked,
            tail=self._control.tail(prompt.text + marked),
            lead=lead_after(text),
        )

    def pictures(self, request: Request, prompt: Prompt) -> Pictures | None:
        """Returns the pictures of an encoded request."""
        if self._reader is None or not prompt.order:
            return None
        return self._reader.read([request.images[index] for index in prompt.order])

    def _draft(self, request: Request) -> RenderedChat | BadInput:
        """Renders a request and gives every picture its full place."""
        try:
            chat = self._chat.render(request)
            if self._reader is None or self._chat.image_token is None or not chat.order:
                return chat
            pictures = self._reader.read([request.images[index] for index in chat.order])
            text = self._control.replace(chat.text, self._chat.image_token, pictures.places)
            return replace(chat, text=text)
        except BadInput as refusal:
            return refusal

    def _finish(self, drafts: dict[_Key, RenderedChat]) -> dict[_Key, Prompt | BadInput]:
        encoded = self._encode_each([chat.text for chat in drafts.values()])
        finished: dict[_Key, Prompt | BadInput] = {}
        for (key, chat), ids in zip(drafts.items(), encoded, strict=True):
            finished[key] = ids if isinstance(ids, BadInput) else self._prompt(chat, ids)
        self._kept |= {key: prompt for key, prompt in finished.items() if isinstance(prompt, Prompt)}
        while len(self._kept) > _KEPT_PROMPTS:
            self._kept.popitem(last=False)
        return finished

    def _prompt(self, chat: RenderedChat, ids: Sequence[int]) -> Prompt:
        return Prompt(
            token_ids=self._begin_of(chat.text) + tuple(ids),
            text=chat.text,
            tail=self._control.tail(chat.text),
            lead=chat.lead,
            order=chat.order,
        )

    def _begin_of(self, text: str) -> tuple[int, ...]:
        return () if text.startswith(self._begin_text) else self._begin

    def _encode_each(self, texts: list[str]) -> list[list[int] | BadInput]:
        try:
            return list(self._control.encode(texts))
        except (BadInput, UnicodeError, TypeError):  # one text spoils the call: find out which
            return [self._encode_one(text) for text in texts]

    def _encode_one(self, text: str) -> list[int] | BadInput:
        try:
            return self._control.encode([text])[0]
        except BadInput as refusal:
            return refusal
        except (UnicodeError, TypeError) as error:
            return BadInput(f"the tokenizer refuses the text: {error}")


def _key(request: Request) -> _Key:
    return request.parts, tuple(image.digest for image in request.images), request.system, request.prefill


def shared_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Returns how many tokens two sequences share from their beginning.

    Example:
        >>> shared_prefix((50, 9), (50, 77))
        1
    """
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length
