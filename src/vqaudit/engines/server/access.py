"""Where a server is and the key that opens it. The one place that sees the key.

Knows URLs and environment variables. Knows no request.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from vqaudit.engines.server.spec import OPENAI_URL, ServerSpec
from vqaudit.errors import EngineError

__all__ = ["Access"]

_NO_KEY = "no-key"
"""What is sent to a server that asks for none; the client insists on something."""
_SHORTEST_SECRET = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """An address and its key, which no `repr` and no message shows."""

    base_url: str
    env: str
    key: str = field(repr=False)

    @classmethod
    def of(cls, spec: ServerSpec) -> Access:
        """Returns the access that a spec describes.

        Raises:
            EngineError: The URL is none, holds a password or a query, or the key's variable is not set where it must.

        Example:
            >>> Access.of(ServerSpec(base_url="http://127.0.0.1:8000/v1/", api_key_env="NOT_SET")).base_url
            'http://127.0.0.1:8000/v1'
        """
        _check_url(spec.base_url)
        key = os.environ.get(spec.api_key_env, "").strip()
        if not key and spec.base_url.rstrip("/") == OPENAI_URL:
            raise EngineError(
                f"{OPENAI_URL} needs a key: put it into the environment variable {spec.api_key_env}, or name another "
                "variable with --api-key-env or another server with --base-url"
            )
        if not key.isascii() or not key.isprintable():
            raise EngineError(f"the key in {spec.api_key_env} holds characters that no HTTP header can carry")
        return cls(base_url=spec.base_url.rstrip("/"), env=spec.api_key_env, key=key or _NO_KEY)

    @property
    def root(self) -> str:
        """The address without `/v1`, where servers keep what is not part of the API."""
        return self.base_url.removesuffix("/v1")

    def clean(self, text: object) -> str:
        """Returns a message without the key, whoever put it there."""
        words = " ".join(str(text).split())
        return words if len(self.key) < _SHORTEST_SECRET or self.key == _NO_KEY else words.replace(self.key, "[key]")


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EngineError(f"--base-url {url!r} is no address of a server, as in http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise EngineError(
            f"--base-url of {parts.hostname} holds a user, a password, a query or a fragment; leave them out, "
            "and put the key into an environment variable (--api-key-env)"
        )
