"""An OpenAI-compatible server on loopback that answers as a script says, faults included."""

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image as Pillow

from vqaudit.engines.base import Event, Generation, Image, Request, TextPart

JSON = "application/json"


@dataclass
class Answer:
    """What goes back; `kind` other than `plain` is a fault of the connection."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "plain"
    delay: float = 0.0


def completion(content: Any = "A", *, finish: str | None = "stop", message: Any = None, **more: Any) -> Answer:
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": content} | (message or {})}
    choice["finish_reason"] = finish
    choice |= {key: more.pop(key) for key in ("logprobs",) if key in more}
    usage = {"prompt_tokens": 20, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 8}}
    return Answer(body={"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage} | more)


def positions(*tokens: tuple[str, dict[str, float]]) -> dict[str, Any]:
    """`logprobs` of a choice: each written token with the listed ones."""
    return {
        "content": [
            {
                "token": text,
                "logprob": listed.get(text, -9999.0),
                "top_logprobs": [{"token": t, "logprob": p} for t, p in listed.items()],
            }
            for text, listed in tokens
        ]
    }


def error(status: int, message: str, *, code: str | None = None, **headers: str) -> Answer:
    body = {"error": {"message": message, "type": "error", "code": code}}
    return Answer(status=status, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})


def ask(
    text: str = "Which?\nA. red\nB. blue\nC. green",
    event: Event | None = None,
    *,
    trial: str | None = None,
    option_ids: tuple[str, ...] = ("A", "B", "C"),
    **more: Any,
) -> Request:
    """A request, a generation unless an event is given; its trial is called by its text unless it has a name."""
    parts = more.pop("parts", (TextPart(text=text),))
    event = Generation(max_tokens=64) if event is None else event
    return Request(trial=trial or text, parts=parts, option_ids=option_ids, event=event, **more)


def picture(seed: int = 0, size: int = 24) -> Image:
    pixels = np.random.default_rng(seed).integers(0, 255, (size, size, 3), dtype=np.uint8)
    return Image(digest=f"p{seed}", pixels=Pillow.fromarray(pixels))


Script = Callable[[dict[str, Any], int], Answer]
"""Takes the request's body and its number from 0, returns the answer."""


def probe_aware(script: Callable[[dict[str, Any] | None, int], Answer]) -> Script:
    """The first requests are the probe's: they get what the script answers to None."""

    def answer(body: dict[str, Any], number: int) -> Answer:
        return script(None if "Reply with the letter A" in json.dumps(body["messages"]) else body, number)

    return answer


class Loopback:
    """Serves `/v1/chat/completions` by a script, and `/v1/models`, `/tokenize` where they are given."""

    def __init__(self, script: Script, *, models: list[dict[str, str]] | None = None, tokenize: Any = None) -> None:
        self.script = script
        self.models = models
        self.tokenize = tokenize
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.open = self.most_open = 0
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)

        async def begin() -> None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**24)
            self.port = self._server.sockets[0].getsockname()[1]
            ready.set()

        self._loop.create_task(begin())
        self._loop.run_forever()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def close(self) -> None:
        def stop() -> None:
            self._server.close()
            self._loop.stop()

        self._loop.call_soon_threadsafe(stop)
        self._thread.join(5)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in head[1:] if ":" in line)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            answer = self._answer(method, path, headers, raw)
            if answer.delay:
                await asyncio.sleep(answer.delay)
        finally:
            self.open -= 1
        return await self._reply(answer, writer)

    def _answer(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> Answer:
        if path.endswith("/models"):
            return Answer(body={"data": self.models}) if self.models is not None else error(404, "no list")
        if "tokenize" in path:
            body = json.loads(raw)
            found = self.tokenize(path, body) if self.tokenize else None
            return error(404, "no tokenizer") if found is None else Answer(body={"tokens": found})
        self.headers.append(headers)
        self.bodies.append(json.loads(raw))
        return self.script(self.bodies[-1], len(self.bodies) - 1)

    async def _reply(self, answer: Answer, writer: asyncio.StreamWriter) -> bool:
        if answer.kind == "hang":
            await asyncio.sleep(3600)
        if answer.kind == "cut":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{")
            await writer.drain()
            return False
        if answer.kind == "drop":
            return False
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        lines = [f"HTTP/1.1 {answer.status} X", f"content-length: {len(body)}"]
        lines += [f"{k}: {v}" for k, v in ({"content-type": JSON} | answer.headers).items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        return True
