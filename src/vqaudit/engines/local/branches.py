"""Rows behind a shared beginning: what is computed of them, and under which masks and positions.

Knows a model of transformers, its cache, and tokens. Knows no request. The model only ever does plain forward passes;
which token may see which, and where it stands, is decided here and told to it.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from vqaudit.engines.local.cascade import KeyValues, attending

__all__ = ["Branch", "Network", "Prefix", "Strategy"]

Strategy = Literal["cascade", "expanded"]
"""How rows see a shared beginning: `cascade` holds its keys and values once; `expanded` copies them for every row,
which any attention can do."""
_KNOWN_LAYERS = {"full_attention", "sliding_attention"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Prefix:
    """A beginning that has been computed."""

    layers: tuple[KeyValues, ...] = field(repr=False)
    length: int
    """Tokens."""
    offset: int
    """What a position number behind it is greater than the number of tokens before: not 0 where a picture's tokens
    share positions (M-RoPE)."""

    @property
    def bytes(self) -> int:
        """Memory that keys and values take."""
        return sum(t.numel() * t.element_size() for layer in self.layers for t in layer)


class Network:
    """What must be known of a model to compute rows behind a beginning.

    Args:
        model: A causal language model or vision-language model of transformers, in evaluation mode.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.config = model.config.get_text_config()
        accepted = inspect.signature(model.forward).parameters
        self.cache_key = "cache" if "cache" in accepted else "past_key_values"
        self.takes_window = "logits_to_keep" in accepted
        self.takes_positions = "position_ids" in accepted
        kinds = getattr(self.config, "layer_types", None)
        window = getattr(self.config, "sliding_window", None)
        self.hybrid = kinds is not None and "sliding_attention" in kinds
        self.window: int | None = window if self.hybrid or kinds is None else None
        self.attention: str = self.config._attn_implementation
        self.unknown_layers = sorted(set(kinds or ()) - _KNOWN_LAYERS)
        rope = getattr(self.config, "rope_parameters", None) or getattr(self.config, "rope_scaling", None) or {}
        kind = rope.get("rope_type") if isinstance(rope, dict) else None
        self._rope_limit: int | None = _rope_limit(self.config, rope) if kind in ("longrope", "dynamic") else None
        self._rope_settles = kind == "longrope"

    def same_regime(self, shared: int, total: int) -> bool:
        """Whether a beginning of so many tokens is computed alike alone and in a row of `total` tokens.

        Some rotary embeddings change for the whole row once it passes a length (LongRoPE, dynamic NTK).
        """
        if self._rope_limit is None or total <= self._rope_limit:
            return True
        return self._rope_settles and shared > self._rope_limit

    @property
    def changes(self) -> bool:
        """Whether what a beginning is depends on the length of its row."""
        return self._rope_limit is not None

    def regime(self, length: int, total: int) -> int:
        """Returns a number that rows must have in common to be computed in one batch.

        What a rotary embedding is depends on the longest row of a batch, where it depends on length at all.

        Args:
            length: The row's tokens.
            total: The same with the tokens that are to come.
        """
        if self._rope_limit is None or total <= self._rope_limit:
            return 0
        return -1 if self._rope_settles and length > self._rope_limit else length

    def room(self, length: int) -> int | None:
        """Returns how many tokens can be computed behind so many before all would have to be computed anew.

        None where that never comes, or where nobody computes them anew (dynamic NTK).
        """
        if self._rope_limit is None or not self._rope_settles or length > self._rope_limit:
            return None
        return self._rope_limit - length + 1

    @property
    def bytes_per_token(self) -> int:
        """Memory that one token's keys and values take, from the configuration."""
        config = self.config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        return 2 * config.num_hidden_layers * heads * width * self.model.dtype.itemsize

    def mask(self, near: torch.Tensor, places: torch.Tensor, before: int, strategy: Strategy) -> Any:
        """Returns the masks as the model takes them.

        Args:
            near: Which of a row's own tokens each query may see by order alone: rows x queries x keys.
            places: Where each key stands in its row, from the end of the beginning; the last are the queries.
            before: Tokens of the beginning.
            strategy: Whether the beginning is in the cache.
        """
        whole = near if strategy == "cascade" else _behind(torch.ones_like(near[..., :1]).expand(-1, -1, before), near)
        if self.window is None:
            return self._form(whole)
        sliding = self._sliding(near, places, before, strategy)
        return {"full_attention": self._form(whole), "sliding_attention": sliding} if self.hybrid else sliding

    def _sliding(self, near: torch.Tensor, places: torch.Tensor, before: int, strategy: Strategy) -> torch.Tensor:
        assert self.window is not None
        earliest = places[:, -near.shape[1] :, None] - self.window
        close = near & (places[:, None, :] > earliest)
        if strategy == "cascade" and int(earliest.max()) < -before:
            return self._form(close)
        far = torch.arange(-before, 0, device=near.device) > earliest
        return self._form(_behind(far, close))

    def _form(self, mask: torch.Tensor) -> torch.Tensor:
        mask = mask[:, None]
        if self.attention != "eager":
            return mask
        # eager attention adds its mask: a mask of yes and no would shift scores by one
        dtype = self.model.dtype
        return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, torch.finfo(dtype).min)


def _rope_limit(config: Any, rope: dict[str, Any]) -> int:
    """Returns up to how many tokens a rotary embedding is what it is for one token."""
    limit = rope.get("original_max_position_embeddings")
    return limit or getattr(config, "original_max_position_embeddings", None) or config.max_position_embeddings


def _behind(far: torch.Tensor, near: torch.Tensor) -> torch.Tensor:
    return torch.cat([far, near], dim=-1)


class _LayerBehind(DynamicLayer):
    """The cache of rows whose beginning is held elsewhere."""

    def __init__(self, before: int) -> None:
        super().__init__()
        self.before = before

    def get_seq_length(self) -> int:
        """Counts the beginning too, from which models see that they are not at the start."""
        return self.before + super().get_seq_length()


class Branch:
    """Rows behind a beginning, and what has been computed for them so far.

    Args:
        network: The model.
        prefix: The beginning.
        rows: How many rows go on from it.
        strategy: How they see it.
    """

    def __init__(self, network: Network, prefix: Prefix, rows: int, strategy: Strategy) -> None:
        self.network, self.prefix = network, prefix
        self.strategy: Strategy = strategy
        device = network.model.device
        self._seen = torch.zeros(rows, 0, dtype=torch.bool, device=device)
        self._places = torch.zeros(rows, 0, dtype=torch.long, device=device)
        self._lengths = torch.zeros(rows, dtype=torch.long, device=device)
        self._cache = _cache([self._layer(layer, rows) for layer in prefix.layers])

    def _layer(self, layer: KeyValues, rows: int) -> DynamicLayer:
        if self.strategy == "expanded":
            return _filled(DynamicLayer(), *(tensor.expand(rows, -1, -1, -1) for tensor in layer))
        nothing = layer.keys.new_zeros((rows, layer.keys.shape[1], 0, layer.keys.shape[3]))
        values = layer.values.new_zeros((rows, layer.values.shape[1], 0, layer.values.shape[3]))
        return _filled(_LayerBehind(self.prefix.length), nothing, values)

    def __len__(self) -> int:
        return len(self._lengths)

    @torch.inference_mode()
    def step(self, tokens: Sequence[Sequence[int]], *, keep: int = 1) -> torch.Tensor:
        """Computes further tokens of each row and returns the logits at the last `keep`: rows x keep x vocabulary.

        Rows may have different numbers of tokens; they are aligned at their ends.
        """
        width = max(map(len, tokens))
        ids = torch.zeros(len(tokens), width, dtype=torch.long)
        for row, each in zip(ids, tokens, strict=True):
            row[width - len(each) :] = torch.tensor(each)
        sizes = torch.tensor([len(each) for each in tokens])
        place = torch.arange(width) - (width - sizes)[:, None]
        return self._forward(ids, place, sizes, keep)

    def _forward(self, ids: torch.Tensor, place: torch.Tensor, sizes: torch.Tensor, keep: int) -> torch.Tensor:
        device, width = self._lengths.device, ids.shape[1]
        ids, place, sizes = (tensor.to(device) for tensor in (ids, place, sizes))
        self._seen = torch.cat([self._seen, place >= 0], dim=1)
        places = self._lengths[:, None] + place.clamp(min=0)
        self._places = torch.cat([self._places, places], dim=1)
        self._lengths = self._lengths + sizes
        total = self._seen.shape[1]
        keys, queries = torch.arange(total, device=device), torch.arange(total - width, total, device=device)
        near = (keys <= queries[:, None]) & self._seen[:, None, :]
        near = near | (keys == queries[:, None])  # filling sees itself, since a row that sees nothing is not a number
        mask = self.network.mask(near, self._places, self.prefix.length, self.strategy)
        positions = self.prefix.length + self.prefix.offset + places
        window = {"logits_to_keep": keep} if self.network.takes_window else {}
        with self._context():
            out = self.network.model(
                input_ids=ids,
                position_ids=positions,
                attention_mask=mask,
                use_cache=True,
                **{self.network.cache_key: self._cache},
                **window,
            )
        return out.logits[:, -keep:]

    def _context(self) -> AbstractContextManager[None]:
        if self.strategy == "cascade":
            return attending(self.network.config, self.prefix.layers)
        return nullcontext()

    def select(self, rows: Sequence[int]) -> Branch:
        """Returns a copy with some of the rows, each as often as it is named."""
        index = torch.tensor(list(rows), device=self._lengths.device)
        copy = object.__new__(Branch)
        copy.network, copy.prefix, copy.strategy = self.network, self.prefix, self.strategy
        copy._seen, copy._places, copy._lengths = self._seen[index], self._places[index], self._lengths[index]
        empty = DynamicLayer if self.strategy == "expanded" else lambda: _LayerBehind(self.prefix.length)
        copy._cache = _cache([_filled(empty(), *(t[index] for t in self._own(layer))) for layer in self._cache.layers])
        return copy

    def as_prefix(self) -> Prefix:
        """Returns the beginning with what the only row has added to it."""
        assert len(self) == 1
        added = [self._own(layer) for layer in self._cache.layers]
        if self.strategy == "cascade":
            pairs = zip(self.prefix.layers, added, strict=True)
            added = [tuple(torch.cat(both, dim=-2) for both in zip(*pair, strict=True)) for pair in pairs]
        length = self.prefix.length + int(self._lengths[0])
        return Prefix(layers=tuple(KeyValues(*each) for each in added), length=length, offset=self.prefix.offset)

    @staticmethod
    def _own(layer: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return layer.keys, layer.values


def _cache(layers: list[DynamicLayer]) -> Any:
    # Without a configuration: sliding layers would otherwise drop what is behind their window, and masks count on it.
    cache: Any = DynamicCache()
    cache.layers = list(layers)
    return cache


def _filled(layer: DynamicLayer, keys: torch.Tensor, values: torch.Tensor) -> DynamicLayer:
    layer.lazy_initialization(keys, values)
    layer.keys, layer.values = keys, values
    return layer
