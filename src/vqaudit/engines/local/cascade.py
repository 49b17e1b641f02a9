"""Attention behind a shared beginning whose keys and values are held once, not once per row.

Knows tensors and transformers' attention interface. Knows no token. Softmax over two blocks of keys, those of the
beginning and those of the row, is computed as one: no approximation (the "cascade" of inference servers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from transformers.modeling_utils import AttentionInterface

__all__ = ["KeyValues", "attending"]

_NAME = "vqaudit_cascade"
_MOST_SCORES = {"cpu": 2**21, "device": 2**25}
"""Scores against the beginning that are held at once: 8 MB in float32, which a processor's cache holds, or 128 MB."""


class KeyValues(NamedTuple):
    """Keys and values of one layer: 1 x heads x tokens x width."""

    keys: torch.Tensor
    values: torch.Tensor


_SHARED: ContextVar[Sequence[KeyValues]] = ContextVar("shared")


@contextmanager
def attending(config: Any, layers: Sequence[KeyValues]) -> Iterator[None]:
    """While it is open, the model with this text configuration attends to these layers and its own cache.

    Masks then cover the cache alone, or the beginning and the cache, where a layer does not see all of it.
    """
    AttentionInterface.register(_NAME, _cascade)
    before = config._attn_implementation
    token = _SHARED.set(layers)
    config._attn_implementation = _NAME
    try:
        yield
    finally:
        config._attn_implementation = before
        _SHARED.reset(token)


def _cascade(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    scaling: float | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """The signature is transformers'."""
    asked = sorted(name for name in ("softcap", "s_aux", "position_bias") if others.get(name) is not None)
    if asked:
        raise ValueError(f"attention with {', '.join(asked)} cannot be split")
    layer = _SHARED.get()[int(module.layer_idx)]  # pyright: ignore[reportArgumentType]
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    rows, heads, width = query.shape[0], query.shape[1], query.shape[2] * layer.keys.shape[2]
    step = max(1, _MOST_SCORES["cpu" if query.device.type == "cpu" else "device"] // (heads * width))
    parts = [
        _attend(query[i : i + step] * scale, KeyValues(key[i : i + step], value[i : i + step]), layer, mask)
        for i, mask in zip(range(0, rows, step), attention_mask.split(step), strict=True)
    ]
    return torch.cat(parts).transpose(1, 2).contiguous(), None


def _attend(query: torch.Tensor, near: KeyValues, far: KeyValues, mask: torch.Tensor) -> torch.Tensor:
    """Returns rows x heads x queries x width."""
    rows, heads, length, width = query.shape
    key_heads, size = near.keys.shape[1], near.keys.shape[2]
    group = heads // key_heads
    q = query.reshape(rows, key_heads, group * length, width).float()
    close = q @ near.keys.float().transpose(-1, -2)
    own = mask[..., -size:]
    close.view(rows, key_heads, group, length, size).masked_fill_(~own[:, :, None], -torch.inf)
    flat = q.transpose(0, 1).reshape(key_heads, rows * group * length, width)
    distant = flat @ far.keys[0].float().transpose(-1, -2)
    if mask.shape[-1] > size:
        seen = mask[..., :-size].expand(rows, key_heads, length, -1).transpose(0, 1)
        distant.view(key_heads, rows, group, length, -1).masked_fill_(
            ~seen[:, :, None].reshape(key_heads, rows, 1, length, -1), -torch.inf
        )
    highest = torch.maximum(_rowwise(distant.amax(-1), rows), close.amax(-1))
    distant.sub_(_headwise(highest).unsqueeze(-1)).exp_()
    close.sub_(highest.unsqueeze(-1)).exp_()
    total = _rowwise(distant.sum(-1), rows) + close.sum(-1)
    mixed = _rowwise(distant @ far.values[0].float(), rows) + close @ near.values.float()
    return (mixed / total.unsqueeze(-1)).to(query.dtype).reshape(rows, heads, length, width)


def _rowwise(by_head: torch.Tensor, rows: int) -> torch.Tensor:
    """Key heads x (rows x queries) x ... -> rows x key heads x queries x ..."""
    return by_head.reshape(by_head.shape[0], rows, -1, *by_head.shape[2:]).transpose(0, 1)


def _headwise(by_row: torch.Tensor) -> torch.Tensor:
    """Rows x key heads x queries -> key heads x (rows x queries)."""
    return by_row.transpose(0, 1).reshape(by_row.shape[1], -1)
