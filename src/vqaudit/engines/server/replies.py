"""What a chat completion says: text, thinking, tokens, usage.

Knows the API's answer and its dialects. Knows no client.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vqaudit.engines.listed import ListedPosition
from vqaudit.engines.listed_replies import ListedReply
from vqaudit.engines.server.faults import Busy, error_text

__all__ = ["ServerReply", "Usage", "read_completion"]

_CUT = frozenset({"length", "max_tokens", "max_length", "max_output_tokens", "model_length"})
_WITHHELD = frozenset({"content_filter", "safety", "refusal", "prohibited_content", "recitation"})
_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens that the server counted; None where it does not say."""

    prompt: int | None = None
    cached: int | None = None
    written: int | None = None
    thought: int | None = None

    def __add__(self, other: Usage) -> Usage:
        def both(one: int | None, two: int | None) -> int | None:
            return None if one is None and two is None else (one or 0) + (two or 0)

        return Usage(
            prompt=both(self.prompt, other.prompt),
            cached=both(self.cached, other.cached),
            written=both(self.written, other.written),
            thought=both(self.thought, other.thought),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerReply(ListedReply):
    """One answer of a server."""

    usage: Usage
    prompt_logprobs: Sequence[Any] | None = None
    """vLLM's, as it stands in the answer."""


def read_completion(data: Any) -> ServerReply:
    """Returns what an answer says.

    Raises:
        Busy: It is no answer: an error in its place, no choices, or fields of another kind.
        EngineReplyError: A log-probability above zero.

    Example:
        >>> answer = {"choices": [{"message": {"content": "<think>A or B?</think> B"}, "finish_reason": "stop"}]}
        >>> reply = read_completion(answer)
        >>> reply.text, reply.reasoning, reply.usage.prompt
        (' B', 'A or B?', None)
    """
    if not isinstance(data, Mapping):
        raise Busy(f"malformed answer: {type(data).__name__} instead of an object")
    if data.get("error"):
        raise Busy(f"the server answered with an error: {error_text(data)}")
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise Busy(f"malformed answer: choices are {type(choices).__name__} without a choice")
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise Busy(f"malformed answer: the message is {type(message).__name__}")
    finish = _finish_reason(choice.get("finish_reason"))
    text, reasoning = _split(message)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal and not text.strip():
        text, finish = refusal, "content_filter"
    prompt_logprobs = data.get("prompt_logprobs")
    return ServerReply(
        text=text,
        reasoning=reasoning,
        finish_reason=finish,
        positions=_positions(choice.get("logprobs")),
        usage=_usage(data.get("usage")),
        prompt_logprobs=prompt_logprobs if isinstance(prompt_logprobs, list) else None,
    )


def _finish_reason(given: Any) -> Literal["stop", "length", "content_filter"] | None:
    name = str(given or "").lower()
    if name == "error":
        raise Busy("the server stopped with an error")
    if name in _CUT:
        return "length"
    if name in _WITHHELD:
        return "content_filter"
    return "stop" if name else None


def _split(message: Mapping[str, Any]) -> tuple[str, str | None]:
    """The reply and the thinking, whether a server parts them or leaves tags in the text."""
    text = _text_of(message.get("content"))
    apart = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(apart, str) and apart:
        return text, apart
    if (found := _THOUGHT.match(text)) is not None:
        return text[found.end() :], found[2].strip() or None
    if (end := _THOUGHT_ENDS.search(text)) is not None:  # the chat template wrote the opening tag
        return text[end.end() :], text[: end.start()].strip() or None
    return text, None


def _text_of(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    raise Busy(f"malformed answer: the content is {type(content).__name__}")


def _positions(logprobs: Any) -> tuple[ListedPosition, ...]:
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list):
        return ()
    try:
        return tuple(_position(entry) for entry in content)
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise Busy(f"malformed answer: log-probabilities that cannot be read ({error})") from error


def _position(entry: Mapping[str, Any]) -> ListedPosition:
    pairs = [(str(top["token"]), _number(top.get("logprob"))) for top in entry.get("top_logprobs") or ()]
    return ListedPosition.of(str(entry["token"]), [*pairs, (str(entry["token"]), _number(entry.get("logprob")))])


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _usage(given: Any) -> Usage:
    if not isinstance(given, Mapping):
        return Usage()
    return Usage(
        prompt=_count(given, "prompt_tokens"),
        cached=_count(given, "prompt_tokens_details", "cached_tokens"),
        written=_count(given, "completion_tokens"),
        thought=_count(given, "completion_tokens_details", "reasoning_tokens"),
    )


def _count(given: Mapping[str, Any], *path: str) -> int | None:
    found: Any = given
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None
