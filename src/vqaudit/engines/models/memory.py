"""How much memory weights and keys and values take, from the numbers of a configuration.

Knows arithmetic. Activations, the picture's encoder at work and the allocator's reserve come on top.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BYTES", "Memory", "Shape", "memory_needed"]

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Bytes of one number."""
_GIB = 2**30


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The numbers of a configuration on which memory depends."""

    parameters: int
    """All weights: language model, picture encoder, adapters that lie in the checkpoint."""
    layers: int
    """Layers of the language model that keep keys and values."""
    kv_heads: int
    head_size: int

    def kv_bytes_per_token(self, dtype: str = "bfloat16") -> int:
        """Returns the bytes of one token's keys and values: `2 * layers * kv_heads * head_size * bytes`.

        Example:
            >>> Shape(parameters=7_063_427_072, layers=32, kv_heads=32, head_size=128).kv_bytes_per_token()
            524288
        """
        return 2 * self.layers * self.kv_heads * self.head_size * BYTES[dtype]


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """Memory in GiB."""

    weights: float
    shared: float
    """Keys and values where a common beginning is kept once (`prefix_sharing=cascade`)."""
    expanded: float
    """Keys and values where every row of a batch has a copy of the beginning."""


def memory_needed(shape: Shape, *, prefix: int, rows: int = 48, own: int = 60, dtype: str = "bfloat16") -> Memory:
    """Returns the memory of weights and of one batch's keys and values.

    `expanded` = rows * (prefix + own) tokens; `shared` = prefix + rows * own tokens. Sliding-window layers count in
    full, since shared prefixes keep every token of them.

    Args:
        shape: The model's numbers.
        prefix: Tokens that the rows share: picture and question.
        rows: Prompts in the batch; 48 is a whole grid of formats.
        own: Tokens that each row has for itself: options, ending, reply.
        dtype: `float32`, `bfloat16` or `float16`.

    Example:
        >>> llava = Shape(parameters=7_063_427_072, layers=32, kv_heads=32, head_size=128)
        >>> found = memory_needed(llava, prefix=650, rows=192)
        >>> round(found.weights, 1), round(found.shared, 1), round(found.expanded, 1)
        (13.2, 5.9, 66.6)
    """
    token = shape.kv_bytes_per_token(dtype)
    return Memory(
        weights=shape.parameters * BYTES[dtype] / _GIB,
        shared=(prefix + rows * own) * token / _GIB,
        expanded=rows * (prefix + own) * token / _GIB,
    )
