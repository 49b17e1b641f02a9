"""Rendered prompts, as sample logs hold them, cut into the parts that ask for something.

Knows chat messages, special tokens and worked examples. What a question says of its own subject is no instruction: only
the system turn, the words before the first question and the words after the last option are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from vqaudit.lint.description import Part, Text
from vqaudit.lint.finding import Place
from vqaudit.lint.templates import shown_ids, without_examples

__all__ = ["prompt_texts", "shown_in_prompt"]

_SPECIAL = re.compile(r"<\|[^|<>]{1,40}\|>|</?s>|\[/?INST\]|<image>|<\|endoftext\|>")
_SYSTEM = re.compile(r"<\|im_start\|>system\n(.*?)<\|im_end\|>|<<SYS>>(.*?)<</SYS>>", re.DOTALL)
_HEADER = re.compile(r"^(?:system|user|assistant)$", re.MULTILINE)
_OPTION = re.compile(r"^[ \t]*\(?[A-Ja-j1-9][.):]\)?\s+\S.*$", re.MULTILINE)
_QUESTION = re.compile(r"^(?:Q|Question|Problem|Context|Premise|Passage)\s*\d*\s*[:.]", re.MULTILINE | re.IGNORECASE)


def prompt_texts(prompt: object, place: Place) -> tuple[Text, ...]:
    """Returns the parts of a rendered prompt that can ask for something.

    Args:
        prompt: Text, JSON of chat messages, or the messages.
        place: The log's row.
    """
    messages = _messages(prompt)
    if messages is not None:
        return tuple(_of_messages(messages, place))
    text = str(prompt)
    system = [next(filter(None, found.groups()), "") for found in _SYSTEM.finditer(text)]
    rest = _HEADER.sub("", _SPECIAL.sub("\n", _SYSTEM.sub("\n", text)))
    return (
        *(Text(words=words, part="system", place=place) for words in system),
        *_of_text(without_examples(rest), place),
    )


def shown_in_prompt(prompt: object) -> tuple[str, ...] | None:
    """Returns the option IDs that a rendered prompt shows; None where it shows none that can be told from prose."""
    messages = _messages(prompt)
    text = str(prompt) if messages is None else "\n".join(_words(message) for message in messages)
    return shown_ids(without_examples(text)) or None


def _messages(prompt: object) -> list[Any] | None:
    if isinstance(prompt, str):
        if not prompt.lstrip().startswith("["):
            return None
        try:
            prompt = json.loads(prompt)
        except ValueError:
            return None
    found = prompt if isinstance(prompt, list) else []
    return found if found and all(isinstance(each, dict) and "role" in each for each in found) else None


def _of_messages(messages: list[Any], place: Place) -> Iterator[Text]:
    """The system turns and the last question; turns before it are worked examples."""
    roles = [message.get("role") for message in messages]
    users = [index for index, role in enumerate(roles) if role == "user"]
    for index, message in enumerate(messages):
        words = _words(message)
        if roles[index] == "system":
            yield Text(words=words, part="system", place=place)
        elif users and index == users[-1]:
            yield from _of_text(without_examples(words), place)
        elif roles[index] == "assistant" and index == len(messages) - 1 and users and index > users[-1]:
            yield Text(words=words, part="prefill", place=place)


def _words(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _of_text(text: str, place: Place) -> Iterator[Text]:
    options = list(_OPTION.finditer(text))
    question = _QUESTION.search(text)
    start = question.start() if question else options[0].start() if options else len(text)
    end = options[-1].end() if options else start
    head, tail = text[:start], text[end:]
    parts: list[tuple[str, Part]] = [(head, "instruction"), (tail if end >= start else "", "ending")]
    yield from (Text(words=words, part=part, place=place) for words, part in parts if words.strip())
