"""One request, asked: how many tokens, which fields, how often, and what became of it.

Knows events and a way to send. Knows no order and no batch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from vqaudit.engines.base import (
    ForcedToken,
    Generation,
    IDScores,
    OptionLikelihood,
    Outcome,
    Reply,
    Request,
)
from vqaudit.engines.listed import positions_needed
from vqaudit.engines.listed_replies import id_outcome, reply_outcome
from vqaudit.engines.messages import GO_ON, chat_messages
from vqaudit.engines.server.abilities import Abilities
from vqaudit.engines.server.answers import option_outcome, scored_prompt, with_usage
from vqaudit.engines.server.budgets import Budgets
from vqaudit.engines.server.faults import BadRequest, Busy, Withheld
from vqaudit.engines.server.patience import Patience
from vqaudit.engines.server.pictures import PictureURLs
from vqaudit.engines.server.probe import sampling
from vqaudit.engines.server.replies import ServerReply, Usage, read_completion
from vqaudit.engines.server.spec import ServerSpec
from vqaudit.errors import EngineReplyError

__all__ = ["Asker"]


@dataclass(slots=True)
class _Tally:
    """What one outcome took."""

    tries: int = 0
    usage: Usage = field(default_factory=Usage)

    def sent(self) -> None:
        """Counts one request."""
        self.tries += 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Asker:
    """Asks requests of one model."""

    model: str
    spec: ServerSpec
    can: Abilities
    send: Callable[[Mapping[str, Any]], Awaitable[Any]]
    """Sends one chat completion, once."""
    patience: Patience
    budgets: Budgets
    pictures: PictureURLs

    async def outcome(self, request: Request) -> Outcome:
        """Returns what became of a request; a failure of its own is its outcome.

        Raises:
            EngineError: Nobody can be answered any more.
        """
        tally = _Tally()
        try:
            found = await self._answer(request, tally)
        except Busy as error:
            found = Outcome(trial=request.trial, error=f"gave up after {tally.tries} tries: {error}")
        except EngineReplyError as error:
            found = Outcome(trial=request.trial, error=str(error))
        except BadRequest as error:
            found = Outcome(trial=request.trial, error=str(error), bad_input=True)
        except Withheld:
            found = Outcome(trial=request.trial, reply="", finish_reason="content_filter")
        return with_usage(replace(found, tries=tally.tries), tally.usage)

    async def _answer(self, request: Request, tally: _Tally) -> Outcome:
        event = request.event
        if isinstance(event, OptionLikelihood):
            return await self._likelihoods(request, event, tally)
        if isinstance(event, IDScores):
            limit = positions_needed(request.option_ids)
            return id_outcome(request, await self._chat(request, tally, limit=limit, tokens=True))
        if isinstance(event, Reply):
            return await self._reply(request, event, tally)
        limit = 1 if isinstance(event, ForcedToken) else event.max_tokens if isinstance(event, Generation) else 0
        tokens = isinstance(event, ForcedToken)
        return reply_outcome(request, await self._chat(request, tally, limit=limit, tokens=tokens))

    async def _reply(self, request: Request, event: Reply, tally: _Tally) -> Outcome:
        """The exact event: cut by tokens where they are told, by the server where they are not."""
        budget = await self.budgets.of(event)
        if self.can.thinks:
            reply = await self._chat(request, tally, limit=budget + event.further)
            return reply_outcome(request, reply)
        if not self.can.logprobs:
            reply = await self._chat(request, tally, limit=budget)
            return replace(reply_outcome(request, reply), budget=budget)
        reply = await self._chat(request, tally, limit=budget + event.further, tokens=True)
        return reply_outcome(request, reply, budget=budget)

    async def _likelihoods(self, request: Request, event: OptionLikelihood, tally: _Tally) -> Outcome:
        scored = {"prompt_logprobs": 0}
        prompt = scored_prompt(await self._chat(request, tally, limit=1, more=scored))
        joints = []
        for text in event.continuations:
            begun = request.prefill + text
            joints.append(scored_prompt(await self._chat(request, tally, limit=1, more=scored, prefill=begun)))
        return option_outcome(request, prompt, joints, event.continuations)

    async def _chat(
        self,
        request: Request,
        tally: _Tally,
        *,
        limit: int,
        tokens: bool = False,
        prefill: str | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> ServerReply:
        # Pictures of many megapixels take a second to encode, and the loop has others to serve.
        messages = await asyncio.to_thread(chat_messages, request, self.pictures.part, prefill=prefill)
        thinking = self.spec.reasoning_tokens if self.can.thinks else 0
        body: dict[str, Any] = {"model": self.model, "messages": messages}
        body |= sampling(self.can, self.spec, limit=limit + thinking)
        if tokens and self.can.logprobs and not self.can.thinks:
            body |= {"logprobs": True, "top_logprobs": self.can.top_logprobs}
        if messages[-1]["role"] == "assistant":
            body |= GO_ON
        body |= self.spec.extra_body | dict(more or {})
        reply = await self.patience.call(partial(self._once, body), count=tally.sent)
        tally.usage += reply.usage
        return reply

    async def _once(self, body: Mapping[str, Any]) -> ServerReply:
        return read_completion(await self.send(body))
