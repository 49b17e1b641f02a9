"""Requests -> text: the user's turn through the model's own chat template.

Knows messages and templates. Knows no token ID and no pixel. The result is marked text (see `control`) in which
every picture's place is one image token.

A model without a chat template gets, in this order: the system prompt and an empty line where there is one, the
user's text with a picture's place where the picture stands, a line break, and the prefill.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, TemplateError, meta

from vqaudit.engines.base import ImagePart, Request, TextPart
from vqaudit.engines.local.control import ControlTokens
from vqaudit.engines.local.outcomes import BadInput
from vqaudit.engines.local.spec import LocalSpec
from vqaudit.errors import EngineError

__all__ = ["Chat", "RenderedChat", "TemplateWarning", "check_chat_kwargs", "lead_after"]

_PROBE, _PROBE_SYSTEM, _PROBE_REPLY = "vqauditprobe", "vqauditsystem", "vqauditreply"
_GENERATION = re.compile(r"\{%-?\s*(end)?generation\s*-?%\}")
_OPENING = "([{\"'“‘"

Content = str | list[dict[str, Any]]
Message = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderedChat:
    """One request as text."""

    text: str
    """Marked; one image token for each picture."""
    order: tuple[int, ...]
    """Indices into the request's images, by place."""
    lead: str
    """What stands between the text and the first word of a reply: a blank, or nothing."""


def check_chat_kwargs(template: str | None, chat_kwargs: dict[str, Any]) -> None:
    """Refuses variables that the template never reads, since they would silently do nothing.

    Raises:
        EngineError: Names the variables and those that the template does read.
    """
    if not chat_kwargs:
        return
    read = meta.find_undeclared_variables(_parse(template)) if template else set()
    if unread := sorted(set(chat_kwargs) - read):
        known = ", ".join(sorted(read)) or "none"
        raise EngineError(f"chat_kwargs {unread}: the chat template never reads them; it reads: {known}")


def _parse(template: str) -> Any:
    # `{% generation %}` is transformers' own; plain jinja cannot parse it, and it reads no variable.
    plain = _GENERATION.sub("", template)
    try:
        return Environment(extensions=["jinja2.ext.loopcontrols"], autoescape=True).parse(plain)
    except TemplateError as error:
        raise EngineError(f"the chat template cannot be parsed: {error}") from error


class TemplateWarning(UserWarning):
    """A chat template shows a prompt otherwise than it was given, once per kind of change."""


class Chat:
    """The chat template of one model.

    Args:
        tokenizer: A tokenizer of transformers, which renders the template.
        template: The template's source, or None for a model that has none.
        control: The tokenizer's control tokens.
        image_token: What the template writes for one picture; None for a model without pictures.
        spec: Template variables, and what to do with a system prompt.
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        template: str | None,
        control: ControlTokens,
        image_token: str | None,
        spec: LocalSpec,
    ) -> None:
        check_chat_kwargs(template, spec.chat_kwargs)
        self.template = template
        self.image_token = image_token
        self.notes: list[str] = []
        """What the template did to a text that it was given, once each, for the manifest."""
        self._tokenizer = tokenizer
        self._control = control
        self._spec = spec
        self._as_list = template is not None and self._takes_lists()
        self.has_system_turn = template is None or self._takes_system()
        self.reply_lead = "" if template is None else self._find_reply_lead()
        """White space that the template puts between the assistant's header and its words."""

    def render(self, request: Request) -> RenderedChat:
        """Returns one request as text.

        Raises:
            BadInput: The request holds something that this template cannot show.
        """
        pieces = _merge(_with_image_places(request))
        order = self._image_order(request, pieces)
        shown = [self._control.mark(piece) if isinstance(piece, str) else piece for piece in pieces]
        system = None if request.system is None else self._control.mark(request.system)
        if system is not None and not self.has_system_turn:
            shown, system = self._merge_system(shown, system), None
        text = self._apply(shown, system)
        self._check(text, shown, len(order))
        lead = lead_after(request.prefill) if request.prefill else self.reply_lead
        text += self._join_prefill(self._control.mark(request.prefill))
        return RenderedChat(text=text, order=order, lead=lead)

    def _image_order(self, request: Request, pieces: Sequence[str | int]) -> tuple[int, ...]:
        shown = [piece for piece in pieces if isinstance(piece, int)]
        if self.image_token is None and request.images:
            raise BadInput("this model takes no images")
        if sorted(shown) != list(range(len(request.images))):
            places = ", ".join(str(index + 1) for index in shown) or "none"
            raise BadInput(
                f"the prompt has places for images {places}, but the request has {len(request.images)}; "
                "every image needs exactly one place"
            )
        return tuple(shown)

    def _join_prefill(self, prefill: str) -> str:
        if not prefill or prefill[0].isspace():
            return prefill
        return self.reply_lead + prefill

    def _merge_system(self, pieces: Sequence[str | int], system: str) -> list[str | int]:
        """Puts a system prompt before the user's first text; pictures that stand before it stay there."""
        if self._spec.system_turn == "template":
            raise BadInput("this chat template has no system turn; use system_turn='merge' or no system prompt")
        first = next((place for place, piece in enumerate(pieces) if isinstance(piece, str)), len(pieces))
        return _merge([*pieces[:first], f"{system}\n\n", *pieces[first:]])

    def _apply(self, pieces: Sequence[str | int], system: str | None) -> str:
        if self.template is None:
            before = "" if system is None else f"{system}\n\n"
            return before + self._flat(pieces) + "\n"
        messages = [] if system is None else [self._message("system", [system])]
        return self._template([*messages, self._message("user", pieces)], reply_follows=True)

    def _message(self, role: str, pieces: Sequence[str | int]) -> Message:
        if not self._as_list:
            return {"role": role, "content": self._flat(pieces)}
        content = [{"type": "text", "text": p} if isinstance(p, str) else {"type": "image"} for p in pieces]
        return {"role": role, "content": content}

    def _flat(self, pieces: Sequence[str | int]) -> str:
        return "".join(piece if isinstance(piece, str) else self.image_token or "" for piece in pieces)

    def _template(self, messages: Sequence[Message], *, reply_follows: bool) -> str:
        try:
            return self._tokenizer.apply_chat_template(
                list(messages),
                chat_template=self.template,
                tokenize=False,
                add_generation_prompt=reply_follows,
                **self._spec.chat_kwargs,
            )
        except TemplateError as error:
            raise BadInput(f"the chat template refuses this conversation: {error}") from error

    def _check(self, text: str, pieces: Sequence[str | int], n_images: int) -> None:
        """Checks that what the template made holds every text and every picture, in their order."""
        if self.image_token is not None:
            places = sum(found["control"] == self.image_token for found in self._control.find(text))
            if places != n_images:
                raise BadInput(f"the chat template makes {places} image places for {n_images} images")
        position = 0
        for piece in pieces:
            wanted = piece if isinstance(piece, str) else self.image_token or ""
            found = text.find(wanted, position)
            if found < 0:
                found = self._find_changed(text, wanted, position)
            position = max(position, found + len(wanted))

    def _find_changed(self, text: str, wanted: str, position: int) -> int:
        if wanted in text:
            self._note("the chat template moves images or texts: they stand in another order than in the prompt")
            return position
        if wanted.strip() in text:
            self._note("the chat template drops outer white space of the user's text")
            return text.find(wanted.strip(), position)
        raise BadInput("the chat template changes the user's text")

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)
            warnings.warn(note, TemplateWarning, stacklevel=2)

    def _takes_lists(self) -> bool:
        """Whether the template takes a message's content as a list of parts, as templates with pictures do."""
        as_list = self._probe([{"role": "user", "content": [{"type": "text", "text": _PROBE}]}])
        if _PROBE not in as_list or "'text'" in as_list:  # a list that is printed is not taken
            return False
        return self.image_token is not None or self._probe([{"role": "user", "content": _PROBE}]) != as_list

    def _takes_system(self) -> bool:
        text = self._probe([self._message("system", [_PROBE_SYSTEM]), self._message("user", [_PROBE])])
        return 0 <= text.find(_PROBE_SYSTEM) < text.find(_PROBE)

    def _find_reply_lead(self) -> str:
        question = self._message("user", [_PROBE])
        header = self._probe([question], reply_follows=True)
        answered = self._probe([question, self._message("assistant", [_PROBE_REPLY])])
        between = answered.removeprefix(header).partition(_PROBE_REPLY)[0]
        return between if answered.startswith(header) and between.isspace() else ""

    def _probe(self, messages: Sequence[Message], *, reply_follows: bool = False) -> str:
        """Renders; the empty text stands for what the template refuses.

        A template is code: on content of a shape that it does not take, it may raise what Python can.
        """
        try:
            return self._template(messages, reply_follows=reply_follows)
        except (BadInput, TypeError, ValueError, KeyError, AttributeError):
            return ""


def _with_image_places(request: Request) -> list[str | int]:
    """The user's turn as texts and image indices; images come first where the prompt gives them no place."""
    pieces = [part.text if isinstance(part, TextPart) else part.index for part in request.parts]
    if any(isinstance(part, ImagePart) for part in request.parts):
        return pieces
    return [*range(len(request.images)), *pieces]


def _merge(pieces: Sequence[str | int]) -> list[str | int]:
    """Joins texts that touch: some templates put a blank after every text."""
    merged: list[str | int] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece != "":
            merged.append(piece)
    return merged


def lead_after(prefill: str) -> str:
    """Returns a blank where a word that follows this text would have one before it."""
    return "" if prefill[-1].isspace() or prefill[-1] in _OPENING else " "
