"""What can go wrong with one request, and what follows from it.

Knows status codes and error bodies. Knows no client and no request.

    Busy       send it again, after a while
    BadRequest this request cannot be put to this model; sending it again would not help
    Withheld   the server's content filter kept the answer to itself
    EngineError (of `vqaudit.errors`): nobody can be answered any more, the run stops
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vqaudit.engines.server.access import Access
from vqaudit.errors import EngineError

__all__ = ["BadRequest", "Busy", "Withheld", "error_text", "fault_of"]

_LONGEST = 300
_AGAIN = frozenset({408, 409, 425, 429})
_PAID = frozenset({"insufficient_quota", "billing_hard_limit_reached", "account_deactivated", "billing_not_active"})
_FILTERED = re.compile(r"content.?(filter|policy)|moderation|safety.system|flagged", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context.(length|window|size)|maximum context|too many tokens|exceed\w* .*context", re.IGNORECASE
)


class Busy(Exception):
    """The same request may succeed later.

    Args:
        reason: What the server said.
        wait: Seconds that it asked to wait; None where it did not say.
    """

    def __init__(self, reason: str, *, wait: float | None = None) -> None:
        self.wait = wait
        super().__init__(reason)


class BadRequest(Exception):
    """The server understood the request and will never answer it."""


class Withheld(Exception):
    """A content filter kept question or answer back."""


def error_text(body: Any) -> str:
    """Returns what an error body says, in at most 300 characters.

    Example:
        >>> error_text({"error": {"message": "no such model", "code": 404}})
        'no such model'
    """
    found = body
    for key in ("error", "message", "detail"):
        if isinstance(found, Mapping) and found.get(key):
            found = found[key]
    if isinstance(found, Mapping) and "message" in found:
        found = found["message"]
    text = " ".join(str(found or "no reason given").split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _code(body: Any) -> str:
    """The error's own name, as in `context_length_exceeded`."""
    found = body.get("error", body) if isinstance(body, Mapping) else None
    return str(found.get("code") or found.get("type") or "") if isinstance(found, Mapping) else ""


def fault_of(status: int, body: Any, *, access: Access, wait: float | None = None) -> Exception:
    """Returns what an HTTP error stands for.

    Args:
        status: The status code.
        body: The answer's body, decoded where it is JSON.
        access: Whose key must not appear in the message.
        wait: What `Retry-After` says, in seconds.
    """
    said = access.clean(error_text(body))
    told = f"{access.base_url} answered {status}: {said}"
    text = f"{_code(body)} {said}"
    if status == 402 or _code(body) in _PAID:
        return EngineError(f"{told} (the account cannot pay for more; what was answered is kept)")
    if _FILTERED.search(text) and 400 <= status < 500:
        return Withheld(told)
    if status in (401, 403, 407):
        return EngineError(f"{told} (it does not take the key in {access.env})")
    if status in (404, 405):
        return EngineError(f"{told} (check the model's name and --base-url, which ends in /v1 for most servers)")
    if _TOO_LONG.search(text) and status >= 400 and status not in _AGAIN:
        return BadRequest(told)
    if status in _AGAIN or status >= 500 or status < 400:
        return Busy(told, wait=wait)
    return BadRequest(told)
