"""The plain path: every row is computed whole, in left-padded batches.

Knows a model of transformers and rows of token IDs. Knows no request, no option ID and no text. Nothing is shared
between rows; shared-prefix evaluation must agree with this path and is tested against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache, GenerationConfig, LogitsProcessor, LogitsProcessorList

from vqaudit.engines.base import Depth
from vqaudit.engines.local.batching import Load, cut
from vqaudit.engines.local.branches import Network, Prefix
from vqaudit.engines.local.cascade import KeyValues
from vqaudit.engines.local.images import merge_pictures
from vqaudit.engines.local.sessions import Cost, Generated, Row
from vqaudit.engines.local.states import Caught, catching

__all__ = ["MOST_LOGITS", "PlainPath", "TokenRoles"]

MOST_LOGITS = 2**27
"""Logits held at once (512 MB in float32) where whole continuations are read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenRoles:
    """Token IDs that mean something to the model rather than to the reader."""

    pad: int
    ends: tuple[int, ...]
    """Any of them ends a reply."""
    image: frozenset[int] = frozenset()
    """Those that stand for a part of a picture."""


class PlainPath:
    """Forward passes and greedy generation of one model.

    Args:
        model: A causal language model or vision-language model of transformers, in evaluation mode. Its
            generation configuration is replaced by a neutral one: no sampling, no penalties, nothing suppressed.
        roles: Token IDs with a meaning to the model.
        type_key: The argument under which the model takes which tokens are a picture's; None for no such argument.
        token_budget: Most tokens of a batch of continuations, padding included.
        max_batch: Most rows of a batch of continuations.
    """

    def __init__(
        self, model: Any, *, roles: TokenRoles, type_key: str | None, token_budget: int, max_batch: int
    ) -> None:
        self._model = model
        self._roles = roles
        self._type_key = type_key
        self._token_budget = token_budget
        self._max_batch = max_batch
        self.network = Network(model)
        """What is known of the model; paths that share beginnings go by the same."""
        # Multimodal rotary positions depend on the pictures; such a model works them out itself.
        self._own_positions = hasattr(getattr(model, "model", None), "rope_deltas")
        model.generation_config = GenerationConfig(do_sample=False, num_beams=1, pad_token_id=roles.pad)

    @property
    def model(self) -> Any:
        """The model of transformers."""
        return self._model

    def begin(self, rows: Sequence[Row]) -> PlainSession:
        """Returns a session over rows that share nothing."""
        return PlainSession(self, rows)

    @torch.inference_mode()
    def prefill(self, row: Row) -> Prefix:
        """Computes one row from nothing and returns it as a beginning that others can go on from."""
        own = self._own_positions and row.pictures is not None
        if own:
            # Of whatever picture came last: a model that finds one would go on from it.
            self._model.model.rope_deltas = None
        cache: Any = DynamicCache()
        self._forward([row], keep=1, cache=cache)
        length = len(row.token_ids)
        layers = tuple(KeyValues(layer.keys, layer.values) for layer in cache.layers)
        deltas: Any = self._model.model.rope_deltas if own else None
        offset = int(deltas.reshape(-1)[0]) if own else 0
        return Prefix(layers=layers, length=length, offset=offset)

    @torch.inference_mode()
    def next_logprobs(self, rows: Sequence[Row]) -> torch.Tensor:
        """Returns the log-probabilities of the token after each row: rows x vocabulary, float32, on the CPU."""
        parts = self._alike(rows)
        logits = torch.cat([self._forward([rows[index] for index in part], keep=1)[:, -1] for part in parts])
        return logits.float().log_softmax(-1).cpu()[_places(parts)]

    @torch.inference_mode()
    def next_with_states(self, rows: Sequence[Row], depth: Depth) -> Caught:
        """Returns the same with the hidden states behind them."""
        with catching(self._model, depth) as caught:
            logprobs = self.next_logprobs(rows)
            return Caught(logprobs, caught()[_places(self._alike(rows))])

    def _alike(self, rows: Sequence[Row], more: int = 0) -> list[list[int]]:
        """Indices of rows that change one another in no way if they are computed together."""
        parts: dict[int, list[int]] = {}
        for index, row in enumerate(rows):
            length = len(row.token_ids)
            parts.setdefault(self.network.regime(length, length + more), []).append(index)
        return list(parts.values())

    @torch.inference_mode()
    def continuation_logprobs(self, rows: Sequence[Row], lengths: Sequence[int]) -> Iterator[tuple[int, torch.Tensor]]:
        """Yields, for each row, its index and the distributions around its last tokens.

        Args:
            rows: Prompts with their continuations.
            lengths: How many tokens of each row are its continuation.

        Yields:
            For a continuation of n tokens, n + 1 distributions: before each of its tokens, and after the last.
        """
        sizes = [len(row.token_ids) for row in rows]
        kinds = [(row.pictures is None, self.network.regime(n, n)) for row, n in zip(rows, sizes, strict=True)]
        loads = [Load(kind=kind, length=size) for kind, size in zip(kinds, sizes, strict=True)]
        widest = (max(lengths, default=0) + 1) * self._vocabulary_size
        most_rows = min(self._max_batch, max(1, MOST_LOGITS // widest))
        for batch in cut(loads, token_budget=self._token_budget, max_batch=most_rows):
            keep = max(lengths[index] for index in batch) + 1
            logits = self._forward([rows[index] for index in batch], keep=keep)
            for place, index in enumerate(batch):
                yield index, logits[place, -(lengths[index] + 1) :].float().log_softmax(-1).cpu()

    @torch.inference_mode()
    def generate(self, rows: Sequence[Row], *, max_tokens: int) -> list[Generated]:
        """Returns the greedy reply to each row, at most `max_tokens` tokens."""
        parts = self._alike(rows, max_tokens)
        found = [self._generate_alike([rows[index] for index in part], max_tokens) for part in parts]
        places = {index: place for place, index in enumerate(index for part in parts for index in part)}
        replies = [reply for each in found for reply in each]
        return [replies[places[index]] for index in range(len(rows))]

    def _generate_alike(self, rows: Sequence[Row], max_tokens: int) -> list[Generated]:
        """Where the rotary embedding changes on the way (LongRoPE), computes what came before anew.

        transformers would go on from keys of the old one.
        """
        room = self.network.room(len(rows[0].token_ids))
        if room is None or room >= max_tokens:
            return self._generate(rows, max_tokens)
        replies = self._generate(rows, room)
        going = [index for index, reply in enumerate(replies) if not reply.ended]
        longer = [Row(token_ids=rows[i].token_ids + replies[i].tokens, pictures=rows[i].pictures) for i in going]
        rest = self._generate(longer, max_tokens - room) if going else []
        for index, more in zip(going, rest, strict=True):
            replies[index] = _joined(replies[index], more)
        return replies

    def _generate(self, rows: Sequence[Row], max_tokens: int) -> list[Generated]:
        inputs = self._inputs(rows)
        watcher = _Watcher(self._roles.ends)
        config = GenerationConfig(
            max_new_tokens=max_tokens,
            do_sample=False,
            num_beams=1,
            eos_token_id=list(self._roles.ends) or None,
            pad_token_id=self._roles.pad,
        )
        sequences = self._model.generate(
            **inputs, generation_config=config, logits_processor=LogitsProcessorList([watcher])
        )
        new = sequences[:, inputs["input_ids"].shape[1] :].tolist()
        return [self._cut_reply(index, tokens, watcher) for index, tokens in enumerate(new)]

    def _cut_reply(self, index: int, tokens: list[int], watcher: _Watcher) -> Generated:
        stops = [place for place, token in enumerate(tokens) if token in self._roles.ends]
        length = stops[0] if stops else len(tokens)
        steps = min(length + 1, len(tokens))
        assert watcher.first is not None
        return Generated(
            tokens=tuple(tokens[:length]),
            ended=bool(stops),
            first=watcher.first[index],
            end_probabilities=tuple(float(step[index]) for step in watcher.ends[:steps]),
            finite=all(bool(step[index]) for step in watcher.finite[:steps]),
        )

    @property
    def _vocabulary_size(self) -> int:
        return self._model.get_output_embeddings().weight.shape[0]

    def _forward(self, rows: Sequence[Row], *, keep: int, cache: DynamicCache | None = None) -> torch.Tensor:
        inputs = self._inputs(rows)
        if self.network.takes_positions and not (self._own_positions and rows[0].pictures is not None):
            # Counted from each row's own beginning: some models have absolute positions.
            inputs["position_ids"] = (inputs["attention_mask"].cumsum(-1) - 1).clamp(min=0)
        window = {"logits_to_keep": keep} if self.network.takes_window else {}
        kept = {} if cache is None else {self.network.cache_key: cache}
        return self._model(**inputs, **window, **kept, use_cache=cache is not None).logits[:, -keep:]

    def _inputs(self, rows: Sequence[Row]) -> dict[str, torch.Tensor]:
        width = max(len(row.token_ids) for row in rows)
        ids = torch.full((len(rows), width), self._roles.pad)
        mask = torch.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, width - len(row.token_ids) :] = torch.tensor(row.token_ids)
            mask[place, width - len(row.token_ids) :] = 1
        inputs = {"input_ids": ids, "attention_mask": mask}
        if self._type_key is not None:
            of_pictures = torch.tensor(sorted(self._roles.image), dtype=torch.long)
            inputs[self._type_key] = (torch.isin(ids, of_pictures) & mask.bool()).long()
        inputs |= merge_pictures([row.pictures for row in rows if row.pictures is not None])
        return {name: self._place(tensor) for name, tensor in inputs.items()}

    def _place(self, tensor: torch.Tensor) -> torch.Tensor:
        dtype = self._model.dtype if tensor.is_floating_point() else None
        return tensor.to(device=self._model.device, dtype=dtype)


class PlainSession:
    """Rows that share nothing. Made by `PlainPath.begin`."""

    def __init__(self, path: PlainPath, rows: Sequence[Row]) -> None:
        self._path = path
        self._rows = rows
        self._computed = [0 for _ in rows]
        self._first: torch.Tensor | None = None

    def costs(self) -> list[Cost]:
        """Returns what each row has cost so far."""
        return [Cost(computed, 0) for computed in self._computed]

    def first(self) -> torch.Tensor:
        """Returns the distributions of the token after each row: rows x vocabulary."""
        if self._first is None:
            self._first = self._path.next_logprobs(self._rows)
            self._count([len(row.token_ids) for row in self._rows])
        return self._first

    def first_with_states(self, depth: Depth) -> Caught:
        """Returns the same with the states behind them; see `sessions.Session`."""
        caught = self._path.next_with_states(self._rows, depth)
        self._first = caught.logprobs
        self._count([len(row.token_ids) for row in self._rows])
        return caught

    def after(self, wanted: Sequence[tuple[int, tuple[int, ...]]]) -> Iterator[tuple[int, torch.Tensor]]:
        """Yields the distributions after further tokens; see `sessions.Session`."""
        rows = []
        for place, tokens in wanted:
            before = self._rows[place]
            rows.append(Row(token_ids=before.token_ids + tokens, pictures=before.pictures))
            self._computed[place] += len(rows[-1].token_ids)
        for index, logprobs in self._path.continuation_logprobs(rows, [len(tokens) for _, tokens in wanted]):
            yield index, logprobs[1:]

    def generate(self, max_tokens: int) -> list[Generated]:
        """Returns the greedy reply to each row, at most `max_tokens` tokens."""
        replies = self._path.generate(self._rows, max_tokens=max_tokens)
        self._count(
            [len(r.token_ids) + len(reply.tokens) + reply.ended for r, reply in zip(self._rows, replies, strict=True)]
        )
        return replies

    def _count(self, tokens: Sequence[int]) -> None:
        self._computed = [before + more for before, more in zip(self._computed, tokens, strict=True)]


def _places(parts: Sequence[Sequence[int]]) -> torch.Tensor:
    """Where each row stands once its parts are put behind one another."""
    return torch.tensor([index for part in parts for index in part]).argsort()


def _joined(reply: Generated, more: Generated) -> Generated:
    return Generated(
        tokens=reply.tokens + more.tokens,
        ended=more.ended,
        first=reply.first,
        end_probabilities=reply.end_probabilities + more.end_probabilities,
        finite=reply.finite and more.finite,
    )


class _Watcher(LogitsProcessor):
    """Sees the logits of every step and changes none."""

    def __init__(self, ends: tuple[int, ...]) -> None:
        self._ends = list(ends)
        self.first: torch.Tensor | None = None
        self.ends: list[torch.Tensor] = []
        self.finite: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Notes what this step's distribution says and hands the scores on as they are."""
        logprobs = scores.float().log_softmax(-1)
        if self.first is None:
            self.first = logprobs.cpu()
        self.ends.append(logprobs[:, self._ends].exp().sum(-1).cpu())
        self.finite.append(logprobs.isnan().any(-1).logical_not().cpu())
        return scores
