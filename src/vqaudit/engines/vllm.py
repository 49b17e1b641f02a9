"""Models that vLLM runs in this process: the only owner of vllm.

Knows vLLM's offline API (`LLM.chat`, `SamplingParams`, `RequestOutput`) as it is documented. Knows no dataset, no
format and no answer. Log-probabilities are raw: before temperature, penalties and any mask.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from vqaudit.engines.base import (
    Event,
    ForcedToken,
    Generation,
    IDScores,
    Image,
    OptionLikelihood,
    Outcome,
    RationaleScores,
    Reply,
    Request,
)
from vqaudit.engines.continuations import ScoredPrompt, score_continuation
from vqaudit.engines.listed import ListedPosition, positions_needed
from vqaudit.engines.listed_replies import ListedReply, id_outcome, reply_outcome
from vqaudit.engines.messages import GO_ON, chat_messages
from vqaudit.engines.prefix_order import prefix_groups
from vqaudit.errors import EngineError, EngineReplyError, EngineUnavailable, UnsupportedEvent

__all__ = ["VLLMEngine", "VLLMSpec"]

_BATCH = 256
"""Requests that vLLM is handed at one time; it cuts batches of its own from them."""


class VLLMSpec(BaseModel):
    """Everything about a vLLM model that is not its name.

    Example:
        >>> VLLMSpec(dtype="bfloat16").images_per_prompt
        8
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dtype: str = "auto"
    revision: str | None = None
    """Branch, tag or commit on the hub."""
    trust_remote_code: bool = False
    """Whether code that comes with a checkpoint may run. Only for checkpoints that you trust."""
    chat_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Variables for the chat template."""
    top_logprobs: int = Field(default=20, ge=1)
    """Likely next tokens that are listed."""
    images_per_prompt: int = Field(default=8, ge=1)
    """Most pictures of one question; vLLM sets memory aside for them."""
    seed: int = 0
    engine_args: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of `vllm.LLM`, such as `{"max_model_len": 8192, "tensor_parallel_size": 2}`."""


class VLLMEngine:
    """A model that vLLM runs in this process.

    Args:
        model: A hub ID or folder.
        spec: Revision, dtype and further arguments; None = defaults.

    Raises:
        EngineUnavailable: vllm is not installed.
        EngineError: vLLM cannot load the model.
    """

    batch_sensitive = False
    unsteady = True
    """vLLM batches requests as they come, and near-ties can fall otherwise the next time."""

    def __init__(self, model: str, spec: VLLMSpec | None = None) -> None:
        try:
            import vllm  # pyright: ignore[reportMissingImports]  # Linux with a GPU alone
        except ImportError as error:
            raise EngineUnavailable("a model that vLLM runs (vllm:NAME)", extra="vllm") from error
        self._model = model
        self._spec = spec = spec or VLLMSpec()
        self._vllm = vllm
        arguments: dict[str, Any] = {
            "dtype": spec.dtype,
            "revision": spec.revision,
            "trust_remote_code": spec.trust_remote_code,
            "seed": spec.seed,
            "enable_prefix_caching": True,
            "logprobs_mode": "raw_logprobs",
            "max_logprobs": spec.top_logprobs,
            "limit_mm_per_prompt": {"image": spec.images_per_prompt},
        }
        try:
            self._llm: Any = vllm.LLM(model=model, **arguments | spec.engine_args)
        except (ValueError, OSError, RuntimeError, TypeError) as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise EngineError(f"vLLM cannot load {model!r}: {reason[0]}") from error
        self._tokenizer: Any = self._llm.get_tokenizer()

    @property
    def name(self) -> str:
        """How the manifest names the model."""
        return self._model

    def describe(self) -> Mapping[str, Any]:
        """Returns model, versions and arguments."""
        told = self._spec.model_dump(mode="json")
        asked = {key: told[key] for key in ("dtype", "revision", "chat_kwargs", "top_logprobs", "seed")}
        return {
            "kind": "vllm",
            "model": self._model,
            "vllm": str(getattr(self._vllm, "__version__", "unknown")),
            "logprobs_mode": "raw_logprobs",
            "greedy": {"sent": {"temperature": 0, "seed": self._spec.seed}},
            **told,
            "identity": {"model": self._model, **asked},
        }

    def describe_ids(self, option_ids: Sequence[str]) -> Mapping[str, Any]:
        """Returns how each ID is tokenised after a line break and on its own, and its budgets."""
        return {
            option_id: {
                "bare": self._pieces(option_id),
                "in_place": self._in_place(option_id),
                "budget": {"emitted": len(self._in_place(option_id)), "paper": len(self._pieces(option_id))},
            }
            for option_id in option_ids
        }

    def _pieces(self, text: str) -> list[str]:
        return [self._tokenizer.decode([token]) for token in self._tokenizer.encode(text, add_special_tokens=False)]

    def _in_place(self, option_id: str) -> list[str]:
        return self._pieces(f"\n{option_id}")[len(self._pieces("\n")) :] or self._pieces(option_id)

    def check(self, events: Iterable[Event]) -> None:
        """Refuses hidden states and rationales behind which IDs are scored.

        Raises:
            UnsupportedEvent: Names the event and the engine that can score it.
        """
        for event in events:
            if isinstance(event, RationaleScores) or (isinstance(event, IDScores) and event.states is not None):
                raise UnsupportedEvent(f"vllm:{self._model} cannot score {type(event).__name__}; use a local model")

    def count_tokens(self, request: Request) -> int | None:
        """Returns None: image tokens are counted when a request is answered."""
        return None

    def batches(self, requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
        """Yields requests of one kind of event that begin alike together, for the prefix cache."""
        kinds: dict[tuple[object, ...], list[Request]] = {}
        for request in requests:
            kinds.setdefault((type(request.event), bool(request.prefill)), []).append(request)
        for alike in kinds.values():
            ordered = [request for group in prefix_groups(alike) for request in group]
            for start in range(0, len(ordered), _BATCH):
                yield ordered[start : start + _BATCH]

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        """Returns exactly one outcome per request; where vLLM refuses a batch, requests are asked one by one."""
        begun = time.perf_counter()
        outcomes = self._answer(batch)
        share = (time.perf_counter() - begun) / max(1, len(batch))
        return [replace(outcome, seconds=share) for outcome in outcomes]

    def _answer(self, batch: Sequence[Request]) -> list[Outcome]:
        outcomes: dict[str, Outcome] = {}
        likelihoods = [request for request in batch if isinstance(request.event, OptionLikelihood)]
        others = [request for request in batch if not isinstance(request.event, OptionLikelihood)]
        for begun in (False, True):  # vLLM takes one way to begin the assistant's turn per call
            group = [request for request in others if bool(request.prefill) is begun]
            for request, found in zip(group, self._chat(group, begun=begun), strict=True):
                outcomes[request.trial] = found if isinstance(found, Outcome) else self._outcome(request, found)
        for request in likelihoods:
            outcomes[request.trial] = self._likelihood(request)
        return [outcomes[request.trial] for request in batch]

    def _chat(self, requests: Sequence[Request], *, begun: bool) -> list[Any]:
        """VLLM's output for each request, or the outcome of one that it does not take."""
        if not requests:
            return []
        conversations = [chat_messages(request, _picture) for request in requests]
        params = [self._params(request) for request in requests]
        try:
            return list(self._call(conversations, params, begun=begun))
        except ValueError as error:
            if len(requests) == 1:
                return [Outcome(trial=requests[0].trial, error=str(error), bad_input=True)]
            return [found for request in requests for found in self._chat([request], begun=begun)]

    def _call(self, conversations: list[Any], params: list[Any], *, begun: bool) -> Any:
        how = GO_ON if begun else {"add_generation_prompt": True}
        return self._llm.chat(
            conversations,
            sampling_params=params,
            use_tqdm=False,
            chat_template_kwargs=self._spec.chat_kwargs or None,
            **how,
        )

    def _params(self, request: Request) -> Any:
        event = request.event
        if isinstance(event, IDScores):
            limit = positions_needed(request.option_ids)
        elif isinstance(event, Reply):
            limit = self._budget(event) + event.further
        else:
            limit = event.max_tokens if isinstance(event, Generation) else 1
        listed = None if isinstance(event, Generation) else self._spec.top_logprobs
        return self._sampling(max_tokens=limit, logprobs=listed)

    def _sampling(self, **more: Any) -> Any:
        return self._vllm.SamplingParams(temperature=0.0, seed=self._spec.seed, **more)

    def _budget(self, event: Reply) -> int:
        if isinstance(event.budget, int):
            return event.budget
        tokens = self._in_place if event.budget == "emitted" else self._pieces
        return max(len(tokens(option_id)) for option_id in event.vocabulary)

    def _outcome(self, request: Request, output: Any) -> Outcome:
        try:
            reply = _reply(output)
            if isinstance(request.event, IDScores):
                found = id_outcome(request, reply)
            else:
                budget = self._budget(request.event) if isinstance(request.event, Reply) else None
                found = reply_outcome(request, reply, budget=1 if isinstance(request.event, ForcedToken) else budget)
        except EngineReplyError as error:
            return Outcome(trial=request.trial, error=str(error))
        return _with_tokens(found, [output])

    def _likelihood(self, request: Request) -> Outcome:
        event = request.event
        assert isinstance(event, OptionLikelihood)
        params = self._sampling(max_tokens=1, prompt_logprobs=0)
        try:
            bare = self._call([chat_messages(request, _picture)], [params], begun=bool(request.prefill))[0]
            joint = [chat_messages(request, _picture, prefill=request.prefill + text) for text in event.continuations]
            outputs = list(self._call(joint, [params] * len(joint), begun=True))
            prompt = _scored(bare)
            scores = tuple(
                score_continuation(prompt, _scored(output), text=text)
                for output, text in zip(outputs, event.continuations, strict=True)
            )
        except ValueError as error:
            return Outcome(trial=request.trial, error=str(error), bad_input=True)
        except EngineReplyError as error:
            return Outcome(trial=request.trial, error=str(error))
        return _with_tokens(Outcome(trial=request.trial, option_scores=scores), [bare, *outputs])

    def close(self) -> None:
        """Lets the model go; the engine cannot answer afterwards."""
        self._llm = None


def _picture(image: Image) -> dict[str, Any]:
    return {"type": "image_pil", "image_pil": image.pixels}


def _reply(output: Any) -> ListedReply:
    """The first completion of a `RequestOutput`."""
    said = output.outputs[0]
    listed: Sequence[Any] = said.logprobs or ()
    if len(listed) not in (0, len(said.token_ids)):
        raise EngineReplyError(f"{len(listed)} lists of likely tokens for {len(said.token_ids)} tokens")
    positions = tuple(
        ListedPosition.of(
            str(top[token].decoded_token or ""), [(entry.decoded_token or "", entry.logprob) for entry in top.values()]
        )
        for token, top in zip(said.token_ids, listed, strict=False)
    )
    finish = "length" if said.finish_reason == "length" else "stop"
    return ListedReply(text=said.text, finish_reason=finish, positions=positions)


def _scored(output: Any) -> ScoredPrompt:
    """A prompt's tokens with their log-probabilities.

    Raises:
        EngineReplyError: There are not as many as the prompt has tokens, or one is not that of its token: with prefix
            caching, some versions return the uncached tail alone.
    """
    tokens, logprobs = output.prompt_token_ids, output.prompt_logprobs
    if logprobs is None or len(logprobs) != len(tokens):
        found = 0 if logprobs is None else len(logprobs)
        raise EngineReplyError(f"{found} log-probabilities for a prompt of {len(tokens)} tokens")
    scored: list[tuple[int, float | None]] = []
    for place, (token, entry) in enumerate(zip(tokens, logprobs, strict=True)):
        if entry is None and place == 0:
            scored.append((token, None))
            continue
        if entry is None or token not in entry:
            raise EngineReplyError(f"position {place} of the prompt has no log-probability of its own token")
        scored.append((token, float(entry[token].logprob)))
    return scored


def _with_tokens(outcome: Outcome, outputs: Sequence[Any]) -> Outcome:
    prompt = sum(len(output.prompt_token_ids) for output in outputs)
    cached = sum(output.num_cached_tokens or 0 for output in outputs)
    written = sum(len(output.outputs[0].token_ids) for output in outputs)
    return replace(
        outcome,
        tokens_computed=prompt - cached + written,
        tokens_reused=cached,
        tokens_written=written,
        tries=len(outputs),
    )
