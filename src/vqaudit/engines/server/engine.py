"""The engine behind an OpenAI-compatible server.

Knows how the parts fit together, and when a run must stop. Knows no dataset, no format and no answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vqaudit.engines.base import Event, Outcome, Request
from vqaudit.engines.prefix_order import prefix_groups
from vqaudit.engines.server.abilities import Abilities, check_events
from vqaudit.engines.server.access import Access
from vqaudit.engines.server.asking import Asker
from vqaudit.engines.server.background import Background
from vqaudit.engines.server.budgets import Budgets, counted
from vqaudit.engines.server.faults import Busy, Withheld
from vqaudit.engines.server.patience import Patience
from vqaudit.engines.server.pictures import PictureURLs
from vqaudit.engines.server.probe import probe, sees_pictures
from vqaudit.engines.server.spec import ServerSpec
from vqaudit.engines.server.wire import Wire
from vqaudit.errors import EngineError, UnsupportedEvent

__all__ = ["ServerEngine"]

_SILENCE = 8
"""So many requests in a row without an answer, at least: the server is gone, not the trials."""


class ServerEngine:
    """A model behind an OpenAI-compatible server.

    Nothing is sent before `check` or the first request: then a probe finds out what the server can.

    Args:
        model: The model's name, as the server knows it.
        spec: Where the server is and how it is asked; None = OpenAI's own, with defaults.

    Raises:
        EngineError: The address is none, or the key's variable is not set.

    Example:
        >>> spec = ServerSpec(base_url="http://127.0.0.1:8000/v1", api_key_env="NOT_SET")
        >>> engine = ServerEngine("Qwen/Qwen2.5-VL-7B-Instruct", spec)
        >>> engine.describe()["base_url"], engine.unsteady
        ('http://127.0.0.1:8000/v1', True)
    """

    batch_sensitive = False
    unsteady = True
    """Servers mix requests in batches of their own, and many do not honour a seed."""

    def __init__(self, model: str, spec: ServerSpec | None = None) -> None:
        self._model = model
        self._spec = spec or ServerSpec()
        self._access = Access.of(self._spec)
        self._background: Background | None = None
        self._wire: Wire | None = None
        self._asker: Asker | None = None
        self._pictures = PictureURLs(self._spec.image_encoding, detail=self._spec.image_detail)
        self._sees: bool | None = None
        self._silent = 0

    @property
    def name(self) -> str:
        """How the manifest names the model."""
        return self._model

    @property
    def abilities(self) -> Abilities | None:
        """What the probe found; None before it."""
        return None if self._asker is None else self._asker.can

    def describe(self) -> Mapping[str, Any]:
        """Returns address, decoding, limits, prices and what the probe found; never the key."""
        spec = self._spec
        told = spec.model_dump(mode="json", exclude={"base_url", "api_key_env", "first_wait"})
        prices = {key: told.pop(f"price_{key}") for key in ("in", "cached", "out")}
        can = self.abilities
        sent = {"temperature": 0, "seed": spec.seed}
        found = None if can is None else can.to_dict()
        dropped = [] if can is None else [name for name in sent if not getattr(can, name)]
        return {
            "kind": "server",
            "model": self._model,
            "base_url": self._access.base_url,
            "api_key_env": self._access.env,
            "greedy": {"sent": {k: v for k, v in sent.items() if k not in dropped}, "refused": dropped},
            **told,
            "prices": {**prices, "currency": told["currency"], "per": 1_000_000},
            "abilities": found,
            "identity": self._identity(found),
        }

    def _identity(self, found: Mapping[str, Any] | None) -> dict[str, Any]:
        """What must be equal for two sessions to write into one run: the address may change, the asking may not."""
        spec = self._spec
        asked = {
            "model": self._model,
            "seed": spec.seed,
            "reasoning_tokens": spec.reasoning_tokens,
            "image_encoding": spec.image_encoding,
            "image_detail": spec.image_detail,
            "extra_body": spec.extra_body,
        }
        return asked if found is None else asked | {"abilities": dict(found)}

    def describe_ids(self, option_ids: Sequence[str]) -> Mapping[str, Any]:
        """Returns the budget of each ID and who counted it; empty before the probe."""
        if self._asker is None:
            return {}
        return self._loop().run(self._asker.budgets.describe(option_ids))

    def check(self, events: Iterable[Event]) -> None:
        """Probes the server once, and refuses events that it cannot score.

        Raises:
            EngineError: The server cannot be asked.
            UnsupportedEvent: Names the event, why, and engines that can.
        """
        who = f"{self._model!r} at {self._access.base_url}"
        asker = self._ready()
        check_events(events, asker.can, who=who, thinking=self._spec.reasoning_tokens)

    def count_tokens(self, request: Request) -> int | None:
        """Returns None: a server tells tokens with its answers."""
        return None

    def batches(self, requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
        """Yields one batch: requests that begin alike stand together, so that the server's prefix cache serves."""
        ordered = [request for group in prefix_groups(requests) for request in group]
        if ordered:
            yield ordered

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        """Returns exactly one outcome per request, in any order."""
        return list(self.stream(batch))

    def stream(self, batch: Sequence[Request]) -> Iterator[Outcome]:
        """Yields each outcome as it comes.

        Raises:
            EngineError: The key is refused, the model is gone, or the server has stopped answering.
            UnsupportedEvent: The model takes no pictures, or the server cannot go on where a turn has begun.
        """
        asker = self._ready()
        self._check_batch(batch, asker)

        def work(put: Callable[[Outcome], None]) -> Coroutine[Any, Any, None]:
            return self._ask_all(batch, asker, put)

        yield from self._loop().stream(work)

    def close(self) -> None:
        """Closes connections and thread; a later request opens them anew."""
        if self._background is not None:
            if self._wire is not None:
                self._background.run(self._wire.close())
            self._background.close()
        self._background = self._wire = self._asker = None

    def _loop(self) -> Background:
        if self._background is None:
            self._background = Background()
        return self._background

    def _ready(self) -> Asker:
        if self._asker is None:
            self._asker = self._loop().run(self._prepare())
        return self._asker

    async def _prepare(self) -> Asker:
        spec = self._spec
        wire = self._wire = Wire(self._access, spec)
        patience = Patience(retries=spec.retries, first_wait=spec.first_wait)

        async def patiently(body: Mapping[str, Any]) -> Any:
            try:
                return await patience.call(lambda: wire.chat(body), count=lambda: None)
            except Busy as error:
                raise EngineError(f"{error} ({spec.retries + 1} tries; is the server up?)") from None
            except Withheld as error:
                raise EngineError(f"the server's content filter refuses a harmless question: {error}") from None

        can = await probe(wire, patiently, self._model, spec)

        async def count(text: str) -> int:
            path, _, key = (can.tokenize or "").partition("#")
            body = {"model": self._model, key: text, "add_special_tokens": False}
            return counted(await patience.call(lambda: wire.post(path, body), count=lambda: None))

        return Asker(
            model=self._model,
            spec=spec,
            can=can,
            send=wire.chat,
            patience=patience,
            budgets=Budgets(count if can.tokenize else None),
            pictures=self._pictures,
        )

    def _check_batch(self, batch: Sequence[Request], asker: Asker) -> None:
        """Refuses, before any of the batch is sent, what this model does not take."""
        who = f"{self._model!r} at {self._access.base_url}"
        if any(request.prefill for request in batch) and not asker.can.prompt_logprobs:
            raise UnsupportedEvent(
                f"{who} cannot go on where the assistant's turn has begun; use an interface whose ending stands in the "
                "user's turn, a local model, vllm:NAME or a vLLM server"
            )
        if self._sees is None and any(request.images for request in batch):
            why = self._loop().run(self._look(asker))
            if why is not None:
                raise UnsupportedEvent(f"{who} takes no pictures: {why}; name a vision-language model")
            self._sees = True

    async def _look(self, asker: Asker) -> str | None:
        async def patiently(body: Mapping[str, Any]) -> Any:
            return await asker.patience.call(lambda: asker.send(body), count=lambda: None)

        return await sees_pictures(patiently, self._model, asker.can, self._spec, self._pictures.part)

    async def _ask_all(self, batch: Sequence[Request], asker: Asker, put: Callable[[Outcome], None]) -> None:
        places = asyncio.Semaphore(self._spec.concurrency)
        try:
            async with asyncio.TaskGroup() as group:
                for alike in prefix_groups(batch):
                    group.create_task(self._ask_group(alike, asker, places, put))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _ask_group(
        self, alike: Sequence[Request], asker: Asker, places: asyncio.Semaphore, put: Callable[[Outcome], None]
    ) -> None:
        """The first alone, so that its beginning is in the server's cache when the others come."""
        await self._ask(alike[0], asker, places, put)
        await asyncio.gather(*(self._ask(request, asker, places, put) for request in alike[1:]))

    async def _ask(
        self, request: Request, asker: Asker, places: asyncio.Semaphore, put: Callable[[Outcome], None]
    ) -> None:
        async with places:
            begun = time.perf_counter()
            outcome = await asker.outcome(request)
        put(replace(outcome, seconds=time.perf_counter() - begun))
        self._silent = self._silent + 1 if outcome.error is not None and not outcome.bad_input else 0
        if self._silent >= max(_SILENCE, self._spec.concurrency):
            raise EngineError(f"{self._silent} requests in a row had no answer; the last one {outcome.error}")
