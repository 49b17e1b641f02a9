"""The one place that talks to a server: the `openai` client, one request at a time.

Knows HTTP. Knows no trial.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from vqaudit.engines.server.access import Access
from vqaudit.engines.server.faults import Busy, fault_of
from vqaudit.engines.server.patience import retry_after
from vqaudit.engines.server.spec import ServerSpec
from vqaudit.errors import EngineUnavailable

__all__ = ["Wire"]


class Wire:
    """A client of one server. Lives on one event loop.

    Args:
        access: Where the server is, and its key.
        spec: Time limit.

    Raises:
        EngineUnavailable: The packages of the extra `server` are not installed.
    """

    def __init__(self, access: Access, spec: ServerSpec) -> None:
        try:
            import openai
            import tenacity  # noqa: F401
        except ImportError as error:
            raise EngineUnavailable("a model behind a server (openai:NAME)", extra="server") from error
        self._openai = openai
        self._access = access
        self._timeout = spec.timeout
        # We send again ourselves: the client's own tries would be neither counted nor shared.
        self._client = openai.AsyncOpenAI(
            base_url=access.base_url, api_key=access.key, max_retries=0, timeout=spec.timeout
        )
        self._root = self._client.with_options(base_url=access.root)

    async def chat(self, body: Mapping[str, Any]) -> Any:
        """Sends one chat completion; returns the decoded answer.

        Raises:
            Busy: It may succeed later.
            BadRequest: It never will.
            Withheld: A content filter kept it back.
            EngineError: Nobody can be answered.
        """
        extra = {key: value for key, value in body.items() if key not in ("model", "messages")}
        return await self._within_time(self._chat(body["model"], body["messages"], extra))

    async def _chat(self, model: str, messages: Any, extra: dict[str, Any]) -> Any:
        answer = await self._client.chat.completions.with_raw_response.create(
            model=model, messages=messages, extra_body=extra
        )
        return _decoded(answer.http_response.content)

    async def models(self) -> list[Mapping[str, Any]]:
        """Returns what the server lists as its models; nothing where it lists none."""
        try:
            answer = await self._within_time(self._models())
        except Busy:
            raise
        except Exception:  # many servers have no such list, and none is needed
            return []
        listed = answer.get("data") if isinstance(answer, Mapping) else None
        return [model for model in listed if isinstance(model, Mapping)] if isinstance(listed, list) else []

    async def _models(self) -> Any:
        answer = await self._client.models.with_raw_response.list()
        return _decoded(answer.http_response.content)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Posts to a path below the server's root, where servers keep what is not part of the API."""
        return await self._within_time(self._root.post(path, body=dict(body), cast_to=object))

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _within_time(self, sent: Any) -> Any:
        try:
            # The client's limit is for each step of a request; a server that drips bytes would never reach it.
            async with asyncio.timeout(self._timeout):
                return await sent
        except (TimeoutError, self._openai.APITimeoutError):
            raise Busy(f"{self._access.base_url} did not answer within {self._timeout:g} s") from None
        except self._openai.APIStatusError as error:
            wait = retry_after(error.response.headers)
            fault = fault_of(error.status_code, error.body, access=self._access, wait=wait)
        except self._openai.APIConnectionError as error:
            cause = error.__cause__ or error
            said = self._access.clean(f"{type(cause).__name__}: {cause}".rstrip(": "))
            raise Busy(f"no connection to {self._access.base_url} ({said})") from None
        except self._openai.OpenAIError as error:
            raise Busy(f"malformed answer: {self._access.clean(error)}") from None
        # Outside the handler: the client's error holds request and headers, and with them the key.
        raise fault


def _decoded(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError as error:
        start = content[:60].decode("utf-8", "replace")
        raise Busy(f"malformed answer: no JSON, it begins with {start!r} ({type(error).__name__})") from None
