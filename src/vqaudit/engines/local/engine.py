"""The local engine: a model of transformers behind the engine protocol.

Knows how the parts fit together, and what happens to a request that cannot be answered. Knows no dataset, no
format and no answer.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from vqaudit.engines.base import (
    Depth,
    Event,
    IDScores,
    OptionLikelihood,
    Outcome,
    Readout,
    Reply,
    Request,
    TextPart,
)
from vqaudit.engines.local.answers import answer_event, continues, tokens_after
from vqaudit.engines.local.asked import Asked, Tools, too_long
from vqaudit.engines.local.batching import Batch, Load, Shared, halving, trouble_with
from vqaudit.engines.local.chat import Chat
from vqaudit.engines.local.control import ControlTokens
from vqaudit.engines.local.encoding import Prompt, PromptEncoder
from vqaudit.engines.local.grouping import prefix_groups
from vqaudit.engines.local.identity import describe_model
from vqaudit.engines.local.ids import IDTokens
from vqaudit.engines.local.images import PictureReader
from vqaudit.engines.local.loading import Loaded, load
from vqaudit.engines.local.outcomes import BadInput, bad_input, failed
from vqaudit.engines.local.paths import Paths, choose_paths
from vqaudit.engines.local.plain import PlainPath, TokenRoles
from vqaudit.engines.local.quiet import quiet
from vqaudit.engines.local.samples import sample_requests
from vqaudit.engines.local.sessions import Row
from vqaudit.engines.local.sharing import Budget, SharingPlan, Slot
from vqaudit.engines.local.spec import LocalSpec
from vqaudit.engines.local.states import Lens, catching, count_layers, rows_of, softcap
from vqaudit.engines.local.vocabulary import Vocabulary
from vqaudit.errors import UnsupportedEvent

__all__ = ["LocalEngine", "load_local"]

_WINDOW = 1024
"""Requests that are sorted by length together; pictures of a window are read once."""
_CPU_TOKENS, _DEVICE_TOKENS = 8_192, 32_768
"""Most tokens of a batch where the spec does not say."""
_CPU_CALL, _DEVICE_CALL = 32, 256
"""How many tokens one call of the model is worth: what it costs besides its arithmetic."""
_CPU_KV_BYTES, _DEVICE_KV_SHARE = 2 * 2**30, 0.25
"""Most memory of a batch's keys and values where the spec does not say; of a device, the share of what it has."""
_LONGEST_SAMPLE = 4096
"""Longest attention window that the check at the start reaches beyond."""
_IDENTITY = ("weights", "commit", "dtype", "chat_template_sha256", "image_processor")
"""What must be equal for two sessions to write into one run: the device and versions may differ."""


def load_local(model: str | Path, *, spec: LocalSpec | None = None, name: str | None = None) -> LocalEngine:
    """Loads a model for asking: a vision-language model, or a language model for items without pictures.

    Args:
        model: A folder, a hub ID, or the path of a GGUF file of a language model.
        spec: Device, dtype, chat template variables, batch sizes; None = defaults.
        name: How the manifest names the model; None = as it was given.

    Raises:
        EngineError: There is no such model, it lacks weights, or the device cannot hold it.
        EngineUnavailable: A package that it needs is missing.

    Example:
        >>> from importlib.resources import files
        >>> engine = load_local(str(files("vqaudit") / "demo_data" / "model"), spec=LocalSpec(device="cpu"))
        >>> engine.describe()["dtype"]
        'float32'
    """
    spec = spec or LocalSpec()
    return LocalEngine(name or str(model), load(model, spec), spec, source=str(model))


class LocalEngine:
    """A loaded model that answers requests. Made by `load_local`.

    Args:
        name: How the manifest names the model.
        loaded: The model with its tokenizer and processor.
        spec: Device, dtype, chat template variables, batch sizes.
        source: The folder, hub ID or file that it was loaded from.
    """

    def __init__(self, name: str, loaded: Loaded, spec: LocalSpec, *, source: str) -> None:
        self._name = name
        self._source = source
        self._loaded = loaded
        self._spec = spec
        on_cpu = loaded.model.device.type == "cpu"
        self._token_budget = spec.token_budget or (_CPU_TOKENS if on_cpu else _DEVICE_TOKENS)
        control = self._control = ControlTokens(
            loaded.tokenizer, template=loaded.template or "", others=filter(None, [loaded.image_token])
        )
        self._chat = Chat(
            loaded.tokenizer, template=loaded.template, control=control, image_token=loaded.image_token, spec=spec
        )
        vocabulary = Vocabulary(loaded.tokenizer, control_ids=control.ids)
        self._tools = Tools(
            ids=IDTokens(control, vocabulary),
            vocabulary=vocabulary,
            encoder=PromptEncoder(
                chat=self._chat,
                control=control,
                reader=self._make_reader(),
                begin=loaded.tokenizer.convert_ids_to_tokens(list(loaded.begin)),
            ),
            max_positions=loaded.max_positions,
            lens=Lens(loaded.model),
        )
        plain = self._make_path()
        with quiet():
            samples = self._sample_groups(plain)
            self._paths = choose_paths(plain, samples, ends=loaded.ends, sharing=spec.prefix_sharing)
        self._network = plain.network
        self._sharing = self._make_sharing(self._paths)

    def _make_path(self) -> PlainPath:
        loaded, tokenizer = self._loaded, self._loaded.tokenizer
        pads = [tokenizer.pad_token_id, *loaded.ends, 0]
        roles = TokenRoles(
            pad=next(pad for pad in pads if pad is not None), ends=loaded.ends, image=loaded.image_token_ids
        )
        return PlainPath(
            loaded.model,
            roles=roles,
            type_key=loaded.type_key,
            token_budget=self._token_budget,
            max_batch=self._spec.max_batch,
        )

    def _sample_groups(self, plain: PlainPath) -> list[tuple[list[Row], Shared]]:
        """A few prompts with and without a picture, longer than any window of the model's attention."""
        groups = []
        window = plain.network.window or 0
        for picture in (False, True) if self._loaded.processor is not None else (False,):
            requests = sample_requests(picture=picture, words=window if window <= _LONGEST_SAMPLE else 0)
            prompts = self._tools.encoder.encode(requests)
            if not all(isinstance(prompt, Prompt) for prompt in prompts):
                return []  # what cannot be checked is not shared
            rows = [self._asked(*pair).row() for pair in zip(requests, prompts, strict=True)]
            common = prefix_groups([row.token_ids for row in rows], call=_LONGEST_SAMPLE)[0].chain
            groups.append((rows, Shared(common)))
        return groups

    def _make_sharing(self, paths: Paths) -> SharingPlan:
        shared, on_cpu = paths.shared, paths.plain.model.device.type == "cpu"
        network = self._network
        budget = Budget(
            tokens=self._token_budget,
            rows=self._spec.max_batch,
            kv_tokens=int(_kv_bytes(self._spec, paths.plain.model.device) // network.bytes_per_token),
            call=_CPU_CALL if on_cpu else _DEVICE_CALL,
        )
        return SharingPlan(
            budget=budget,
            image_tokens=self._loaded.image_token_ids,
            network=None if shared is None else network,
            strategy=None if shared is None else shared.strategy,
        )

    def _make_reader(self) -> PictureReader | None:
        if self._loaded.processor is None:
            return None
        return PictureReader(self._loaded.processor, accepted=self._loaded.accepted)

    @property
    def name(self) -> str:
        """How the manifest names the model."""
        return self._name

    @property
    def batch_sensitive(self) -> bool:
        """True: padding and the order of additions change the last digits."""
        return True

    def describe(self) -> Mapping[str, Any]:
        """Returns model, revision, weights, dtype, device, template and limits, as JSON values."""
        model = describe_model(self._source, self._loaded)
        return {
            **model,
            "identity": {key: model[key] for key in _IDENTITY} | {"chat_kwargs": self._spec.chat_kwargs},
            "spec": self._spec.model_dump(mode="json"),
            "token_budget": self._token_budget,
            "prefix_sharing": self._paths.describe(),
            "system_turn": self._chat.has_system_turn,
            "reply_lead": self._chat.reply_lead,
            "template_notes": list(self._chat.notes),
            "without_template": "text, line break" if self._loaded.template is None else None,
        }

    def describe_ids(self, option_ids: Sequence[str]) -> Mapping[str, Any]:
        """Returns how each ID is tokenised where a reply begins."""
        probe = Request(trial="", parts=(TextPart(text="?"),), option_ids=tuple(option_ids), event=IDScores())
        prompt = self._tools.encoder.encode([probe])[0]
        return {} if isinstance(prompt, BadInput) else self._tools.ids.describe(option_ids, prompt)

    def readout(self, option_ids: Sequence[str]) -> Readout:
        """Returns how IDs are read off the last state: their single tokens and these tokens' rows and biases.

        Raises:
            EngineError: Not even a question mark can be put to this model.
        """
        told = self.describe_ids(option_ids)
        token_ids = {name: tuple(told[name]["spelling_ids"]) if told[name]["single_token"] else () for name in told}
        needed = sorted({token for tokens in token_ids.values() for token in tokens})
        rows, biases = rows_of(self._loaded.model, needed)
        return Readout(
            token_ids=token_ids,
            rows=dict(zip(needed, rows.numpy(), strict=True)),
            biases=dict(zip(needed, biases.tolist(), strict=True)),
            layers=count_layers(self._loaded.model),
            width=self._loaded.model.get_output_embeddings().weight.shape[1],
            softcap=softcap(self._loaded.model),
        )

    def check_depth(self, depth: Depth) -> None:
        """Refuses states of all layers where the model does not say where its layers are.

        Raises:
            UnsupportedEvent: Says so.
        """
        with catching(self._loaded.model, depth):
            pass

    def prompt_text(self, request: Request) -> str:
        """Returns the whole prompt as the chat template makes it, each picture as the template's mark for one.

        Raises:
            EngineError: The request cannot be put to this model.
        """
        return self._control.unmark(self._chat.render(request).text)

    def check(self, events: Iterable[Event]) -> None:
        """Refuses events that lack what they need; every kind of event can be scored here.

        Raises:
            UnsupportedEvent: A reply without a budget, or a generation of no tokens.
        """
        for event in events:
            if isinstance(event, Reply) and isinstance(event.budget, str) and not event.vocabulary:
                raise UnsupportedEvent(
                    f"a reply with budget {event.budget!r} needs the IDs that it counts; it has none"
                )
            limit = event.budget if isinstance(event, Reply) else getattr(event, "max_tokens", 1)
            if isinstance(limit, int) and limit < 1:
                raise UnsupportedEvent(f"{type(event).__name__} with {limit} new tokens; it needs 1 or more")

    def count_tokens(self, request: Request) -> int | None:
        """Returns the prompt's tokens, image tokens included; None where it cannot be put to this model."""
        prompt = self._tools.encoder.encode([request])[0]
        return None if isinstance(prompt, BadInput) else len(prompt.token_ids)

    def batches(self, requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
        """Yields batches that share a beginning, or like events and lengths; the same requests give the same ones."""
        for start in range(0, len(requests), _WINDOW):
            window = requests[start : start + _WINDOW]
            prompts = self._tools.encoder.encode(window)
            slots = [self._slot(request, prompt) for request, prompt in zip(window, prompts, strict=True)]
            for indices, shared in self._sharing.batches(slots):
                yield Batch([window[index] for index in indices], shared)

    def _slot(self, request: Request, prompt: Prompt | BadInput) -> Slot | None:
        if isinstance(prompt, BadInput):
            return None
        new = tokens_after(request, prompt, self._tools)
        length = len(prompt.token_ids) + new
        if self._network.changes and isinstance(request.event, OptionLikelihood):  # where a beginning may not fit them
            length += max((len(text.encode()) for text in request.event.continuations), default=0)
        kind = (type(request.event).__name__, new, bool(prompt.order))
        digests = tuple(request.images[index].digest for index in prompt.order)
        return Slot(
            prompt=prompt,
            digests=digests,
            load=Load(kind=kind, length=length),
            continues=continues(request, prompt, self._tools),
        )

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        """Returns exactly one outcome per request, in order.

        Where memory runs out or a batch cannot be computed, it is halved until it can; a single request that
        cannot be computed fails.

        Raises:
            EngineError: The device is lost.
        """
        begun = time.perf_counter()
        with quiet():
            outcomes = self._answer(batch)
        share = (time.perf_counter() - begun) / max(1, len(batch))
        return [replace(outcome, seconds=share) for outcome in outcomes]

    def _answer(self, batch: Sequence[Request]) -> list[Outcome]:
        prompts = self._tools.encoder.encode(batch)
        outcomes: dict[int, Outcome] = {}
        groups: dict[Hashable, list[int]] = {}
        slots: dict[int, Slot] = {}
        for index, (request, prompt) in enumerate(zip(batch, prompts, strict=True)):
            slot, refusal = self._slot(request, prompt), self._refusal(request, prompt)
            if refusal is None and slot is not None:
                slots[index] = slot
                groups.setdefault(slot.load.kind, []).append(index)
            else:
                outcomes[index] = bad_input(request, refusal or "")
        for indices in groups.values():
            shared = batch.shared if isinstance(batch, Batch) else self._sharing.together([slots[i] for i in indices])
            asked = [self._asked(batch[index], prompts[index]) for index in indices]
            run = partial(self._run, shared=shared)
            answers = halving(asked, run, lambda one, reason: failed(one.request, reason))
            outcomes |= dict(zip(indices, answers, strict=True))
        return [outcomes[index] for index in range(len(batch))]

    def _refusal(self, request: Request, prompt: Prompt | BadInput) -> str | None:
        if isinstance(prompt, BadInput):
            return str(prompt)
        return too_long(len(prompt.token_ids), tokens_after(request, prompt, self._tools), self._tools)

    def _asked(self, request: Request, prompt: Prompt | BadInput) -> Asked:
        assert isinstance(prompt, Prompt)
        return Asked(request=request, prompt=prompt, pictures=self._tools.encoder.pictures(request, prompt))

    def _run(self, asked: Sequence[Asked], *, shared: Shared) -> list[Outcome]:
        try:
            return answer_event(asked, partial(self._paths.begin, shared=shared), self._tools)
        except (RuntimeError, ValueError, IndexError, MemoryError) as error:
            trouble = trouble_with(error)
        # Outside the handler: the caught error holds the failed batch's tensors, and they must go first.
        if self._loaded.model.device.type == "cuda":
            torch.cuda.empty_cache()
        raise trouble

    def close(self) -> None:
        """Frees the model's memory; the engine cannot answer afterwards."""
        self._loaded.model.to("meta")
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _kv_bytes(spec: LocalSpec, device: torch.device) -> float:
    if spec.kv_budget is not None:
        return spec.kv_budget * 2**30
    if device.type == "cuda":
        return _DEVICE_KV_SHARE * torch.cuda.get_device_properties(device).total_memory
    return _CPU_KV_BYTES
